/* dut/tests/guest.h - a guest for system tests: two disks in memory behind
 * nbdkit, QMP to plug them, and the guest's root shell. */
#ifndef BOARDS_VIRTUAL_DUT_TESTS_GUEST_H
#define BOARDS_VIRTUAL_DUT_TESTS_GUEST_H

#include "boards/virtual/dut/dut.h"
#include "host/util/buf.h"
#include "host/util/fs.h"
#include "host/util/run.h"

#define GUEST_DISKS      2
#define GUEST_DISK_BYTES (INT64_C(1) << 30)

struct guest {
	char dir[64]; /* sockets, console, state disk */
	const char *image_dir;
	const char *kernel;
	struct run_child disk[GUEST_DISKS];
	struct run_child rig; /* its UART is a ttyUSB0 in the guest */
	struct run_child qemu;
	int qmp; /* -1: not connected */
	int shell;
	struct buf from_qmp; /* received, not yet used */
	struct buf from_shell;
	struct buf out; /* of the last command */
};

/* Of a test program: IMAGE_DIR KERNEL FIRMWARE. */
struct guest_args {
	const char *image_dir;
	const char *kernel;
	const char *firmware; /* program */
};

/* 0: go on; else the exit code to leave with, and why is printed: 2 for a
 * usage error, 77 (skipped) without an image. */
int guest_args_read(struct guest_args *args, int argc, char **argv);

/* A run directory, the servers of the disks T0000001 and T0000002, and the
 * rig's firmware as a process. The strings of args are kept. */
int guest_open(struct guest *g, const struct guest_args *args, struct err *err);

/* Boot to a shell that answers. */
int guest_boot(struct guest *g, struct err *err);

/* kill -9, as a machine that loses its power. */
void guest_kill(struct guest *g);

/* Run a shell command; its output (both streams) is in g->out until the next.
 * Exit status of the command, or -errno. */
int guest_run(struct guest *g, const char *command, struct err *err);

/* One QMP command with its arguments as JSON. 0; -EREMOTEIO: refused, the
 * answer is in err. */
int guest_qmp(struct guest *g, const char *command, const char *arguments,
	      struct err *err);

/* Plug in disk i, again while QEMU still lets go of it; pull it out. */
int guest_plug(struct guest *g, unsigned i, struct err *err);
int guest_pull(struct guest *g, unsigned i, struct err *err);

void guest_close(struct guest *g);

#endif
