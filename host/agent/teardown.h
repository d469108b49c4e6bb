/* host/agent/teardown.h - undoing: mounts and arrays that bay made, also when
 * their disks are gone. */
#ifndef HOST_AGENT_TEARDOWN_H
#define HOST_AGENT_TEARDOWN_H

#include "host/agent/agent.h"

/* Unmount all below the mount points of array, or of every array when it is
 * NULL, newest first. done: how many. The first failure is returned after the
 * rest was tried; a busy one is detached lazily and counts as a failure. */
int teardown_unmount(struct agent *a, const char *array, unsigned *done,
		     struct err *err);

struct record;

/* Stop a recorded array; one that is stopped already is success. The record
 * stays. -EBUSY: mounted. */
int teardown_stop(struct call *call, struct record *r);

/* Stop it, wipe its members and, if they are no members, the disks asked for,
 * then forget it. The record stays when that fails, to be repeated: -EBUSY;
 * -ENODEV: a disk is away; -EPERM: see guard_open. */
int teardown_destroy(struct call *call, struct record *r, char *const *asked,
		     size_t n_asked);

/* Wipe bay's own signatures on all or none. -errno as above. */
int teardown_zero(struct call *call, char *const *serials, size_t count);

/* Back to a clean machine, see ResetReq. Of the arrays that it stopped the
 * records go, see record.h; their disks are not wiped. What could not be undone
 * becomes a sentence in state->left. */
void teardown_all(struct agent *a, struct arena *arena, Bay__ResetState *state);

#endif
