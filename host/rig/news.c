/* What the session tells of the rig: events, telemetry, its log, its state. */
#include "host/rig/client.h"

#include <stdio.h>
#include <sys/random.h>

#include "host/util/log.h"

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

uint32_t news_random(void *arg)
{
	uint32_t x = 0;

	(void)arg;
	/* Cannot fail for so few bytes once the machine has booted. */
	if (getrandom(&x, sizeof(x), 0) != sizeof(x))
		x = (uint32_t)client_now_us();
	return x;
}

const struct session_ops news_ops = {
	.receive = on_receive,
	.up = on_up,
	.lost = on_lost,
	.pong = on_pong,
	.all_off_done = on_all_off_done,
	.random = news_random,
};

void news_ack_events(struct rig *r)
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

void news_ask_events(struct rig *r)
{
	Command c = COMMAND__INIT;
	EventsSince since = EVENTS_SINCE__INIT;

	if (!r->ask_events)
		return;
	since.number = r->last_event;
	since.log = r->ops && r->ops->log;
	c.body_case = COMMAND__BODY_EVENTS_SINCE;
	c.events_since = &since;
	r->ask_events = !op_send_aside(r, &c, NULL);
}
