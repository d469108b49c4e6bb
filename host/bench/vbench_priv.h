/* host/bench/vbench_priv.h - inside of the virtual bench's supervisor. */
#ifndef HOST_BENCH_VBENCH_PRIV_H
#define HOST_BENCH_VBENCH_PRIV_H

#include <jansson.h>
#include <uv.h>

#include "host/bench/vbench.h"
#include "host/bench/vbench_dir.h"
#include "host/util/line_server.h"
#include "host/util/run.h"

struct vbench;

/* ---- arguments ---- */

#define VBENCH_ARGS_MAX 256

/* An argument vector under construction: the first failure sticks. */
struct vbench_argv {
	char *v[VBENCH_ARGS_MAX + 1];
	size_t n;
	int rc; /* -ENOMEM, -E2BIG */
};

__attribute__((format(printf, 2, 3))) void
vbench_argv_add(struct vbench_argv *a, const char *fmt, ...);
void vbench_argv_free(struct vbench_argv *a);

/* ---- roles: what kinds of children there are ---- */

enum vbench_restart {
	VBENCH_RESTART_ALWAYS,
	VBENCH_RESTART_NEVER, /* reported; started again on command */
};

struct vbench_role {
	const char *name;  /* "disk": its children are disk-SERIAL */
	const char *doing; /* of progress: "disks" */
	uint32_t ready_ms; /* start to ready; 0: boot_wait_s */
	enum vbench_restart restart;
	int nice; /* added to its children's niceness */
	/* Argument vector of the child that is index-th of its role. */
	int (*argv)(struct vbench *vb, unsigned int index,
		    struct vbench_argv *a, struct err *err);
	/* Sockets to remove before it starts: NULL-ended, each with one %s
	 * for the child's name. */
	const char *const *sockets;
	/* Do all children of this role work? */
	bool (*ready)(struct vbench *vb);
};

enum vbench_role_id {
	VBENCH_DISK,
	VBENCH_BACKPLANE,
	VBENCH_RIG,
	VBENCH_GUEST,
	VBENCH_ROLES,
};

extern const struct vbench_role vbench_roles[VBENCH_ROLES];

unsigned int vbench_role_count(const struct vbench *vb, unsigned int role);
void vbench_child_name(const struct vbench *vb, unsigned int role,
		       unsigned int index, char name[VBENCH_NAME_MAX + 8]);

/* ---- children ---- */

#define VBENCH_CHILDREN_MAX (VBENCH_DISKS_MAX + 3)

struct vbench_child {
	struct vbench *vb;
	unsigned int role;
	unsigned int index;
	char name[VBENCH_NAME_MAX + 8];
	struct run_child run;
	uv_poll_t poll;   /* of run.pidfd, while running */
	uv_timer_t again; /* a restart is due */
	bool running;
	bool failed; /* died too often: given up */
	bool frozen; /* stopped by a command */
	unsigned int restarts;
	unsigned int quick; /* deaths in a row soon after the start */
	char last_exit[64]; /* "" while it never ended */
	struct line_client *kill_client; /* waits for its end */
};

enum vbench_phase {
	VBENCH_STARTING,
	VBENCH_UP,
	VBENCH_STOPPING,
};

struct vbench {
	const struct vbench_cfg *cfg;
	const struct vbench_watch *watch;
	struct err *err;
	int rc; /* what vbench_run() will return */
	bool was_up;
	enum vbench_phase phase;
	char kernel[VBENCH_NAME_MAX]; /* of the guest that runs or ran */
	bool kvm;
	unsigned int role; /* being started */
	uint64_t role_since_ns;
	struct vbench_dir dir;
	uv_loop_t loop;
	uv_timer_t tick; /* readiness, deadlines */
	uv_signal_t signal[3];
	struct line_server ctl;
	bool ctl_open;
	struct vbench_child child[VBENCH_CHILDREN_MAX];
	unsigned int children;
	unsigned int stop_signals;
	uint64_t stop_since_ns;
	/* A boot under way and who asked for it. */
	bool booting;
	bool guest_due;     /* to be started as soon as the old one is gone */
	unsigned int boots; /* of it so far, this one counted */
	uint64_t boot_since_ns;
	struct line_client *boot_client;
	struct line_client *down_client;
};

/* Path of a file in the runtime directory. */
__attribute__((format(printf, 3, 4))) void
vbench_file(const struct vbench *vb, char path[VBENCH_PATH_MAX],
	    const char *fmt, ...);

void vbench_children_init(struct vbench *vb);
struct vbench_child *vbench_child_find(struct vbench *vb, unsigned int role,
				       unsigned int index);
/* 0 or -errno with err. */
int vbench_child_start(struct vbench_child *c, struct err *err);
/* At the next turn of the loop: its old handles are then gone. */
void vbench_child_start_soon(struct vbench_child *c);
void vbench_child_signal(struct vbench_child *c, int sig);
/* Called by the child watcher; vbench.c decides what follows. */
void vbench_child_failed(struct vbench_child *c, const struct err *err);
void vbench_child_ended(struct vbench_child *c);
bool vbench_children_running(const struct vbench *vb);

/* ---- the bench as a whole ---- */

/* Begin to take everything down; rc and err are for vbench_run(), the first
 * reason stays. */
void vbench_stop(struct vbench *vb, int rc);

/* Start (again) the guest with a kernel. 0, or -errno with err: nothing was
 * changed. When the agent has its port open or the wait is over,
 * vbench_boot_done() is called. */
int vbench_boot(struct vbench *vb, const char *kernel, struct err *err);

/* Write state.json. */
void vbench_state_write(struct vbench *vb);
json_t *vbench_state_json(struct vbench *vb);

/* ---- bench.ctl ---- */

int vbench_ctl_open(struct vbench *vb);
void vbench_boot_done(struct vbench *vb, int rc, const char *why);
void vbench_down_done(struct vbench *vb);
void vbench_kill_done(struct vbench_child *c);

/* ---- clients of sockets, blocking ---- */

/* Descriptor or -errno. */
int vbench_connect(const char *path);
bool vbench_answers(const char *path);
int vbench_ask_at(const char *path, const char *line, uint32_t deadline_ms,
		  char **answer);
/* Status of the backplane: NULL if it does not answer; caller frees. */
json_t *vbench_backplane(const struct vbench *vb, const char *line);

#endif
