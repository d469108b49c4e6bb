/* The connection of the agent's client: a socket or a child, and the frames
 * that come in on it. */
#include "host/bench/dut_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- frames ------------------------------------------------------------- */

static void on_started(struct dut *d, const Bay__AgentStarted *s)
{
	if (!s || s->incarnation == d->incarnation)
		return;
	/* What was asked of the one before will not be answered, and the new
	 * one waits for a hello. */
	if (d->incarnation && !d->greeting)
		d->fail = -ECONNRESET;
	d->incarnation = s->incarnation;
}

static void on_envelope(struct dut *d, Bay__Envelope *e)
{
	if (e->body_case == BAY__ENVELOPE__BODY_REPLY && e->id == d->wait_id &&
	    d->wait_id) {
		d->reply = e->reply;
		d->wait_id = 0;
		e->reply = NULL;
		e->body_case = BAY__ENVELOPE__BODY__NOT_SET;
	} else if (e->body_case == BAY__ENVELOPE__BODY_EVENT && e->event) {
		if (e->event->body_case == BAY__AGENT_EVENT__BODY_STARTED)
			on_started(d, e->event->started);
		if (d->cfg.event)
			d->cfg.event(d->cfg.arg, e->event);
	}
}

static void grow(struct dut *d)
{
	uint8_t *p = realloc(d->buf, delim_need(&d->delim));

	if (!p) {
		d->fail = -ENOMEM;
		return;
	}
	d->buf = p;
	delim_grown(&d->delim, p, delim_need(&d->delim));
}

static void take_frames(struct dut *d)
{
	enum delim_result r;
	const uint8_t *payload;
	size_t len;

	while (!d->fail &&
	       (r = delim_next(&d->delim, &payload, &len)) != DELIM_MORE) {
		Bay__Envelope *e;

		if (r == DELIM_GROW) {
			grow(d);
			return;
		}
		e = bay__envelope__unpack(NULL, len, payload);
		if (!e)
			continue; /* a newer agent's, or rubbish: not ours */
		on_envelope(d, e);
		bay__envelope__free_unpacked(e, NULL);
	}
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
	struct dut *d = h->data;
	size_t room = 0;

	(void)hint;
	buf->base = d ? (char *)delim_space(&d->delim, &room) : NULL;
	buf->len = room;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct dut *d = s->data;

	(void)buf;
	if (!d)
		return;
	if (n > 0) {
		d->heard = true;
		delim_fill(&d->delim, (size_t)n);
		take_frames(d);
	} else if (n < 0) {
		uv_read_stop(s);
		if (!d->fail)
			d->fail = -ENOTCONN;
	}
}

/* ---- connection --------------------------------------------------------- */

static void on_closed(uv_handle_t *h)
{
	free(h);
}

void dut_hang_up(struct dut *d)
{
	if (d->pipe) {
		d->pipe->data = NULL;
		uv_close((uv_handle_t *)d->pipe, on_closed);
		d->pipe = NULL;
		uv_run(d->cfg.loop, UV_RUN_NOWAIT);
	}
	if (d->has_child) {
		/* Its input has ended: it leaves by itself, or is killed. */
		struct run_child *c = &d->child;

		run_wait(&c, 1, 2000, 0);
		run_close(c, 1000);
		d->has_child = false;
	}
	d->wait_id = 0;
	d->fail = -ENOTCONN;
	d->incarnation = 0;
}

static int connect_socket(const char *path, struct err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(a.sun_path))
		return err_sys(err, -ENAMETOOLONG, "agent socket %s", path);
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, -errno, "agent socket");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		ret = err_sys(err, -errno, "cannot reach the agent at %s",
			      path);
		close(fd);
		return ret;
	}
	return fd;
}

/* argv of the child: bay-agent here, or behind ssh. */
static void child_argv(const struct bench_agent *a, const char **argv)
{
	unsigned i;

	if (a->type == BENCH_AGENT_SSH) {
		*argv++ = "ssh";
		*argv++ = "-T";
		*argv++ = "--";
		*argv++ = a->host;
	}
	for (i = 0; i < a->n_command; i++)
		*argv++ = a->command[i];
	if (!a->n_command) {
		*argv++ = "bay-agent";
		*argv++ = "--stdio";
	}
	*argv = NULL;
}

/* Its input and output are one socket; its stderr is ours. */
static int start_child(struct dut *d, struct err *err)
{
	const char *argv[72];
	struct run_spec spec = { .argv = argv, .err_fd = STDERR_FILENO };
	int sv[2], ret;

	child_argv(&d->cfg.bench->agent, argv);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return err_sys(err, -errno, "socketpair");
	spec.in_fd = sv[1];
	spec.out_fd = sv[1];
	ret = run_start(&d->child, &spec, err);
	close(sv[1]);
	if (ret < 0) {
		close(sv[0]);
		return ret;
	}
	d->has_child = true;
	return sv[0];
}

/* Nobody listens for the agent of a virtual bench: is the bench away, or only
 * its guest? */
static void explain_no_guest(const char *dir, int rc, struct err *err)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/bench.ctl", dir);
	if (access(path, F_OK) < 0)
		err_set(err, rc, BENCH_NOT_UP, dir);
	else
		err_set(err, rc,
			"the bench in %s has no guest that runs; start it with "
			"'bay bench boot'",
			dir);
}

static int open_fd(struct dut *d, struct err *err)
{
	const struct bench *b = d->cfg.bench;
	char dir[200], path[256];
	int fd;

	switch (b->agent.type) {
	case BENCH_AGENT_STREAM:
		return connect_socket(b->agent.path, err);
	case BENCH_AGENT_VIRTUAL:
		if (bench_run_dir(b, dir, sizeof(dir)) < 0)
			return err_set(err, -ENAMETOOLONG,
				       "the run directory's name is too long");
		snprintf(path, sizeof(path), "%s/agent.sock", dir);
		fd = connect_socket(path, err);
		if (fd == -ENOENT || fd == -ECONNREFUSED)
			explain_no_guest(dir, fd, err);
		return fd;
	case BENCH_AGENT_LOCAL:
	case BENCH_AGENT_SSH:
		break;
	}
	return start_child(d, err);
}

int dut_connect(struct dut *d, struct err *err)
{
	int fd, ret;

	dut_hang_up(d);
	fd = open_fd(d, err);
	if (fd < 0)
		return fd;
	d->pipe = calloc(1, sizeof(*d->pipe));
	if (!d->pipe) {
		close(fd);
		return err_sys(err, -ENOMEM, "agent");
	}
	uv_pipe_init(d->cfg.loop, d->pipe, 0);
	d->pipe->data = d;
	ret = uv_pipe_open(d->pipe, fd);
	if (ret < 0) {
		close(fd);
		return err_sys(err, ret, "agent");
	}
	delim_reset(&d->delim);
	d->fail = 0;
	ret = uv_read_start((uv_stream_t *)d->pipe, on_alloc, on_read);
	return ret < 0 ? err_sys(err, ret, "agent") : 0;
}
