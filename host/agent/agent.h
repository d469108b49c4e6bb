/* host/agent/agent.h - what one bay-agent knows. Owned by main.c; services run
 * on the worker thread and are the only ones to change it, but for what is
 * marked shared. */
#ifndef HOST_AGENT_AGENT_H
#define HOST_AGENT_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/agent.pb-c.h"

#include "host/agent/spool.h"
#include "host/array/array.h"
#include "host/knob/knob.h"
#include "host/util/arena.h"
#include "host/util/err.h"
#include "host/util/fs.h"

#define AGENT_MAJOR 1u
#define AGENT_MINOR 0u

struct agent_cfg {
	const char *root; /* prefix of /proc, /sys, /dev; "" but in tests */
	const char *state_dir; /* spool, journal, mount points; absolute */
};

/* How a service talks to the controller while it works; thread-safe. */
struct agent_port {
	void *arg;
	void (*event)(void *arg, const Bay__AgentEvent *event);
};

struct agent {
	struct agent_cfg cfg;
	struct agent_port port;
	uint64_t incarnation;
	char boot_id[64];
	char **allowed; /* serials of AgentHello */
	size_t allowed_count;
	atomic_bool hello_done; /* shared */
	struct knob_journal knobs;
	atomic_uint unrestored; /* shared: its count after the last request */
	struct spool spool;
	/* Shared: an eventfd, readable while the running request is to end. */
	int cancel_fd;
	struct arena tools; /* Param list of tool versions, asked once */
	Bay__Param **tool;
	size_t tool_count;
};

/* One request being answered. Everything in reply is made in arena. */
struct call {
	struct agent *agent;
	const Bay__Request *req;
	Bay__Reply *reply;
	struct arena *arena;
	struct err err; /* the sentence of a failure */
};

/* A row of the table in services.c. handle: 0, or -errno with call->err. */
struct service {
	Bay__Request__OpCase op;
	const char *name;
	int (*handle)(struct call *call);
	bool before_hello; /* allowed before a controller said its allow-list */
};

extern const struct service services[];
const struct service *service_find(Bay__Request__OpCase op);

int svc_hello(struct call *call);
int svc_inventory(struct call *call);
int svc_wait_disks(struct call *call);
int svc_array_create(struct call *call);
int svc_array_assemble(struct call *call);
int svc_array_stop(struct call *call);
int svc_array_zero(struct call *call);
int svc_array_show(struct call *call);
int svc_mkfs(struct call *call);
int svc_mount(struct call *call);
int svc_unmount(struct call *call);
int svc_knob_set(struct call *call);
int svc_knob_restore(struct call *call);
int svc_drop_caches(struct call *call);
int svc_workload(struct call *call);
int svc_spool_list(struct call *call);
int svc_spool_get(struct call *call);
int svc_spool_ack(struct call *call);
int svc_reset(struct call *call);

/* One result of the spool, in arena; NULL with *rc. A damaged one is set aside:
 * -EBADMSG, and the next time it is not there. Any thread. */
Bay__CellResult *agent_spooled(const struct agent *a, const char *id,
			       struct arena *arena, int *rc);

/* Reply with one result of the spool. -ENOENT, -EBADMSG. */
int agent_spool_result(struct call *call, const char *id);

/* Open state folder, journal and spool; put back what a dead agent left
 * changed. -errno with err. */
int agent_open(struct agent *a, const struct agent_cfg *cfg, struct err *err);
void agent_close(struct agent *a);

/* Answer one request: checks order and hello, calls the service, fills in
 * status and sentence. Worker thread. */
void agent_answer(struct agent *a, const Bay__Request *req, Bay__Reply *reply,
		  struct arena *arena);

/* The one translation of -errno into the wire's status. */
Bay__AgentStatus agent_status(int code);

bool agent_allows(const struct agent *a, const char *serial);

/* Readable cancel_fd, without waiting. */
bool agent_cancelled(const struct agent *a);

/* Progress event of a cell; rate 0 = not known. */
void agent_progress(struct agent *a, const char *key, const char *phase,
		    double done, double rate_mb_s);

/* Messages unpacked with it live in the arena and need no freeing. */
ProtobufCAllocator agent_arena_allocator(struct arena *arena);

/* The array_env of this agent. */
struct array_env agent_array_env(const struct agent *a);

/* Versions of the tools, asked at the first call (in parallel). */
void agent_tools(struct agent *a, Bay__Param ***tool, size_t *count);

#endif
