/* Connection, loop and events of the rig's client. */
#include "host/rig/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "host/util/log.h"
#include "proto/schema.h"

#define REOPEN_MS 250u
/* PING and PONG on the wire, both delimiters' bits included. */
#define PING_WIRE_BYTES 26.0
#define PONG_WIRE_BYTES 43.0

uint64_t client_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

/* ---- what the session tells ---- */

static void take_event(struct rig *r, const uint8_t *payload, size_t len)
{
	Event *ev = event__unpack(NULL, len, payload);

	if (!ev) {
		log_warnx("rig sent an event that cannot be read");
		return;
	}
	if (ev->number > r->last_event) {
		r->last_event = ev->number;
		if (ev->slot < RIG_SLOTS_MAX)
			r->dirty_slots |= 1u << ev->slot;
		if (r->ops && r->ops->event)
			r->ops->event(r->arg, ev);
	}
	event__free_unpacked(ev, NULL);
}

static void take_telemetry(struct rig *r, const uint8_t *payload, size_t len)
{
	Telemetry *t;

	if (!r->ops || !r->ops->telemetry)
		return;
	t = telemetry__unpack(NULL, len, payload);
	if (!t)
		return;
	r->ops->telemetry(r->arg, t);
	telemetry__free_unpacked(t, NULL);
}

/* It goes to terminals: whatever firmware this is, it moves no cursor. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* After a reconnection the rig sends again what it still has. */
static void take_log(struct rig *r, const uint8_t *payload, size_t len)
{
	LogLine *l;

	if (!r->ops || !r->ops->log)
		return;
	l = log_line__unpack(NULL, len, payload);
	if (!l)
		return;
	if (l->sequence > r->last_line) {
		r->last_line = l->sequence;
		make_printable(l->text);
		r->ops->log(r->arg, l);
	}
	log_line__free_unpacked(l, NULL);
}

static bool on_receive(void *arg, uint8_t channel, uint8_t flags,
		       const uint8_t *payload, size_t len)
{
	struct rig *r = arg;

	(void)flags;
	switch (channel) {
	case CHANNEL_COMMAND:
		op_result(r, payload, len);
		break;
	case CHANNEL_EVENT:
		take_event(r, payload, len);
		break;
	case CHANNEL_TELEMETRY:
		take_telemetry(r, payload, len);
		break;
	case CHANNEL_LOG:
		take_log(r, payload, len);
		break;
	default:
		break;
	}
	return true;
}

/* Where events go on. A ring that was lost starts at 1 again. */
static void place_events(struct rig *r, const struct control_info *info)
{
	bool first = !r->ever_up;

	if (first && r->last_event == RIG_EVENTS_NEW)
		r->last_event = info->last_event;
	if (!first && info->last_event < r->last_event &&
	    info->boot_id != r->info.boot_id)
		r->last_event = 0;
	r->acked_event = r->last_event;
	r->ask_events = true;
}

static void on_up(void *arg, const struct control_hello *peer,
		  const struct control_info *info)
{
	struct rig *r = arg;

	r->peer = *peer;
	if (r->session.state == SESSION_ALIEN)
		return;
	place_events(r, info);
	if (r->ever_up && info->boot_id != r->info.boot_id) {
		timefit_init(&r->clock, r->clock.out_us, r->clock.back_us);
		r->last_line = 0;
	}
	r->info = *info;
	r->ever_up = true;
	r->dirty_slots = UINT32_MAX;
	if (r->ops && r->ops->connected)
		r->ops->connected(r->arg, info);
}

static void on_lost(void *arg, enum session_loss why)
{
	struct rig *r = arg;

	op_session_lost(r);
	if (why != SESSION_LOST_CLOSED)
		snprintf(r->why, sizeof(r->why), "%s", session_loss_name(why));
	if (r->ops && r->ops->lost)
		r->ops->lost(r->arg, r->why);
}

static void on_pong(void *arg, const struct control_stamps *s, bool for_clock)
{
	struct rig *r = arg;

	if (s->host_rx_us > s->host_sent_us)
		r->rtt_us = (uint32_t)(s->host_rx_us - s->host_sent_us);
	if (for_clock)
		timefit_add(&r->clock, s);
}

static void on_all_off_done(void *arg)
{
	((struct rig *)arg)->all_off_done = true;
}

static uint32_t random_bits(void *arg)
{
	uint32_t x = 0;

	(void)arg;
	/* Cannot fail for so few bytes once the machine has booted. */
	if (getrandom(&x, sizeof(x), 0) != sizeof(x))
		x = (uint32_t)client_now_us();
	return x;
}

static const struct session_ops session_ops = {
	.receive = on_receive,
	.up = on_up,
	.lost = on_lost,
	.pong = on_pong,
	.all_off_done = on_all_off_done,
	.random = random_bits,
};

/* ---- bytes ---- */

static void carrier_lost(struct rig *r, int rc);

static void send_event_ack(struct rig *r)
{
	EventAck ack = EVENT_ACK__INIT;
	uint8_t bytes[16];
	size_t len;

	if (r->acked_event == r->last_event)
		return;
	ack.number = r->last_event;
	len = event_ack__pack(&ack, bytes);
	if (session_send(&r->session, CHANNEL_EVENT, 0, bytes, len) ==
	    SESSION_OK)
		r->acked_event = r->last_event;
}

static void send_events_since(struct rig *r)
{
	Command c = COMMAND__INIT;
	EventsSince since = EVENTS_SINCE__INIT;
	uint8_t bytes[64];
	size_t len;

	if (!r->ask_events)
		return;
	since.number = r->last_event;
	since.log = r->ops && r->ops->log;
	c.op_id = r->next_op_id;
	c.body_case = COMMAND__BODY_EVENTS_SINCE;
	c.events_since = &since;
	len = command__pack(&c, bytes);
	if (session_send(&r->session, CHANNEL_COMMAND, 0, bytes, len) !=
	    SESSION_OK)
		return;
	r->next_op_id++;
	r->ask_events = false;
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
	send_events_since(r);
	op_push(r);
	send_event_ack(r);
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

/* ---- carrier ---- */

static void on_poll_closed(uv_handle_t *h)
{
	struct rig *r = h->data;

	r->handles--;
	r->polling = false;
	/* Not before libuv has let go of it. */
	transport_close(&r->io);
}

/* The uv handle goes first, the descriptor when it is gone. */
static void carrier_close(struct rig *r)
{
	uv_timer_stop(&r->timer);
	session_close(&r->session);
	if (r->polling && !uv_is_closing((uv_handle_t *)&r->poll))
		uv_close((uv_handle_t *)&r->poll, on_poll_closed);
}

static int carrier_open(struct rig *r, struct err *err)
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

/* ---- waiting ---- */

static void on_wake(uv_timer_t *h)
{
	(void)h;
}

int client_wait(struct rig *r, bool (*done)(struct rig *r), uint64_t ms)
{
	uint64_t end = client_now_us() + ms * 1000;
	int rc = 0;

	while (!done(r)) {
		uint64_t now = client_now_us();

		if (r->cancelled)
			rc = -ECANCELED;
		else if (ms && now >= end)
			rc = -ETIME;
		if (rc)
			break;
		uv_update_time(r->loop);
		if (ms)
			uv_timer_start(&r->wait, on_wake,
				       (end - now + 999) / 1000, 0);
		uv_run(r->loop, UV_RUN_ONCE);
	}
	uv_timer_stop(&r->wait);
	return rc;
}

static bool never(struct rig *r)
{
	(void)r;
	return false;
}

int rig_run(struct rig *r, uint64_t ms, struct err *err)
{
	int rc = client_wait(r, never, ms);

	if (rc == -ECANCELED)
		return err_set(err, rc, "interrupted");
	return 0;
}

static bool has_wanted_event(struct rig *r)
{
	return r->last_event >= r->wanted_event;
}

int rig_wait_events(struct rig *r, uint32_t number, struct err *err)
{
	int rc;

	r->wanted_event = number;
	rc = client_wait(r, has_wanted_event, r->answer_ms);
	if (rc == -ECANCELED)
		return err_set(err, rc, "interrupted");
	if (rc)
		return err_set(err, -ETIMEDOUT,
			       "the rig at %s gave its events up to %u only, "
			       "not %u",
			       r->where, r->last_event, number);
	return 0;
}

/* What was sent went before the answer: 0 waiting is all of it. */
int rig_wait_log(struct rig *r, struct err *err)
{
	uint64_t end_us = client_now_us() + r->answer_ms * 1000ull;
	uint32_t waiting = 1;

	while (waiting) {
		Result *res = NULL;
		int rc = rig_get_info(r, &res, err);

		if (rc)
			return rc;
		waiting = res->body_case == RESULT__BODY_INFO
				  ? res->info->log_waiting
				  : 0;
		result__free_unpacked(res, NULL);
		if (waiting && client_now_us() >= end_us)
			return err_set(err, -ETIMEDOUT,
				       "the rig at %s does not come to the "
				       "end of its log",
				       r->where);
	}
	return 0;
}

void rig_cancel(struct rig *r)
{
	r->cancelled = true;
}

void rig_resume(struct rig *r)
{
	r->cancelled = false;
}

/* ---- open and close ---- */

static bool has_answered(struct rig *r)
{
	return r->session.state == SESSION_UP ||
	       r->session.state == SESSION_ALIEN;
}

static void init_session(struct rig *r)
{
	struct session_cfg cfg = {
		.role = SESSION_HOST,
		.major = SESSION_MAJOR,
		.minor = SESSION_MINOR,
		.lowest_major = SESSION_LOWEST_MAJOR,
		.schema = SCHEMA_HASH,
		.ops = &session_ops,
		.arg = r,
		.packets = r->packets,
		.payloads = r->payloads,
		.payload_max = FRAME_PAYLOAD_MAX,
		.window = CLIENT_WINDOW,
		.tx = r->tx,
		.tx_size = CLIENT_TX,
	};

	session_init(&r->session, &cfg);
}

static void init_clock(struct rig *r)
{
	double byte_us = 0;

	if (r->address.carrier == RIG_SERIAL)
		byte_us = 10e6 / (r->address.baud ? r->address.baud : 115200);
	timefit_init(&r->clock, PING_WIRE_BYTES * byte_us,
		     PONG_WIRE_BYTES * byte_us);
}

static void init_timer(struct rig *r, uv_timer_t *t)
{
	uv_timer_init(r->loop, t);
	t->data = r;
	r->handles++;
}

static char *copy_text(const char *s)
{
	return s ? strdup(s) : NULL;
}

static struct rig *rig_new(const struct rig_cfg *cfg)
{
	struct rig *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->loop = cfg->loop;
	r->address = cfg->address;
	r->path = copy_text(cfg->address.path);
	r->usb_serial = copy_text(cfg->address.usb_serial);
	r->address.path = r->path;
	r->address.usb_serial = r->usb_serial;
	r->ops = cfg->ops;
	r->arg = cfg->arg;
	r->answer_ms = cfg->answer_ms ? cfg->answer_ms : RIG_ANSWER_MS;
	r->last_event = cfg->events_since;
	r->next_op_id = ((uint64_t)random_bits(NULL) << 32 |
			 (random_bits(NULL) & 0xff000000u)) +
			1;
	r->io.fd = -1;
	transport_name(&r->address, r->where, sizeof(r->where));
	init_session(r);
	init_clock(r);
	init_timer(r, &r->timer);
	init_timer(r, &r->reopen);
	init_timer(r, &r->wait);
	return r;
}

static int shake_hands(struct rig *r, uint32_t ms, struct err *err)
{
	int rc = client_wait(r, has_answered, ms);

	if (rc == -ECANCELED)
		return err_set(err, rc, "interrupted");
	if (rc && r->io.fd < 0)
		return err_set(err, -ENOTCONN, "the rig is gone: %s", r->why);
	if (rc)
		return err_set(err, -ETIMEDOUT,
			       "the rig at %s is silent: no answer to HELLO "
			       "within %u ms; is it powered, and does no other "
			       "program hold the line?",
			       r->where, ms);
	if (r->session.state == SESSION_ALIEN)
		return err_set(err, -EPROTO,
			       "the rig at %s speaks protocol %u to %u and "
			       "this bay speaks %u to %u: update the older one",
			       r->where, r->peer.lowest_major, r->peer.major,
			       SESSION_LOWEST_MAJOR, SESSION_MAJOR);
	return 0;
}

int rig_open(const struct rig_cfg *cfg, struct rig **out, struct err *err)
{
	struct rig *r = rig_new(cfg);
	int rc;

	if (!r)
		return err_set(err, -ENOMEM, "out of memory");
	rc = carrier_open(r, err);
	if (!rc)
		rc = shake_hands(r, cfg->open_ms ? cfg->open_ms : RIG_OPEN_MS,
				 err);
	if (rc < 0) {
		rig_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

static void on_timer_closed(uv_handle_t *h)
{
	((struct rig *)h->data)->handles--;
}

void rig_close(struct rig *r)
{
	if (!r)
		return;
	r->ops = NULL;
	carrier_close(r);
	uv_close((uv_handle_t *)&r->timer, on_timer_closed);
	uv_close((uv_handle_t *)&r->reopen, on_timer_closed);
	uv_close((uv_handle_t *)&r->wait, on_timer_closed);
	while (r->handles)
		uv_run(r->loop, UV_RUN_ONCE);
	free(r->path);
	free(r->usb_serial);
	free(r);
}

/* ---- state ---- */

bool rig_is_connected(const struct rig *r)
{
	return r->session.state == SESSION_UP;
}

const struct control_info *rig_hello(const struct rig *r)
{
	return &r->info;
}

const struct control_hello *rig_peer(const struct rig *r)
{
	return &r->peer;
}

const char *rig_where(const struct rig *r)
{
	return r->where;
}

const struct session_stats *rig_link_stats(const struct rig *r)
{
	return &r->session.stats;
}

uint32_t rig_rtt_us(const struct rig *r)
{
	return r->rtt_us;
}

void rig_clock_get(const struct rig *r, struct rig_clock *out)
{
	*out = (struct rig_clock){
		.valid = timefit_is_valid(&r->clock),
		.rate_ppm = (r->clock.rate - 1.0) * 1e6,
		.bound_us =
			timefit_bound_us(&r->clock, (double)client_now_us()),
		.samples = r->clock.count,
	};
}

bool rig_to_host_ns(const struct rig *r, uint64_t mcu_us, int64_t *raw_ns,
		    double *bound_us)
{
	double us;

	if (!timefit_is_valid(&r->clock))
		return false;
	us = timefit_to_host_us(&r->clock, (double)mcu_us);
	*raw_ns = (int64_t)(us * 1000);
	if (bound_us)
		*bound_us = timefit_bound_us(&r->clock, us);
	return true;
}

bool rig_from_host_ns(const struct rig *r, int64_t raw_ns, uint64_t *mcu_us)
{
	double us;

	if (!timefit_is_valid(&r->clock))
		return false;
	us = timefit_to_rig_us(&r->clock, (double)raw_ns / 1000);
	*mcu_us = us > 0 ? (uint64_t)us : 0;
	return true;
}
