/* backplane/qmp.h - client of QEMU's machine protocol. Event loop context.
 * Requests are pipelined; each is answered exactly once, in order. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_QMP_H
#define BOARDS_VIRTUAL_BACKPLANE_QMP_H

#include "boards/virtual/backplane/conn.h"

/* m is NULL if the connection was lost before the answer came. */
typedef void (*bp_qmp_fn)(void *arg, const struct bp_qmp_msg *m);

struct bp_qmp_request;

struct bp_qmp_cfg {
	char path[108];
	void (*ready)(void *arg); /* greeting and capabilities are done */
	void (*down)(void *arg);  /* was ready, is not */
	void (*event)(void *arg, const struct bp_qmp_msg *m); /* or NULL */
	void *arg;
};

struct bp_qmp {
	struct bp_conn conn;
	struct bp_qmp_cfg cfg;
	struct bp_qmp_request *head;
	struct bp_qmp_request **tail;
	unsigned int pending;
	uint64_t warned_ns; /* of a slow answer, last */
	json_int_t last_id;
	bool ready;
};

void bp_qmp_open(struct bp_qmp *q, uv_loop_t *loop,
		 const struct bp_qmp_cfg *cfg);

/* Send a command. Takes args over (NULL: none). fn may be NULL. While the
 * connection is down fn is called at once with NULL. */
void bp_qmp_send(struct bp_qmp *q, const char *command, json_t *args,
		 bp_qmp_fn fn, void *arg);

/* Requests without an answer yet. */
unsigned int bp_qmp_pending(const struct bp_qmp *q);

void bp_qmp_reset(struct bp_qmp *q);
void bp_qmp_close(struct bp_qmp *q);

#endif
