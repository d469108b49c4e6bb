/* boards/virtual/disk/shell.h - one disk in real time, shared by threads.
 *
 * A lock around the model, a thread that wakes it when something is due, and
 * requests that block their caller. Media time is the model's: a thread that
 * runs late changes no rate. */
#ifndef BOARDS_VIRTUAL_DISK_SHELL_H
#define BOARDS_VIRTUAL_DISK_SHELL_H

#include "boards/virtual/disk/vdisk.h"

struct shell;

struct shell_cfg {
	struct vdisk
		*disk; /* the shell's alone from here on, not freed by it */
	/* Real milliseconds a virtual second: 1000 is real time. 0: nothing
	 * ever sleeps; time goes on only as far as requests and changes of
	 * power need it, so a write cache stays full while nobody asks. */
	uint32_t ms_per_s;
	/* The host of the calling thread is gone or we shall end; asked now and
	 * then by a request that waits. NULL: never. */
	bool (*host_gone)(void);
};

/* NULL and errno. Starts no thread. */
struct shell *shell_new(const struct shell_cfg *cfg);

/* Start and end the clock's thread; call both once, no request pending at the
 * end. 0 or -errno. */
int shell_start(struct shell *s);
void shell_stop(struct shell *s);

/* NULL is accepted. */
void shell_free(struct shell *s);

/* The disk, locked, at the present time; give it back soon. */
struct vdisk *shell_enter(struct shell *s);
void shell_leave(struct shell *s);

/* Submit and wait. op->result, or -ESHUTDOWN when host_gone() said so. */
int shell_request(struct shell *s, struct vdisk_op *op);

#endif
