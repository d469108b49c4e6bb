#include "host/util/line_server.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct line_client {
	uv_pipe_t pipe;
	uv_shutdown_t shutdown;
	struct line_server *server; /* NULL once the handle is closing */
	struct line_client *next;
	unsigned int refs; /* the handle's own, and who holds it */
	char rx[1024];
	char line[LINE_SERVER_LINE_MAX];
	size_t len;
};

struct answer {
	uv_write_t req;
	char text[];
};

void line_client_release(struct line_client *c)
{
	if (!--c->refs)
		free(c);
}

struct line_client *line_client_hold(struct line_client *c)
{
	c->refs++;
	return c;
}

static void on_client_closed(uv_handle_t *h)
{
	line_client_release(h->data);
}

static void client_unlink(struct line_client *c)
{
	struct line_client **at = &c->server->clients;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	c->server = NULL;
}

static void client_close(struct line_client *c)
{
	if (!c->server)
		return;
	client_unlink(c);
	uv_close((uv_handle_t *)&c->pipe, on_client_closed);
}

static void on_written(uv_write_t *req, int status)
{
	(void)status; /* the reader sees that the client is gone */
	free(req->data);
}

void line_client_answer(struct line_client *c, const char *text)
{
	size_t len = strlen(text);
	struct answer *a;
	uv_buf_t buf;

	if (!c->server)
		return;
	a = malloc(sizeof(*a) + len + 1);
	if (!a) {
		client_close(c);
		return;
	}
	memcpy(a->text, text, len);
	a->text[len] = '\n';
	a->req.data = a;
	buf = uv_buf_init(a->text, (unsigned int)len + 1);
	if (uv_write(&a->req, (uv_stream_t *)&c->pipe, &buf, 1, on_written)) {
		free(a);
		client_close(c);
	}
}

static void line_done(struct line_client *c)
{
	if (c->len && c->line[c->len - 1] == '\r')
		c->len--;
	c->line[c->len] = '\0';
	c->len = 0;
	c->server->fn(c->server->arg, c, c->line);
}

/* The server's callback may close the client in the middle. */
static void client_feed(struct line_client *c, const char *data, size_t n)
{
	for (size_t i = 0; i < n && c->server; i++) {
		if (data[i] == '\n')
			line_done(c);
		else if (c->len < sizeof(c->line) - 1)
			c->line[c->len++] = data[i];
		else
			client_close(c);
	}
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	struct line_client *c = h->data;

	(void)suggested;
	*buf = uv_buf_init(c->rx, sizeof(c->rx));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct line_client *c = s->data;

	line_client_hold(c);
	if (n < 0)
		client_close(c);
	else
		client_feed(c, buf->base, (size_t)n);
	line_client_release(c);
}

static void on_connection(uv_stream_t *stream, int status)
{
	struct line_server *s = stream->data;
	struct line_client *c;

	if (status || !(c = calloc(1, sizeof(*c))))
		return;
	c->server = s;
	c->refs = 1;
	c->next = s->clients;
	s->clients = c;
	uv_pipe_init(stream->loop, &c->pipe, 0);
	c->pipe.data = c;
	if (uv_accept(stream, (uv_stream_t *)&c->pipe) ||
	    uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read))
		client_close(c);
}

int line_server_open(struct line_server *s, uv_loop_t *loop, const char *path,
		     line_server_fn fn, void *arg)
{
	int rc;

	memset(s, 0, sizeof(*s));
	if (snprintf(s->path, sizeof(s->path), "%s", path) >=
	    (int)sizeof(s->path)) {
		s->closed = 1;
		return -ENAMETOOLONG;
	}
	s->fn = fn;
	s->arg = arg;
	unlink(path);
	uv_pipe_init(loop, &s->pipe, 0);
	s->pipe.data = s;
	rc = uv_pipe_bind(&s->pipe, path);
	if (!rc && chmod(path, 0600))
		rc = -errno;
	if (!rc)
		rc = uv_listen((uv_stream_t *)&s->pipe, 8, on_connection);
	if (rc)
		line_server_close(s);
	return rc;
}

static void on_shut(uv_shutdown_t *req, int status)
{
	(void)status;
	client_close(req->data);
}

/* shutdown waits for the answers that are still on their way. */
static void client_finish(struct line_client *c)
{
	uv_read_stop((uv_stream_t *)&c->pipe);
	c->shutdown.data = c;
	if (uv_shutdown(&c->shutdown, (uv_stream_t *)&c->pipe, on_shut))
		client_close(c);
}

void line_server_close(struct line_server *s)
{
	struct line_client *next;

	if (s->closed)
		return;
	s->closed = 1;
	unlink(s->path);
	uv_close((uv_handle_t *)&s->pipe, NULL);
	for (struct line_client *c = s->clients; c; c = next) {
		next = c->next;
		client_finish(c);
	}
}
