/* backplane/conn.h - client of a line protocol on a Unix socket that comes
 * back by itself: the server may not be there yet, or die and be started
 * again. Event loop context. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_CONN_H
#define BOARDS_VIRTUAL_BACKPLANE_CONN_H

#include <stdbool.h>
#include <uv.h>

#include "boards/virtual/backplane/wire.h"

struct bp_conn_cfg {
	char path[108];
	void (*up)(void *arg);                     /* connected */
	void (*line)(void *arg, const char *line); /* one line came */
	void (*down)(void *arg); /* was up, is not; tried again by itself */
	void *arg;
};

struct bp_conn {
	struct bp_conn_cfg cfg;
	uv_loop_t *loop;
	uv_pipe_t pipe;
	uv_connect_t connect;
	uv_timer_t retry;
	struct bp_lines lines;
	char rx[4096];
	bool up;
	bool open;    /* pipe handle is initialised and not closed */
	bool stopped; /* bp_conn_close() was called */
};

/* Starts connecting; answers come through the callbacks. c must live until
 * the loop has run dry after bp_conn_close(). */
void bp_conn_open(struct bp_conn *c, uv_loop_t *loop,
		  const struct bp_conn_cfg *cfg);

/* Queue text and a LF. Does nothing while down. A server that reads nothing
 * for 1 MiB is dropped and connected again. */
void bp_conn_send(struct bp_conn *c, const char *text);

/* Hang up; connects again by itself, after calling down if it was up. */
void bp_conn_reset(struct bp_conn *c);

/* Hang up for good, without calling down. */
void bp_conn_close(struct bp_conn *c);

#endif
