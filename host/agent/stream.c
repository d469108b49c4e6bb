#include "host/agent/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/util/clock.h"
#include "host/util/log.h"

#define STREAM_READS 16 /* of one wake-up, so that timers are not starved */

int stream_init(struct stream *s, uv_loop_t *loop, const struct stream_cbs *cbs)
{
	*s = (struct stream){
		.cbs = *cbs, .loop = loop, .in_fd = -1, .out_fd = -1
	};
	s->space = malloc(DELIM_PAYLOAD_MAX + DELIM_HEADER_BYTES);
	if (!s->space)
		return -ENOMEM;
	delim_init(&s->delim, s->space, DELIM_PAYLOAD_MAX + DELIM_HEADER_BYTES);
	return 0;
}

bool stream_is_open(const struct stream *s)
{
	return s->in_fd >= 0;
}

size_t stream_backlog(const struct stream *s)
{
	return s->queue.len;
}

static void stream_free_handle(uv_handle_t *h)
{
	free(h);
}

static void stream_stop(struct stream *s)
{
	if (s->in)
		uv_close((uv_handle_t *)s->in, stream_free_handle);
	if (s->out)
		uv_close((uv_handle_t *)s->out, stream_free_handle);
	s->in = s->out = NULL;
	if (s->in_fd >= 0)
		close(s->in_fd);
	if (s->out_fd >= 0)
		close(s->out_fd);
	s->in_fd = s->out_fd = -1;
	s->is_port = s->away = false;
	buf_clear(&s->queue);
	delim_reset(&s->delim);
}

static void stream_lost(struct stream *s)
{
	stream_stop(s);
	s->cbs.closed(s->cbs.arg);
}

/* The end of what there is to read. */
static void stream_ended(struct stream *s)
{
	if (!s->is_port) {
		stream_lost(s);
		return;
	}
	/* A hang-up that is not over would wake the loop without end. */
	(void)uv_poll_stop(s->in);
	(void)uv_poll_stop(s->out);
	s->away = true;
	s->cbs.closed(s->cbs.arg);
}

static void stream_deliver(struct stream *s)
{
	const uint8_t *payload;
	size_t len;

	/* A frame's handler may close the stream. */
	while (stream_is_open(s) &&
	       delim_next(&s->delim, &payload, &len) == DELIM_FRAME)
		s->cbs.frame(s->cbs.arg, payload, len);
}

static void stream_readable(uv_poll_t *h, int status, int events)
{
	struct stream *s = h->data;

	(void)events;
	if (status < 0) {
		stream_lost(s);
		return;
	}
	for (int i = 0; i < STREAM_READS && stream_is_open(s); i++) {
		size_t room;
		uint8_t *p = delim_space(&s->delim, &room);
		ssize_t n = read(s->in_fd, p, room);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			stream_lost(s);
			return;
		}
		if (n == 0) {
			stream_ended(s);
			return;
		}
		delim_fill(&s->delim, (size_t)n);
		stream_deliver(s);
	}
}

/* 0: all written; -EAGAIN: more later; else the stream is broken. */
static int stream_flush(struct stream *s)
{
	while (s->queue.len) {
		ssize_t n = write(s->out_fd, s->queue.data, s->queue.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf_consume(&s->queue, (size_t)n);
	}
	return 0;
}

static void stream_writable(uv_poll_t *h, int status, int events)
{
	struct stream *s = h->data;
	int rc = status < 0 ? status : stream_flush(s);

	(void)events;
	if (rc == 0)
		(void)uv_poll_stop(s->out);
	else if (rc != -EAGAIN)
		stream_lost(s);
}

void stream_send(struct stream *s, const uint8_t *payload, size_t len)
{
	uint8_t header[DELIM_HEADER_BYTES];

	if (!stream_is_open(s) || len > DELIM_PAYLOAD_MAX)
		return;
	delim_header(header, payload, len);
	if (buf_append(&s->queue, header, sizeof(header)) ||
	    buf_append(&s->queue, payload, len)) {
		log_warnx("out of memory for a frame of %zu bytes", len);
		return;
	}
	/* A broken stream shows up at the next read or write event. */
	if (!s->away && stream_flush(s) != 0)
		(void)uv_poll_start(s->out, UV_WRITABLE, stream_writable);
}

static int stream_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static uv_poll_t *stream_handle(struct stream *s, int fd)
{
	uv_poll_t *h = calloc(1, sizeof(*h));

	if (h && uv_poll_init(s->loop, h, fd) < 0) {
		free(h);
		return NULL;
	}
	if (h)
		h->data = s;
	return h;
}

/* Take both descriptors over; neither is watched yet. */
static int stream_take(struct stream *s, int in_fd, int out_fd)
{
	/* libuv wants one watcher a descriptor. */
	int wr = out_fd == in_fd ? fcntl(in_fd, F_DUPFD_CLOEXEC, 3) : out_fd;
	int rc;

	stream_stop(s);
	s->in_fd = in_fd;
	s->out_fd = wr;
	if (wr < 0) {
		rc = -errno;
		goto err;
	}
	rc = stream_nonblock(in_fd);
	if (!rc)
		rc = stream_nonblock(wr);
	if (rc)
		goto err;
	s->in = stream_handle(s, in_fd);
	s->out = stream_handle(s, wr);
	if (s->in && s->out)
		return 0;
	rc = -EIO;
err:
	stream_stop(s);
	return rc;
}

int stream_open(struct stream *s, int in_fd, int out_fd)
{
	int rc = stream_take(s, in_fd, out_fd);

	if (!rc)
		rc = uv_poll_start(s->in, UV_READABLE, stream_readable);
	if (rc)
		stream_stop(s);
	return rc;
}

int stream_open_port(struct stream *s, int in_fd, int out_fd)
{
	int rc = stream_take(s, in_fd, out_fd);

	s->is_port = s->away = !rc;
	return rc;
}

bool stream_is_away(const struct stream *s)
{
	return s->away;
}

/* A virtio port has POLLHUP while no host holds its other end. */
bool stream_try_resume(struct stream *s)
{
	struct pollfd p = { s->in_fd, POLLIN, 0 };

	(void)poll(&p, 1, 0);
	if (p.revents & (POLLHUP | POLLERR | POLLNVAL) ||
	    uv_poll_start(s->in, UV_READABLE, stream_readable))
		return false;
	s->away = false;
	if (s->queue.len)
		(void)uv_poll_start(s->out, UV_WRITABLE, stream_writable);
	return true;
}

void stream_close(struct stream *s, int timeout_ms)
{
	struct deadline end = deadline_in_ms((uint64_t)timeout_ms);

	while (stream_is_open(s) && !s->away && stream_flush(s) == -EAGAIN &&
	       !deadline_past(end)) {
		struct pollfd p = { s->out_fd, POLLOUT, 0 };

		(void)poll(&p, 1, deadline_poll_ms(end));
	}
	stream_stop(s);
}

void stream_free(struct stream *s)
{
	stream_stop(s);
	buf_free(&s->queue);
	free(s->space);
	s->space = NULL;
}
