/* host/agent/stream.h - frames of proto/link/delim.h over descriptors on a
 * libuv loop: a socket, a pair of pipes, or a character device. */
#ifndef HOST_AGENT_STREAM_H
#define HOST_AGENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "proto/link/delim.h"

#include "host/util/buf.h"

struct stream_cbs {
	/* One whole payload; valid during the call. */
	void (*frame)(void *arg, const uint8_t *payload, size_t len);
	/* The other side is gone. The stream is stopped; stream_open may be
	 * called from here. A port that only hung up is open still, and
	 * stream_is_away. */
	void (*closed)(void *arg);
	void *arg;
};

struct stream {
	struct stream_cbs cbs;
	uv_loop_t *loop;
	uv_poll_t *in, *out; /* heap: libuv closes them later */
	int in_fd, out_fd;   /* -1: not open */
	bool is_port;
	bool away; /* a port that is not watched */
	struct delim delim;
	uint8_t *space;
	struct buf queue; /* to be written */
};

int stream_init(struct stream *s, uv_loop_t *loop,
		const struct stream_cbs *cbs);

/* Take both descriptors over (the same number twice is fine) and start. They
 * are made non-blocking. */
int stream_open(struct stream *s, int in_fd, int out_fd);
bool stream_is_open(const struct stream *s);

/* As stream_open, of a character device whose other side comes and goes. The
 * device tells so late or not at all, so a hang-up does not say which bytes are
 * whose: it only pauses the stream, which keeps half frames and its queue. The
 * stream begins away. */
int stream_open_port(struct stream *s, int in_fd, int out_fd);
bool stream_is_away(const struct stream *s);

/* Go on if the other side of a port that is away is there. */
bool stream_try_resume(struct stream *s);

/* Queue one frame; dropped when the stream is not open. */
void stream_send(struct stream *s, const uint8_t *payload, size_t len);

/* Bytes not yet taken by the other side. */
size_t stream_backlog(const struct stream *s);

/* Write what is queued for at most timeout_ms, then close without calling
 * back. */
void stream_close(struct stream *s, int timeout_ms);
void stream_free(struct stream *s);

#endif
