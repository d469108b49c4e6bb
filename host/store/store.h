/* host/store/store.h - the journal: what was planned, tried and measured. One
 * SQLite file in WAL mode; every function that changes it is one transaction,
 * durable when it returns. A process killed at any point leaves a journal
 * that says what is to be done again.
 *
 * Errors: 0 or -errno with one sentence in err:
 *   -ENOSPC  the disk with the results is full; nothing was stored
 *   -EIO     the disk failed
 *   -EBUSY   another process keeps the journal locked
 *   -EBADMSG not a journal of bay, or damaged
 *   -ENOTSUP a journal of another version of bay
 *   -EISDIR  its path is a folder
 *   -ENOMEM, -EINVAL, or what opening its file gave: -EROFS, -EACCES, -ENOENT
 */
#ifndef HOST_STORE_STORE_H
#define HOST_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/err.h"
#include "proto/result.pb-c.h"

#define STORE_SCHEMA 1

/* Attempts after which a cell is quarantined. */
#define STORE_ATTEMPTS_MAX 2

struct store;

enum store_mode {
	STORE_READ,  /* must exist */
	STORE_WRITE, /* created when missing */
};

/* vfs  name of an SQLite VFS, NULL = default; for tests that let it fail */
int store_open(const char *path, enum store_mode mode, const char *vfs,
	       struct store **out, struct err *err);
void store_close(struct store *s);

/* ---- plan --------------------------------------------------------------- */

struct store_counts {
	unsigned planned, running, done, failed, hung, quarantined;
};

/* States of the cells that an experiment has in the journal (all zero: not
 * there). left_out counts cells of earlier plans that this plan lacks and is
 * no part of the others. */
int store_count(struct store *s, const char *experiment,
		struct store_counts *out, struct err *err);

/* Enter the plan: experiment and cells that are not there yet; those that are
 * keep their state, and get the new place in the order; a failed one, whose
 * disks went away under it, is planned again. Cells that an earlier
 * plan had and this one lacks stay, but are no longer part of the plan.
 *   matrix  text of matrix.yaml, kept with the experiment */
int store_plan(struct store *s, const char *experiment, const char *bench,
	       const char *matrix, Bay__Cell *const *cells, size_t n,
	       struct err *err);

/* What is known of one cell. */
struct store_cell {
	Bay__CellState state;
	unsigned attempts;
	bool has_result;
};

/* -ENOENT: not in the journal. */
int store_cell(struct store *s, const char *key, struct store_cell *out,
	       struct err *err);

/* ---- run ---------------------------------------------------------------- */

/* The next attempt at a cell begins.
 *   boot     boot id of the controller's machine, see store_recover()
 *   attempt  out: its number, from 1 */
int store_begin(struct store *s, const char *key, const char *boot,
		unsigned *attempt, struct err *err);

/* How an attempt ended that has no result. */
struct store_failure {
	/* FAILED or HUNG; PLANNED: it was broken off and does not count */
	Bay__CellState state;
	/* A disk was not there. That is not the cell's fault and does not
	 * mend by trying: it does not count, and the cell stays in state. */
	bool disk_away;
	const char *why;
	Bay__PhaseTime *const *phase; /* may be NULL */
	size_t n_phase;
};

/* An attempt ended without a result to keep. The cell becomes PLANNED again,
 * or, having failed for the STORE_ATTEMPTS_MAX-th time, QUARANTINED.
 *   end  out: the state that the cell has now; may be NULL */
int store_fail(struct store *s, const char *key, unsigned attempt,
	       const struct store_failure *f, Bay__CellState *end,
	       struct err *err);

/* Add one more phase to an attempt, after its result was kept. */
int store_phase(struct store *s, const char *key, unsigned attempt,
		const char *phase, double seconds, struct err *err);

/* Keep a result: blob, metrics, phases, environment, and the cell's state, all
 * or nothing. A second result of one attempt, or of a cell that is done, is
 * dropped and reported as *kept = false. One that is not done leaves its cell
 * as store_fail() does, but with lost_serial in the result's own state (FAILED
 * or PLANNED), and uncounted.
 * -ENOENT: the journal does not know the cell. */
int store_result(struct store *s, const Bay__CellResult *r, bool *kept,
		 struct err *err);

/* Attempts that were running when an earlier bay died: their cells become
 * PLANNED again. When its machine has been booted since, the cell is taken to
 * have killed it: the attempt counts, and the second one quarantines.
 *   boot  boot id of this machine now
 *   n     out: how many */
int store_recover(struct store *s, const char *boot, unsigned *n,
		  struct err *err);

/* Quarantined cells of the experiment's plan become PLANNED again; attempts at
 * them so far do not count any more, but stay in the journal.
 *   n  out: how many */
int store_retry(struct store *s, const char *experiment, unsigned *n,
		struct err *err);

/* ---- reading ------------------------------------------------------------ */

/* One metric of one result; strings are valid during the call only. */
struct store_metric {
	const char *experiment;
	const char *case_name; /* without the kernel */
	const char *kernel;    /* name in the plan */
	const char *release;
	unsigned repeat;
	const char *name;
	const char *unit;
	double value;
	int64_t environment; /* id */
	bool tainted;        /* the rig was not there all the time */
};

/* Rows of results of cells that are done, in the order of case, kernel,
 * repeat, metric. fn returns 0 to go on. */
int store_metrics(struct store *s,
		  int (*fn)(void *arg, const struct store_metric *m), void *arg,
		  struct err *err);

/* One cell with its newest result, if it has one. */
struct store_row {
	const char *experiment;
	const char *key;
	const char *case_name;
	const char *kernel;
	const char *release; /* "" without a result */
	unsigned repeat;
	unsigned attempts;
	Bay__CellState state;
	const char *error_text;
	bool in_plan;
	int64_t result;  /* id, 0 = none */
	double write_bw; /* NAN = none */
	bool tainted;    /* the result, as in store_metric */
};

int store_rows(struct store *s, int (*fn)(void *arg, const struct store_row *r),
	       void *arg, struct err *err);

/* The newest result of a cell, by its key or an unambiguous start of it.
 * *out is freed with bay__cell_result__free_unpacked(r, NULL).
 * -ENOENT: no such cell, or no result; -ENOTUNIQ. */
int store_get(struct store *s, const char *key, Bay__CellResult **out,
	      struct err *err);

/* Name and value of one environment's settings, by id. */
int store_environment(struct store *s, int64_t id,
		      int (*fn)(void *arg, const char *name, const char *value),
		      void *arg, struct err *err);

/* Mean seconds of whole attempts that gave a result, 0 = none yet. */
int store_mean_seconds(struct store *s, double *seconds, struct err *err);

/* Mean seconds by phase over all results: for the summary. */
int store_phases(struct store *s, const char *experiment,
		 int (*fn)(void *arg, const char *phase, double mean_s,
			   unsigned n),
		 void *arg, struct err *err);

#endif
