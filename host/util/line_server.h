/* host/util/line_server.h - a Unix socket that takes text lines and answers
 * each with one line, now or later. libuv; event loop context only. */
#ifndef HOST_UTIL_LINE_SERVER_H
#define HOST_UTIL_LINE_SERVER_H

#include <uv.h>

#define LINE_SERVER_LINE_MAX 4096 /* longer lines close the connection */

struct line_client;

/* One line, without its newline; may be changed in place. */
typedef void (*line_server_fn)(void *arg, struct line_client *client,
			       char *line);

struct line_server {
	uv_pipe_t pipe;
	char path[108];
	line_server_fn fn;
	void *arg;
	struct line_client *clients;
	int closed;
};

/* Listen at path, mode 0600; a socket file that is left over is replaced. 0 or
 * -errno. s must live until the loop has run dry after the close. */
int line_server_open(struct line_server *s, uv_loop_t *loop, const char *path,
		     line_server_fn fn, void *arg);

/* Unlink the socket, stop listening and hang up on everyone once what was
 * answered has been written. Safe to call twice. */
void line_server_close(struct line_server *s);

/* Send text and a newline. A client that has gone meanwhile is no error. */
void line_client_answer(struct line_client *client, const char *text);

/* To answer later: hold keeps the client valid until release, also when it
 * hangs up or the server closes. */
struct line_client *line_client_hold(struct line_client *client);
void line_client_release(struct line_client *client);

#endif
