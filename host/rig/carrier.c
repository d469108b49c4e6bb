/* The carrier under the session: bytes both ways, and opening it anew. */
#include "host/rig/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define REOPEN_MS 250u

static void carrier_lost(struct rig *r, int rc);

uint64_t client_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static int read_all(struct rig *r)
{
	uint8_t bytes[4096];
	ssize_t n;

	while ((n = transport_read(&r->io, bytes, sizeof(bytes))) > 0)
		session_rx(&r->session, bytes, (size_t)n, client_now_us());
	return n == -EAGAIN || n == -EINTR ? 0 : (int)n;
}

/* 1: more to write when the carrier takes it, 0: all written. */
static int write_all(struct rig *r)
{
	for (;;) {
		const uint8_t *bytes;
		size_t len;
		ssize_t n;

		session_poll(&r->session, client_now_us());
		bytes = session_tx(&r->session, &len);
		if (!len)
			return 0;
		n = transport_write(&r->io, bytes, len);
		if (n == -EAGAIN || n == -EINTR)
			return 1;
		if (n < 0)
			return (int)n;
		session_tx_done(&r->session, (size_t)n, client_now_us());
	}
}

static void on_poll(uv_poll_t *h, int status, int events)
{
	(void)status;
	(void)events;
	client_pump(h->data);
}

static void on_timer(uv_timer_t *h)
{
	client_pump(h->data);
}

static void arm_timer(struct rig *r)
{
	uint64_t now = client_now_us();
	uint64_t at = session_deadline_us(&r->session, now);

	if (at == UINT64_MAX)
		uv_timer_stop(&r->timer);
	else
		uv_timer_start(&r->timer, on_timer,
			       at > now ? (at - now + 999) / 1000 : 0, 0);
}

void client_pump(struct rig *r)
{
	int rc;

	if (r->io.fd < 0)
		return;
	/* Read first: after a pause of this process what looks like silence
	 * may lie in the buffer. */
	rc = read_all(r);
	news_ask_events(r);
	op_push(r);
	news_ack_events(r);
	if (!rc)
		rc = write_all(r);
	if (rc < 0) {
		carrier_lost(r, rc);
		return;
	}
	uv_poll_start(&r->poll, UV_READABLE | (rc ? UV_WRITABLE : 0), on_poll);
	uv_update_time(r->loop);
	arm_timer(r);
}

static void on_poll_closed(uv_handle_t *h)
{
	struct rig *r = h->data;

	r->handles--;
	r->polling = false;
	/* Not before libuv has let go of it. */
	transport_close(&r->io);
}

/* The uv handle goes first, the descriptor when it is gone. */
void carrier_close(struct rig *r)
{
	uv_timer_stop(&r->timer);
	session_close(&r->session);
	if (r->polling && !uv_is_closing((uv_handle_t *)&r->poll))
		uv_close((uv_handle_t *)&r->poll, on_poll_closed);
}

int carrier_open(struct rig *r, struct err *err)
{
	int rc = transport_open(&r->io, &r->address, r->where, sizeof(r->where),
				err);

	if (rc < 0)
		return rc;
	rc = uv_poll_init(r->loop, &r->poll, r->io.fd);
	if (rc < 0) {
		transport_close(&r->io);
		return err_sys(err, rc, "cannot watch the rig's %s", r->where);
	}
	r->poll.data = r;
	r->polling = true;
	r->handles++;
	session_open(&r->session, client_now_us());
	client_pump(r);
	return 0;
}

static void on_reopen(uv_timer_t *h)
{
	struct rig *r = h->data;
	struct err err = { 0 };
	int rc;

	if (r->polling) {
		uv_timer_start(h, on_reopen, 1, 0);
		return;
	}
	rc = carrier_open(r, &err);
	if (!rc)
		return;
	snprintf(r->why, sizeof(r->why), "%s", err.text);
	uv_timer_start(h, on_reopen, REOPEN_MS, 0);
}

static void carrier_lost(struct rig *r, int rc)
{
	snprintf(r->why, sizeof(r->why), "%s: %s", r->where,
		 rc == -EPIPE ? "closed by the other end" : strerror(-rc));
	carrier_close(r);
	uv_timer_start(&r->reopen, on_reopen, REOPEN_MS, 0);
}
