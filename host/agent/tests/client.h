/* host/agent/tests/client.h - a controller for tests: one request at a time
 * over a descriptor. */
#ifndef HOST_AGENT_TESTS_CLIENT_H
#define HOST_AGENT_TESTS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/agent.pb-c.h"
#include "proto/link/delim.h"

#include "host/util/arena.h"

/* Patience with a slow guest; more than any cell of the tests may take. */
#define CLIENT_ANSWER_MS 300000

struct client {
	int fd;
	bool ended; /* the other side has hung up */
	struct delim delim;
	uint8_t *space;
	uint32_t next_id;
	struct arena arena;      /* replies and events, until client_close */
	uint64_t incarnation;    /* of the last AgentStarted; 0: none seen */
	uint64_t progress;       /* events of it; may be set back to 0 */
	Bay__CellResult *pushed; /* the last result event */
};

/* fd is taken over. */
void client_open(struct client *c, int fd);
void client_close(struct client *c);

/* Connect to a Unix socket. -errno. */
int client_connect(struct client *c, const char *path);

/* Send without waiting; the id. */
uint32_t client_send(struct client *c, Bay__Request *req);

/* The reply to id; NULL when it does not come within timeout_ms or the other
 * side hangs up. Events before it are noted. */
Bay__Reply *client_wait(struct client *c, uint32_t id, int timeout_ms);
Bay__Reply *client_ask(struct client *c, Bay__Request *req);

/* Take events that are there or come within timeout_ms, until one was taken
 * after which *seen is not 0. */
void client_wait_event(struct client *c, const uint64_t *seen, int timeout_ms);

/* Common requests. The caller's strings are only read. Hello is said again
 * until it is answered, as an agent that was killed may have taken it along. */
Bay__Reply *client_hello(struct client *c, const char *const *serials,
			 size_t count);
Bay__Reply *client_simple(struct client *c, Bay__Request__OpCase op);
Bay__Reply *client_array_create(struct client *c, const char *name,
				Bay__ArraySpec *spec, bool plan_only,
				bool wipe_ours);
Bay__Reply *client_array_stop(struct client *c, const char *name);
Bay__Reply *client_array_zero(struct client *c, const char *name,
			      const char *const *serials, size_t count);
Bay__Reply *client_mkfs(struct client *c, const char *array, const char *type);
Bay__Reply *client_mount(struct client *c, const char *array, const char *type);
Bay__Reply *client_unmount(struct client *c, const char *array);
Bay__Reply *client_knob(struct client *c, const char *name, const char *target,
			const char *value, const char *array);
Bay__Reply *client_spool_ack(struct client *c, const char *id);

/* The reply itself, or the test has failed: there is none, or its status is
 * another than wanted. */
const Bay__Reply *want(const Bay__Reply *r, Bay__AgentStatus status);
const Bay__Reply *ok(const Bay__Reply *r);

#endif
