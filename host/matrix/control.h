/* host/matrix/control.h - the controller: takes the cells of a plan through
 * rig and agent into the journal, one after the other.
 *
 * The way of a cell: power cycle with proof of off - disks seen by serial -
 * inventory - array - mkfs - mount - knobs - drop caches - workload with
 * telemetry - journal - acknowledge - teardown. Any step may die:
 *
 *   what dies                  what follows
 *   agent, its machine         reset (reboot if it stays away), take finished
 *                              results from the spool, cell once more
 *   rig, its link              wait for it; the cell once more, or exit 5
 *   a step, the workload       agent reset, cell once more
 *   the second time            cell quarantined, the matrix goes on
 *   a foreign signature        everything stops, exit 4
 *   the journal's disk         everything stops; the result stays in the spool
 *   bay                        the journal says what to do again */
#ifndef HOST_MATRIX_CONTROL_H
#define HOST_MATRIX_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/bench/bench.h"
#include "host/matrix/plan.h"
#include "host/store/store.h"
#include "host/util/err.h"

/* What a run tells while it goes on; any may be NULL. */
struct control_watch {
	/* i counts from 1 over the cells that were left to do. */
	void (*cell)(void *arg, const Bay__Cell *cell, unsigned attempt,
		     unsigned i, unsigned n);
	void (*phase)(void *arg, const char *phase);
	/* done 0..1; rate 0 = not known */
	void (*progress)(void *arg, double done, double rate_mb_s);
	/* state the cell has now; text "" or why */
	void (*ended)(void *arg, const Bay__Cell *cell, Bay__CellState state,
		      double seconds, double write_bw, const char *text);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/* Times of a run, ms; 0 = default. */
struct control_times {
	uint32_t rig_ms;              /* slots off or on, 120 s */
	uint32_t rig_back_ms;         /* a silent rig to be back, 10 s */
	uint32_t agent_ms;            /* a lost agent to be back, 60 s */
	uint32_t step_ms;             /* one step at the agent, 300 s */
	uint32_t ping_ms, silence_ms; /* see dut.h */
};

struct control_cfg {
	uv_loop_t *loop;
	const struct bench *bench;
	struct store *store;
	const struct plan *plan;
	const char *boot_id; /* of this machine, for the journal */
	struct control_watch watch;
	struct control_times times;
	/* Boot a virtual bench's guest; NULL = none. Runs on a thread of its
	 * own: touches only boot_arg. */
	int (*boot)(void *boot_arg, const char *kernel, uint32_t deadline_ms,
		    struct err *err);
	void *boot_arg;
	bool stop_at_failure; /* end at the first failed cell */
};

struct control_sum {
	unsigned done;    /* by this run */
	unsigned before;  /* done by earlier runs */
	unsigned spooled; /* results found in the agent's spool */
	unsigned failed;  /* quarantined or failed now */
	unsigned left;    /* not done */
	double seconds;
};

struct controller;

/* How a run ended. */
enum control_end {
	CONTROL_DONE,        /* every cell has a result */
	CONTROL_FAILED,      /* some cells failed */
	CONTROL_STOPPED,     /* control_stop() */
	CONTROL_REFUSED,     /* safety */
	CONTROL_UNREACHABLE, /* rig or agent */
	CONTROL_CONFIG,      /* kernel cannot be booted, ... */
	CONTROL_STORE,       /* the journal cannot be written */
};

/* Whether the bench can boot every kernel of the plan. control_run() begins
 * with it.
 *   wrong  out: after -ENOTSUP the first that it cannot, of the plan; may be
 *          NULL
 * 0; -ENOTSUP and a sentence; -ENOMEM. */
int control_check_kernels(const struct bench *b, const struct plan *p,
			  const char **wrong, struct err *err);

/* Run all cells of the plan that the journal does not have.
 *   sum  filled in each case
 *   err  why it did not end as CONTROL_DONE */
enum control_end control_run(const struct control_cfg *cfg,
			     struct control_sum *sum, struct err *err,
			     struct controller **self);

/* End the run: from a callback of the loop. The first call aborts the cell,
 * restores the machine and leaves the slots as the bench's policy says; the
 * second one skips that. */
void control_stop(struct controller *c);

#endif
