/* host/bench/vbench_dir.h - the runtime directory of a virtual bench: one
 * supervisor at a time, and empty afterwards. */
#ifndef HOST_BENCH_VBENCH_DIR_H
#define HOST_BENCH_VBENCH_DIR_H

#include <stdbool.h>

#include "host/util/err.h"

struct vbench_dir {
	char path[512];
	int lock_fd; /* -1: not ours */
};

/* Create it (mode 0700), lock it, and remove what a killed supervisor left.
 * -EBUSY: locked by another; -EPERM: it belongs to someone else. */
int vbench_dir_open(struct vbench_dir *d, const char *path, struct err *err);

/* Remove the bench's files and, if nothing else is in it, the directory, and
 * its parent if that is empty too; then unlock.
 *   keep_logs  *.log stay */
void vbench_dir_close(struct vbench_dir *d, bool keep_logs);

#endif
