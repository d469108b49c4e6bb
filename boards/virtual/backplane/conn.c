#include "boards/virtual/backplane/conn.h"

#include <stdlib.h>
#include <string.h>

#define RETRY_MS    50
#define BACKLOG_MAX (1024 * 1024)

struct write_job {
	uv_write_t req;
	char text[];
};

static void conn_start(struct bp_conn *c);

static void on_retry(uv_timer_t *t)
{
	conn_start(t->data);
}

static void on_closed(uv_handle_t *h)
{
	struct bp_conn *c = h->data;

	if (!c->stopped)
		uv_timer_start(&c->retry, on_retry, RETRY_MS, 0);
}

static void hang_up(struct bp_conn *c)
{
	bool was_up = c->up;

	c->up = false;
	if (c->open) {
		c->open = false;
		uv_close((uv_handle_t *)&c->pipe, on_closed);
	}
	if (was_up && !c->stopped && c->cfg.down)
		c->cfg.down(c->cfg.arg);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	struct bp_conn *c = h->data;

	(void)suggested;
	*buf = uv_buf_init(c->rx, sizeof(c->rx));
}

/* A callback may hang up in the middle of a chunk. */
static void on_line(void *arg, const char *line)
{
	struct bp_conn *c = arg;

	if (c->up)
		c->cfg.line(c->cfg.arg, line);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct bp_conn *c = s->data;

	if (n < 0)
		hang_up(c);
	else if (n > 0 && c->up)
		bp_lines_feed(&c->lines, buf->base, (size_t)n, on_line, c);
}

static void on_connect(uv_connect_t *req, int status)
{
	struct bp_conn *c = req->data;

	if (status == UV_ECANCELED)
		return;
	if (status ||
	    uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read)) {
		hang_up(c);
		return;
	}
	c->up = true;
	if (c->cfg.up)
		c->cfg.up(c->cfg.arg);
}

static void conn_start(struct bp_conn *c)
{
	bp_lines_init(&c->lines);
	uv_pipe_init(c->loop, &c->pipe, 0);
	c->pipe.data = c;
	c->connect.data = c;
	c->open = true;
	uv_pipe_connect(&c->connect, &c->pipe, c->cfg.path, on_connect);
}

void bp_conn_open(struct bp_conn *c, uv_loop_t *loop,
		  const struct bp_conn_cfg *cfg)
{
	c->cfg = *cfg;
	c->loop = loop;
	c->up = false;
	c->stopped = false;
	uv_timer_init(loop, &c->retry);
	c->retry.data = c;
	conn_start(c);
}

static void on_written(uv_write_t *req, int status)
{
	(void)status; /* the reader sees the end of the stream too */
	free(req->data);
}

void bp_conn_send(struct bp_conn *c, const char *text)
{
	size_t len = strlen(text);
	struct write_job *job;
	uv_buf_t buf;

	if (!c->up)
		return;
	if (uv_stream_get_write_queue_size((uv_stream_t *)&c->pipe) >
	    BACKLOG_MAX) {
		hang_up(c);
		return;
	}
	job = malloc(sizeof(*job) + len + 1);
	if (!job) {
		hang_up(c);
		return;
	}
	memcpy(job->text, text, len);
	job->text[len] = '\n';
	job->req.data = job;
	buf = uv_buf_init(job->text, (unsigned int)len + 1);
	if (uv_write(&job->req, (uv_stream_t *)&c->pipe, &buf, 1, on_written)) {
		free(job);
		hang_up(c);
	}
}

void bp_conn_reset(struct bp_conn *c)
{
	hang_up(c);
}

void bp_conn_close(struct bp_conn *c)
{
	c->stopped = true;
	hang_up(c);
	uv_close((uv_handle_t *)&c->retry, NULL);
}
