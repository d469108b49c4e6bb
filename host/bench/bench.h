/* host/bench/bench.h - the bench description, bench.yaml(5).
 *
 *   name: virtual
 *   rig: {type: socket, path: /run/rig.sock}
 *   agent: {type: ssh, host: root@dut}
 *   disks:
 *     - {serial: BAYV0001, slot: 0}
 *
 * Only the disks listed here are ever touched. */
#ifndef HOST_BENCH_BENCH_H
#define HOST_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/bench/conf.h"
#include "host/util/err.h"

enum bench_rig_type {
	BENCH_RIG_NONE,    /* no power control: no cycle, no rail summary */
	BENCH_RIG_SOCKET,  /* Unix socket */
	BENCH_RIG_SERIAL,  /* tty found by USB id and serial number, or path */
	BENCH_RIG_VIRTUAL, /* rig.sock of the run directory */
};

struct bench_rig {
	enum bench_rig_type type;
	char *path;       /* socket, or serial without usb */
	char *usb;        /* "VID:PID", hexadecimal */
	char *usb_serial; /* serial number of the adapter, NULL = any */
	uint32_t baud;    /* 0 = 115200 */
};

enum bench_agent_type {
	BENCH_AGENT_LOCAL,   /* child: bay-agent --stdio */
	BENCH_AGENT_STREAM,  /* Unix socket */
	BENCH_AGENT_SSH,     /* child: ssh HOST bay-agent --stdio */
	BENCH_AGENT_VIRTUAL, /* agent.sock of the run directory */
};

struct bench_agent {
	enum bench_agent_type type;
	char *path;     /* stream */
	char *host;     /* ssh */
	char **command; /* local, ssh: argv instead of bay-agent --stdio */
	unsigned n_command;
};

struct bench_disk {
	char *serial;
	int32_t slot; /* of the rig; -1 = none given */
};

/* A kernel that a machine under test can be booted into. */
struct bench_kernel {
	char *name;    /* as used in a matrix */
	char *release; /* uname -r starts with it; NULL = name */
	char **boot;   /* argv that boots the machine into it; may be empty */
	unsigned n_boot;
};

/* The bench without hardware; 0 = default in each number. */
struct bench_virtual {
	char **kernels; /* names of guest images, e.g. "6.12" */
	unsigned n_kernels;
	char *board;        /* NULL = lm3s6965evb; or posix */
	uint32_t memory_mb; /* of the guest */
	uint32_t cpus;      /* of the guest */
	uint32_t disk_mb;   /* size of each disk */
	uint32_t rate_mb_s; /* of each disk's medium */
};

/* What happens to the slots when a run is aborted. */
enum bench_abort {
	BENCH_ABORT_SAFE_OFF,
	BENCH_ABORT_HOLD,
};

struct bench {
	char *name;
	struct bench_rig rig;
	struct bench_agent agent;
	struct bench_disk *disks;
	unsigned n_disks;
	struct bench_kernel *kernels;
	unsigned n_kernels;
	struct bench_virtual *virt; /* NULL without a virtual: section */
	enum bench_abort abort;
	uint32_t disk_wait_s; /* 0: as bench_disk_wait_ms() says */
	uint32_t boot_wait_s; /* reboot to agent ready; 0 = 180 */
	char *source;         /* the file it came from */
	struct conf *file;    /* for errors: conf_fail() */
};

/* Read a bench description.
 *   out  the caller frees it with bench_free(); untouched on failure
 *   err  one sentence that names file, line and what to do
 * -ENOENT and other errors of open(2), -EINVAL: contents, -ENOMEM. */
int bench_load(const char *path, struct bench **out, struct err *err);

/* As bench_load(), from memory; name stands for the file in errors. */
int bench_parse(const char *name, const char *text, size_t len,
		struct bench **out, struct err *err);

void bench_free(struct bench *b);

/* The disk with this serial, or NULL when it is not on the allow-list. */
const struct bench_disk *bench_disk_find(const struct bench *b,
					 const char *serial);

/* How long a disk may take to be seen, milliseconds: disk_wait_s; else 60 s
 * from its power on, or 10 s where no rig switches it: it is there, or it is
 * not. */
uint32_t bench_disk_wait_ms(const struct bench *b);

/* Whether bay bench up starts any of it. */
bool bench_is_virtual(const struct bench *b);

/* The run directory of this bench: $BAY_RUN_DIR, or
 * ${XDG_RUNTIME_DIR:-/tmp}/bay-<uid>/<name>. Pure: creates nothing.
 * 0, or -ENAMETOOLONG. */
int bench_run_dir(const struct bench *b, char *buf, size_t len);

/* Whether all of a bench's sockets can lie in it, and QEMU's options name it.
 * 0; -EINVAL or -ENAMETOOLONG and a sentence. */
int bench_run_dir_check(const struct bench *b, struct err *err);

/* What to say of a virtual bench whose sockets are not there; %s: its run
 * directory. */
#define BENCH_NOT_UP "the bench in %s is not up; start it with 'bay bench up'"

#endif
