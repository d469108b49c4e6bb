#include "firmware/app/link.h"

#include <string.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "firmware/app/commands.h"
#include "firmware/app/power.h"
#include "firmware/hal/clock.h"
#include "firmware/hal/reset.h"
#include "firmware/hal/uart.h"
#include "proto/schema.h"

#define READ_BYTES 64u

/* One entry of the window stays free for the result of a command. */
#define WINDOW_SPARE 1u

static void take_event_ack(struct app *app, const uint8_t *payload, size_t len)
{
	EventAck ack = EventAck_init_zero;
	pb_istream_t in = pb_istream_from_buffer(payload, len);

	if (pb_decode(&in, EventAck_fields, &ack))
		events_ack(app->events, ack.number);
}

static bool on_receive(void *arg, uint8_t channel, uint8_t flags,
		       const uint8_t *payload, size_t len)
{
	struct app *app = arg;

	(void)flags;
	if (channel == CHANNEL_EVENT) {
		take_event_ack(app, payload, len);
		return true;
	}
	if (channel != CHANNEL_COMMAND)
		return true;
	/* A command without room for its result waits. */
	if (!session_window_free(&app->link.session))
		return false;
	commands_execute(app, payload, len);
	return true;
}

static void on_up(void *arg, const struct control_hello *peer,
		  const struct control_info *info)
{
	struct app *app = arg;

	(void)peer;
	(void)info;
	app->link.event_sent = app->events->acked;
	logring_skip(&app->log);
}

/* A host that ends says nothing, and the next one takes over: no news. One that
 * is heard but does not acknowledge sits behind a bad line. */
static void on_lost(void *arg, enum session_loss why)
{
	struct app *app = arg;

	if (why != SESSION_LOST_REPLACED &&
	    app->silence.level == SILENCE_LEVEL_HEARD)
		LOG(app, LOG_WARNING, "the link is lost: %s",
		    session_loss_name(why));
}

static void copy_text(char dst[CONTROL_TEXT_BYTES], const char *src)
{
	size_t len = strnlen(src, CONTROL_TEXT_BYTES - 1);

	memset(dst, 0, CONTROL_TEXT_BYTES);
	memcpy(dst, src, len);
}

static void on_info(void *arg, struct control_info *info)
{
	struct app *app = arg;
	Info i = Info_init_zero;

	commands_fill_info(app, &i);
	copy_text(info->firmware, i.firmware);
	copy_text(info->board, i.board);
	info->board_revision = (uint16_t)i.board_revision;
	memcpy(info->unique_id, i.unique_id.bytes, i.unique_id.size);
	info->slots = (uint8_t)i.slots;
	info->window = (uint8_t)i.window;
	info->max_frame = (uint16_t)i.max_frame;
	info->features = i.features;
	info->reset_cause = (uint8_t)i.reset;
	info->boot_id = i.boot_id;
	info->config_generation = i.config_generation;
	info->config_crc = i.config_crc;
	info->last_event = i.last_event;
	info->fault_mask = i.fault_mask;
}

static void on_all_off(void *arg)
{
	power_all_off(arg, 0, hal_clock_us());
}

static const struct session_ops session_ops = {
	.receive = on_receive,
	.up = on_up,
	.lost = on_lost,
	.info = on_info,
	.all_off = on_all_off,
};

void link_init(struct app *app)
{
	struct app_link *l = &app->link;
	struct session_cfg cfg = {
		.role = SESSION_RIG,
		.major = SESSION_MAJOR,
		.minor = SESSION_MINOR,
		.lowest_major = SESSION_LOWEST_MAJOR,
		.schema = SCHEMA_HASH,
		.ops = &session_ops,
		.arg = app,
		.packets = l->packets,
		.payloads = l->payloads,
		.payload_max = APP_PAYLOAD_MAX,
		.window = APP_WINDOW,
		.tx = l->tx,
		.tx_size = APP_TX_BYTES,
	};

	opcache_init(&l->ops);
	session_init(&l->session, &cfg);
}

void link_events_since(struct app *app, uint32_t number)
{
	app->link.event_sent = number;
}

static void fill_event(Event *out, const struct event *e)
{
	out->number = e->number;
	out->kind = e->kind;
	out->at_us = e->at_us;
	out->slot = e->slot;
	out->state = e->state;
	out->fault = e->fault;
	out->value = e->value;
	out->mv_5v = e->vi.mv[RAIL_5V];
	out->ma_5v = e->vi.ma[RAIL_5V];
	out->mv_12v = e->vi.mv[RAIL_12V];
	out->ma_12v = e->vi.ma[RAIL_12V];
	out->fall_us = e->fall_us;
	out->op_id = e->op_id;
	out->boot_id = e->boot_id;
}

static bool send_event(struct app *app, const struct event *e)
{
	Event message = Event_init_zero;
	uint8_t buf[Event_size];
	pb_ostream_t out = pb_ostream_from_buffer(buf, sizeof(buf));

	fill_event(&message, e);
	return pb_encode(&out, Event_fields, &message) &&
	       session_send(&app->link.session, CHANNEL_EVENT, 0, buf,
			    out.bytes_written) == SESSION_OK;
}

static void send_events(struct app *app)
{
	struct app_link *l = &app->link;
	struct event e;

	while (session_window_free(&l->session) > WINDOW_SPARE &&
	       events_after(app->events, l->event_sent, &e)) {
		if (!send_event(app, &e))
			return;
		l->event_sent = e.number;
	}
}

static bool send_line(struct session *s, const LogLine *line, uint64_t now_us)
{
	uint8_t buf[LogLine_size];
	pb_ostream_t out = pb_ostream_from_buffer(buf, sizeof(buf));

	return pb_encode(&out, LogLine_fields, line) &&
	       session_send_unreliable(s, CHANNEL_LOG, buf, out.bytes_written,
				       now_us) == SESSION_OK;
}

/* When no event waits, so that a reader gets what was before first. A line
 * stays in the ring until there is room for it. */
static void send_log(struct app *app, uint64_t now_us)
{
	struct session *s = &app->link.session;
	LogLine line = LogLine_init_zero;

	if (app->link.event_sent < events_last(app->events))
		return;
	while (session_has_room(s, LogLine_size) &&
	       logring_peek(&app->log, &line) && send_line(s, &line, now_us))
		logring_pop(&app->log);
}

static void receive(struct app *app)
{
	uint8_t buf[READ_BYTES];
	uint64_t at_us = 0;
	size_t n;

	while ((n = hal_uart_read(buf, sizeof(buf), &at_us)) > 0)
		session_rx(&app->link.session, buf, n, at_us);
}

static void transmit(struct app *app)
{
	struct session *s = &app->link.session;
	size_t len;
	const uint8_t *bytes = session_tx(s, &len);

	while (len) {
		size_t n = hal_uart_write(bytes, len);

		if (!n)
			return;
		session_tx_done(s, n, hal_clock_us());
		bytes = session_tx(s, &len);
	}
}

/* The host is heard by every whole frame of its session. */
static void note_host(struct app *app)
{
	const struct session *s = &app->link.session;

	if (s->state == SESSION_UP && s->last_rx_us > app->silence.heard_us)
		silence_heard(&app->silence, s->last_rx_us);
}

static void reset_when_told(struct app *app)
{
	size_t len;

	session_tx(&app->link.session, &len);
	if (app->link.reset_wanted && !len)
		hal_reset(RESET_SOFTWARE);
}

void link_run(struct app *app, uint64_t now_us)
{
	receive(app);
	note_host(app);
	send_events(app);
	session_poll(&app->link.session, now_us);
	send_log(app, now_us);
	transmit(app);
	reset_when_told(app);
	app->checkins |= CHECKIN_LINK;
}

uint64_t link_next_us(const struct app *app, uint64_t now_us)
{
	size_t len;

	session_tx(&app->link.session, &len);
	if (len)
		return now_us; /* the transmitter has no interrupt */
	return session_deadline_us(&app->link.session, now_us);
}
