/* host/workload/jobs.h - the usual way to run a workload: several programs
 * started together behind a barrier, ended together, then a sync. */
#ifndef HOST_WORKLOAD_JOBS_H
#define HOST_WORKLOAD_JOBS_H

#include "host/workload/workload.h"

/* Plan one more child; name and argv live in w->arena. -E2BIG with err: there
 * are WORKLOAD_CHILDREN_MAX. */
int jobs_add(struct workload *w, const char *name,
	     const struct workload_target *target, const char *const *argv,
	     struct err *err);

/* Start all planned children behind a barrier, open it, wait for their ends;
 * fills in the children and the times of w. With stop_after_ms > 0 they get
 * stop_signal then, and ending by it is a success. The first failure of a child
 * ends the others and is returned as -EIO with its words. -ECANCELED: nothing
 * is left running. -ETIMEDOUT: the guard; a child in D state may be left.
 * -EMFILE: the process may not have so many open files; nothing ran. Raises its
 * soft limit of open files where the hard one allows. */
int jobs_run(struct workload *w, uint64_t stop_after_ms, int stop_signal,
	     struct err *err);

/* Write back what the targets hold, in parallel; sets w->sync_ns. */
int jobs_sync(struct workload *w, struct err *err);

#endif
