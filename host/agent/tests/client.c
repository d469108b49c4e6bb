#include "host/agent/tests/client.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/agent/agent.h"
#include "host/util/clock.h"
#include "host/util/parse.h"

#define CLIENT_AGAIN_MS 2000

void client_open(struct client *c, int fd)
{
	size_t cap = DELIM_PAYLOAD_MAX + DELIM_HEADER_BYTES;

	*c = (struct client){ .fd = fd };
	/* Replies to the client before must not look like ours. */
	c->next_id = (uint32_t)clock_mono_ns() / 2;
	c->space = malloc(cap);
	delim_init(&c->delim, c->space, cap);
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->space);
	c->space = NULL;
	arena_free(&c->arena);
}

int client_connect(struct client *c, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)str_copy(addr.sun_path, sizeof(addr.sun_path), path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return rc;
	}
	client_open(c, fd);
	return 0;
}

static void client_send_as(struct client *c, uint32_t id, Bay__Request *req)
{
	Bay__Envelope env = BAY__ENVELOPE__INIT;
	uint8_t header[DELIM_HEADER_BYTES];
	uint8_t *data;
	size_t len;

	env.id = id;
	env.body_case = BAY__ENVELOPE__BODY_REQUEST;
	env.request = req;
	len = bay__envelope__get_packed_size(&env);
	data = malloc(len + 1);
	(void)bay__envelope__pack(&env, data);
	delim_header(header, data, len);
	if (send(c->fd, header, sizeof(header), MSG_NOSIGNAL) < 0 ||
	    send(c->fd, data, len, MSG_NOSIGNAL) < 0)
		shutdown(c->fd, SHUT_RDWR);
	free(data);
}

uint32_t client_send(struct client *c, Bay__Request *req)
{
	client_send_as(c, ++c->next_id, req);
	return c->next_id;
}

static void client_event(struct client *c, Bay__AgentEvent *e)
{
	if (e->body_case == BAY__AGENT_EVENT__BODY_STARTED)
		c->incarnation = e->started->incarnation;
	else if (e->body_case == BAY__AGENT_EVENT__BODY_PROGRESS)
		c->progress++;
	else if (e->body_case == BAY__AGENT_EVENT__BODY_RESULT)
		c->pushed = e->result;
}

/* Next whole envelope, or NULL at the deadline or the end. */
static Bay__Envelope *client_next(struct client *c, struct deadline end)
{
	ProtobufCAllocator in_arena = agent_arena_allocator(&c->arena);
	const uint8_t *payload;
	size_t len;

	for (;;) {
		struct pollfd p = { c->fd, POLLIN, 0 };
		size_t room;
		uint8_t *at;
		ssize_t n;

		if (delim_next(&c->delim, &payload, &len) == DELIM_FRAME)
			return bay__envelope__unpack(&in_arena, len, payload);
		if (poll(&p, 1, deadline_poll_ms(end)) <= 0)
			return NULL;
		at = delim_space(&c->delim, &room);
		n = read(c->fd, at, room);
		c->ended = n <= 0;
		if (c->ended)
			return NULL;
		delim_fill(&c->delim, (size_t)n);
	}
}

Bay__Reply *client_wait(struct client *c, uint32_t id, int timeout_ms)
{
	struct deadline end = deadline_in_ms((uint64_t)timeout_ms);
	Bay__Envelope *env;

	while ((env = client_next(c, end))) {
		if (env->body_case == BAY__ENVELOPE__BODY_EVENT)
			client_event(c, env->event);
		else if (env->id == id)
			return env->reply;
	}
	return NULL;
}

void client_wait_event(struct client *c, const uint64_t *seen, int timeout_ms)
{
	struct deadline end = deadline_in_ms((uint64_t)timeout_ms);
	Bay__Envelope *env;

	while (!*seen && (env = client_next(c, end))) {
		if (env->body_case == BAY__ENVELOPE__BODY_EVENT)
			client_event(c, env->event);
	}
}

Bay__Reply *client_ask(struct client *c, Bay__Request *req)
{
	return client_wait(c, client_send(c, req), CLIENT_ANSWER_MS);
}

static char *client_text(const char *text)
{
	return (char *)(uintptr_t)text;
}

Bay__Reply *client_hello(struct client *c, const char *const *serials,
			 size_t count)
{
	struct deadline end = deadline_in_ms(CLIENT_ANSWER_MS);
	uint32_t id = ++c->next_id;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentHello h = BAY__AGENT_HELLO__INIT;
	Bay__Reply *reply;

	h.major = 1;
	h.allowed_serial = (char **)(uintptr_t)serials;
	h.n_allowed_serial = count;
	h.controller = client_text("test");
	req.op_case = BAY__REQUEST__OP_HELLO;
	req.hello = &h;
	do {
		client_send_as(c, id, &req);
		reply = client_wait(c, id, CLIENT_AGAIN_MS);
	} while (!reply && !c->ended && !deadline_past(end));
	return reply;
}

/* Requests without content. */
Bay__Reply *client_simple(struct client *c, Bay__Request__OpCase op)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentPing empty = BAY__AGENT_PING__INIT;
	Bay__InventoryReq inventory = BAY__INVENTORY_REQ__INIT;
	Bay__KnobRestoreReq restore = BAY__KNOB_RESTORE_REQ__INIT;
	Bay__DropCachesReq drop = BAY__DROP_CACHES_REQ__INIT;
	Bay__CancelReq cancel = BAY__CANCEL_REQ__INIT;
	Bay__SpoolListReq list = BAY__SPOOL_LIST_REQ__INIT;
	Bay__ResetReq reset = BAY__RESET_REQ__INIT;
	Bay__ArrayShowReq show = BAY__ARRAY_SHOW_REQ__INIT;

	req.op_case = op;
	switch (op) {
	case BAY__REQUEST__OP_INVENTORY:
		req.inventory = &inventory;
		break;
	case BAY__REQUEST__OP_KNOB_RESTORE:
		req.knob_restore = &restore;
		break;
	case BAY__REQUEST__OP_DROP_CACHES:
		req.drop_caches = &drop;
		break;
	case BAY__REQUEST__OP_CANCEL:
		req.cancel = &cancel;
		break;
	case BAY__REQUEST__OP_SPOOL_LIST:
		req.spool_list = &list;
		break;
	case BAY__REQUEST__OP_RESET:
		req.reset = &reset;
		break;
	case BAY__REQUEST__OP_ARRAY_SHOW:
		req.array_show = &show;
		break;
	default:
		req.op_case = BAY__REQUEST__OP_PING;
		req.ping = &empty;
		break;
	}
	return client_ask(c, &req);
}

Bay__Reply *client_array_create(struct client *c, const char *name,
				Bay__ArraySpec *spec, bool plan_only,
				bool wipe_ours)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayCreateReq create = BAY__ARRAY_CREATE_REQ__INIT;

	create.name = client_text(name);
	create.spec = spec;
	create.plan_only = plan_only;
	create.wipe_ours = wipe_ours;
	req.op_case = BAY__REQUEST__OP_ARRAY_CREATE;
	req.array_create = &create;
	return client_ask(c, &req);
}

Bay__Reply *client_array_stop(struct client *c, const char *name)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayStopReq stop = BAY__ARRAY_STOP_REQ__INIT;

	stop.name = client_text(name);
	req.op_case = BAY__REQUEST__OP_ARRAY_STOP;
	req.array_stop = &stop;
	return client_ask(c, &req);
}

Bay__Reply *client_array_zero(struct client *c, const char *name,
			      const char *const *serials, size_t count)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayZeroReq zero = BAY__ARRAY_ZERO_REQ__INIT;

	zero.name = client_text(name);
	zero.serial = (char **)(uintptr_t)serials;
	zero.n_serial = count;
	req.op_case = BAY__REQUEST__OP_ARRAY_ZERO;
	req.array_zero = &zero;
	return client_ask(c, &req);
}

Bay__Reply *client_mkfs(struct client *c, const char *array, const char *type)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__MkfsReq mkfs = BAY__MKFS_REQ__INIT;
	Bay__FsSpec fs = BAY__FS_SPEC__INIT;

	fs.type = client_text(type);
	mkfs.array = client_text(array);
	mkfs.fs = &fs;
	req.op_case = BAY__REQUEST__OP_MKFS;
	req.mkfs = &mkfs;
	return client_ask(c, &req);
}

Bay__Reply *client_mount(struct client *c, const char *array, const char *type)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__MountReq mount = BAY__MOUNT_REQ__INIT;
	Bay__FsSpec fs = BAY__FS_SPEC__INIT;

	fs.type = client_text(type);
	mount.array = client_text(array);
	mount.fs = &fs;
	req.op_case = BAY__REQUEST__OP_MOUNT;
	req.mount = &mount;
	return client_ask(c, &req);
}

Bay__Reply *client_unmount(struct client *c, const char *array)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__UnmountReq unmount = BAY__UNMOUNT_REQ__INIT;

	unmount.array = client_text(array);
	req.op_case = BAY__REQUEST__OP_UNMOUNT;
	req.unmount = &unmount;
	return client_ask(c, &req);
}

Bay__Reply *client_knob(struct client *c, const char *name, const char *target,
			const char *value, const char *array)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__KnobSetReq set = BAY__KNOB_SET_REQ__INIT;
	Bay__Knob knob = BAY__KNOB__INIT;
	Bay__Knob *list[] = { &knob };

	knob.name = client_text(name);
	knob.target = client_text(target);
	knob.value = client_text(value);
	set.knob = list;
	set.n_knob = 1;
	set.array = client_text(array);
	req.op_case = BAY__REQUEST__OP_KNOB_SET;
	req.knob_set = &set;
	return client_ask(c, &req);
}

Bay__Reply *client_spool_ack(struct client *c, const char *id)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__SpoolAckReq ack = BAY__SPOOL_ACK_REQ__INIT;

	ack.spool_id = client_text(id);
	req.op_case = BAY__REQUEST__OP_SPOOL_ACK;
	req.spool_ack = &ack;
	return client_ask(c, &req);
}

const Bay__Reply *want(const Bay__Reply *r, Bay__AgentStatus status)
{
	assert_non_null(r);
	if (r->status != status)
		fail_msg("status %d instead of %d: %s", (int)r->status,
			 (int)status, r->error_text);
	return r;
}

const Bay__Reply *ok(const Bay__Reply *r)
{
	return want(r, BAY__AGENT_STATUS__AGENT_OK);
}
