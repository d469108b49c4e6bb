/* The rig's client: waiting, opening and closing, and what it knows. */
#include "host/rig/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/schema.h"

/* PING and PONG on the wire, both delimiters' bits included. */
#define PING_WIRE_BYTES 26.0
#define PONG_WIRE_BYTES 43.0

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
		.ops = &news_ops,
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
	r->next_op_id = ((uint64_t)news_random(NULL) << 32 |
			 (news_random(NULL) & 0xff000000u)) +
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
