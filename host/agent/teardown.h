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

/* Back to a clean machine, see ResetReq. What could not be undone becomes a
 * sentence in state->left. */
void teardown_all(struct agent *a, struct arena *arena, Bay__ResetState *state);

#endif
