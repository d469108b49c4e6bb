/* host/workload/workload.h - what runs on the file systems of a cell. A kind is
 * one file with one struct workload_kind, listed in table.c. */
#ifndef HOST_WORKLOAD_WORKLOAD_H
#define HOST_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/sample/metrics.h"
#include "host/util/arena.h"
#include "host/util/clock.h"
#include "host/util/err.h"

#define WORKLOAD_PARAMS_MAX   16u
#define WORKLOAD_CHILDREN_MAX 1024u

/* Where it works: a mounted file system, or a raw block device. */
struct workload_target {
	const char *path;
	bool is_device;
	uint64_t size_bytes; /* of the device; 0 for a file system */
};

struct workload_param {
	const char *name;
	const char *value; /* default; NULL: none */
};

/* One process of a workload, planned and then done. */
struct workload_child {
	const char *name;
	const struct workload_target *target;
	const char *const *argv;
	uint64_t start_ns; /* the barrier opened */
	uint64_t end_ns;
	uint64_t bytes; /* as the tool counted them; 0 = it does not say */
	int exit_code;  /* as in run.h */
	const char *error_text; /* first line of stderr when it failed */
	const char *output;     /* all of its stderr */
};

struct workload;

struct workload_kind {
	const char *name;                    /* as in matrix.yaml */
	const struct workload_param *params; /* ended by a NULL name */
	/* Check and convert the values; -EINVAL and a sentence, by
	 * workload_refuse(). Called before anything is started. */
	int (*check)(struct workload *w, struct err *err);
	/* Do it: fill in the out part of w. See jobs.h for the usual way. */
	int (*run)(struct workload *w, struct err *err);
	/* Seconds the measured part will take, 0 = not known. After check. */
	double (*seconds)(const struct workload *w);
	size_t state_bytes; /* of w->state, zeroed */
};

struct workload {
	const struct workload_kind *kind;
	const char *value[WORKLOAD_PARAMS_MAX]; /* by row of kind->params */
	const struct workload_target *target;
	unsigned targets;
	struct arena *arena;
	void *state;           /* the kind's own */
	int cancel_fd;         /* readable: give up with -ECANCELED */
	struct deadline guard; /* past: give up with -ETIMEDOUT */
	/* done: 0..1; may be NULL */
	void (*progress)(void *arg, const char *phase, double done);
	void *progress_arg;
	const char *wrong; /* parameter at fault after a refusal; NULL: none
			    * in particular */

	/* out */
	struct workload_child *child; /* in arena; moves in jobs_add */
	unsigned children, children_cap;
	uint64_t start_ns;
	uint64_t first_done_ns;
	uint64_t end_ns;
	uint64_t sync_ns;        /* duration of the final sync */
	struct metrics *metrics; /* the kind adds its own numbers */
};

/* table.c; NULL-ended. */
extern const struct workload_kind *const workload_kinds[];

const struct workload_kind *workload_kind_find(const char *name);

/* Set one parameter. -EINVAL and a sentence: unknown, or given twice. Params
 * not set get their defaults from workload_check. */
int workload_set(struct workload *w, const char *name, const char *value,
		 struct err *err);
/* Defaults, then the kind's own check. */
int workload_check(struct workload *w, struct err *err);

/* The end of a check that fails: param is at fault, NULL for none in
 * particular. Returns -EINVAL. */
__attribute__((format(printf, 4, 5))) int workload_refuse(struct workload *w,
							  const char *param,
							  struct err *err,
							  const char *fmt, ...);

/* Value of a parameter by name; NULL: not given and no default. */
const char *workload_value(const struct workload *w, const char *name);

/* Sum of the children's bytes. */
uint64_t workload_bytes(const struct workload *w);

#endif
