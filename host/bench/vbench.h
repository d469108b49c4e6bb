/* host/bench/vbench.h - the virtual bench as one thing: brings its parts up,
 * watches them, takes them down. Needs no root and leaves nothing behind.
 *
 * Parts (roles): one nbdkit a disk, the backplane, the firmware's emulator,
 * the guest. All are children of the supervisor and die with it, even by
 * SIGKILL. The runtime directory holds their sockets and nothing that must
 * outlive the bench. */
#ifndef HOST_BENCH_VBENCH_H
#define HOST_BENCH_VBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boards/virtual/vboard.h"
#include "host/bench/bench.h"
#include "host/util/err.h"

#define VBENCH_DISKS_MAX   VBOARD_SLOTS
#define VBENCH_NAME_MAX    64
#define VBENCH_PATH_MAX    512
#define VBENCH_KERNELS_MAX 16

struct vbench_disk {
	char serial[VBENCH_NAME_MAX];
	unsigned int slot;
};

struct vbench_cfg {
	char name[VBENCH_NAME_MAX];
	char run[VBENCH_PATH_MAX];
	char board[VBENCH_NAME_MAX];
	struct vboard wiring;
	char kernel[VBENCH_NAME_MAX];                      /* booted first */
	char kernels[VBENCH_KERNELS_MAX][VBENCH_NAME_MAX]; /* that exist */
	struct vbench_disk disk[VBENCH_DISKS_MAX];
	unsigned int disks;
	uint32_t memory_mb;
	uint32_t cpus;
	uint32_t disk_mb;
	uint32_t rate_mb_s;
	uint32_t boot_wait_s; /* start of the guest to agent ready */
	bool no_guest;        /* rig and disks only */
	bool usb_rig;         /* the rig's UART as a ttyUSB0 in the guest */
	bool keep_logs;       /* also when all went well */
	/* Products of the build. */
	char backplane[VBENCH_PATH_MAX];
	char firmware[VBENCH_PATH_MAX];
	char disk_plugin[VBENCH_PATH_MAX];
	char image_dir[VBENCH_PATH_MAX];
};

/* 0, or -EINVAL: its rig and its agent are real. */
int vbench_is_described(const struct bench *b, struct err *err);

/* Settings of a bench description, and where the products are: beside this
 * program as the build leaves them, or where $BAY_BACKPLANE, $BAY_FIRMWARE,
 * $BAY_DISK_PLUGIN and $BAY_IMAGES say.
 *   cfg     zeroed but for no_guest, usb_rig and keep_logs
 *   kernel  NULL: the first of the description
 * -EINVAL: not a virtual bench or one that cannot be; -ENOENT: no such kernel
 * or a product is missing; -ENAMETOOLONG: runtime directory. */
int vbench_cfg_fill(struct vbench_cfg *cfg, const struct bench *b,
		    const char *kernel, struct err *err);

/* Is this the name of a guest image of the bench? */
bool vbench_has_kernel(const struct vbench_cfg *cfg, const char *kernel);

/* One line of progress while a bench comes up. */
typedef void (*vbench_progress_fn)(void *arg, const char *text);

struct vbench_watch {
	vbench_progress_fn progress;
	void (*ready)(void *arg); /* everything answers */
	void *arg;
};

/* Supervise until told to stop (SIGINT, SIGTERM, SIGHUP, "down" on bench.ctl).
 * 0: it came up and was taken down. -EBUSY: another supervisor holds the
 * runtime directory. -ECANCELED: stopped before it was up. Else why it could
 * not come up. In each case nothing is left behind; logs of a failed start
 * are summed up in err. */
int vbench_run(const struct vbench_cfg *cfg, const struct vbench_watch *watch,
	       struct err *err);

/* One command to a supervisor, given and answered as a line of JSON.
 *   answer  caller frees
 * -ENOENT: the bench is not up; -ETIMEDOUT; -EIO. */
int vbench_ask(const char *run, const char *command, uint32_t deadline_ms,
	       char **answer, struct err *err);

/* Wait until the supervisor of a runtime directory has left it, then remove
 * what a killed one left, and the directory if nothing else is in it. 1: there
 * was something to remove; 0: there was not; -ETIMEDOUT: it is still there. */
int vbench_dir_clear(const char *run, uint32_t deadline_ms);

#endif
