#include "host/rig/tests/fake_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t now_us(void)
{
	return uv_hrtime() / 1000;
}

static void pump(struct fake_rig *f);

void fake_rig_event(struct fake_rig *f, unsigned slot, SlotState state)
{
	f->last_event++;
	f->event_slot[f->last_event % FAKE_EVENTS] = slot;
	f->event_state[f->last_event % FAKE_EVENTS] = state;
}

void fake_rig_line(struct fake_rig *f, const char *text)
{
	f->last_line++;
	f->line[f->last_line % FAKE_LINES] = text;
}

/* ---- commands ---- */

static void set_slot(struct fake_rig *f, unsigned i, bool on)
{
	SlotState to = on ? SLOT_STATE__SLOT_ON : SLOT_STATE__SLOT_OFF;

	if (on && f->fault && (f->fault_slots >> i & 1))
		to = SLOT_STATE__SLOT_FAULT;
	if (f->stuck)
		to = SLOT_STATE__SLOT_QUEUED;
	f->slot[i] = to;
	fake_rig_event(f, i, to);
}

static void slot_set(struct fake_rig *f, const SlotSet *set)
{
	f->slot_sets++;
	for (unsigned i = 0; i < FAKE_SLOTS; i++)
		if (set->mask & 1u << i)
			set_slot(f, i, set->on);
}

static bool take(bool *once)
{
	bool was = *once;

	*once = false;
	return was;
}

/* What one message says, built on the stack. */
struct answer {
	Result result;
	Info info;
	SlotStatus status;
	Rail v5, v12;
	Op op;
	SlotConfig slot;
	RigConfig rig;
};

static void fill_status(struct fake_rig *f, struct answer *a, unsigned slot)
{
	slot_status__init(&a->status);
	rail__init(&a->v5);
	rail__init(&a->v12);
	a->status.slot = slot;
	a->status.state = f->slot[slot % FAKE_SLOTS];
	if (a->status.state == SLOT_STATE__SLOT_FAULT)
		a->status.fault = f->fault;
	a->status.fault_event = 77;
	a->status.fall_us = 88000;
	a->status.residual_5v_mv = 120;
	a->status.residual_12v_mv = 310;
	a->status.v5 = &a->v5;
	a->status.v12 = &a->v12;
	a->result.body_case = RESULT__BODY_SLOT_STATUS;
	a->result.slot_status = &a->status;
}

static void fill_info(struct fake_rig *f, struct answer *a)
{
	info__init(&a->info);
	a->info.firmware = (char *)"fake";
	a->info.board = (char *)"fake";
	a->info.slots = FAKE_SLOTS;
	a->info.boot_id = f->boot_id;
	a->info.config_generation = f->generation;
	a->info.config_crc = f->crc;
	a->info.last_event = f->last_event;
	a->info.log_waiting = f->last_line - f->line_sent;
	a->result.body_case = RESULT__BODY_INFO;
	a->result.info = &a->info;
}

static void fill_op(struct fake_rig *f, struct answer *a, uint64_t op_id)
{
	const struct opcache_entry *e = opcache_find(&f->cache, op_id);

	if (!e) {
		a->result.status = RIG_STATUS__RIG_UNKNOWN_OP;
		return;
	}
	op__init(&a->op);
	a->op.op_id = op_id;
	a->op.status = (RigStatus)e->status;
	a->result.body_case = RESULT__BODY_OP;
	a->result.op = &a->op;
}

static void fill_config(struct answer *a, const ConfigGet *get)
{
	rig_config__init(&a->rig);
	slot_config__init(&a->slot);
	a->rig.budget_12v_ma = 14000;
	a->slot.slot = get->slot;
	a->slot.min_off_ms = 5000;
	a->slot.serial = (char *)"OLD";
	a->result.body_case =
		get->rig ? RESULT__BODY_RIG_CONFIG : RESULT__BODY_SLOT_CONFIG;
	if (get->rig)
		a->result.rig_config = &a->rig;
	else
		a->result.slot_config = &a->slot;
}

static RigStatus commit(struct fake_rig *f, const ConfigCommit *c)
{
	if (f->staged_slots != FAKE_SLOTS || c->generation <= f->generation)
		return RIG_STATUS__RIG_INVALID;
	f->generation = c->generation;
	f->crc = c->crc;
	f->commits++;
	return RIG_STATUS__RIG_OK;
}

static void execute(struct fake_rig *f, const Command *c, struct answer *a)
{
	switch (c->body_case) {
	case COMMAND__BODY_SLOT_SET:
		a->result.status = f->refuse;
		if (f->refuse == RIG_STATUS__RIG_OK)
			slot_set(f, c->slot_set);
		break;
	case COMMAND__BODY_ARM_SILENCE:
		for (unsigned i = 0; i < FAKE_SLOTS; i++)
			if (c->arm_silence->mask & 1u << i)
				f->armed[i] = c->arm_silence->policy;
		break;
	case COMMAND__BODY_GET_STATUS:
		fill_status(f, a, c->get_status->slot);
		break;
	case COMMAND__BODY_GET_INFO:
		fill_info(f, a);
		break;
	case COMMAND__BODY_GET_OP:
		fill_op(f, a, c->get_op->op_id);
		break;
	case COMMAND__BODY_EVENTS_SINCE:
		f->event_sent = c->events_since->number;
		if (c->events_since->log)
			f->line_sent = 0;
		break;
	case COMMAND__BODY_CONFIG_GET:
		fill_config(a, c->config_get);
		break;
	case COMMAND__BODY_CONFIG_BEGIN:
		f->staged_slots = 0;
		break;
	case COMMAND__BODY_CONFIG_SLOT:
		f->staged_slots++;
		break;
	case COMMAND__BODY_CONFIG_RIG:
		break;
	case COMMAND__BODY_CONFIG_COMMIT:
		a->result.status = commit(f, c->config_commit);
		break;
	default:
		a->result.status = RIG_STATUS__RIG_UNSUPPORTED;
		a->result.detail = c->body_case;
	}
}

static bool is_write(const Command *c)
{
	return c->body_case == COMMAND__BODY_SLOT_SET;
}

/* Misdeeds around SlotSet. Returns true when it goes unanswered. */
static bool misbehave(struct fake_rig *f, const Command *c)
{
	if (c->body_case != COMMAND__BODY_SLOT_SET)
		return false;
	if (take(&f->drop_after_slot_set)) {
		f->hang_up = true;
		return true;
	}
	if (take(&f->reset_after_slot_set)) {
		fake_rig_reset(f);
		f->hang_up = true;
		return true;
	}
	return f->dumb_to_slot_set;
}

static void answer_command(struct fake_rig *f, const Command *c)
{
	const struct opcache_entry *known = opcache_find(&f->cache, c->op_id);
	struct answer a;
	uint8_t bytes[492];
	size_t len;

	result__init(&a.result);
	a.result.op_id = c->op_id;
	if (known) {
		f->duplicates++;
		a.result.status = (RigStatus)known->status;
	} else {
		execute(f, c, &a);
		if (is_write(c))
			opcache_store(
				&f->cache,
				&(struct opcache_entry){
					.op_id = c->op_id,
					.status = (uint32_t)a.result.status });
	}
	if (misbehave(f, c))
		return;
	len = result__pack(&a.result, bytes);
	session_send(&f->session, CHANNEL_COMMAND, known ? FRAME_DUP_RESULT : 0,
		     bytes, len);
}

static bool on_receive(void *arg, uint8_t channel, uint8_t flags,
		       const uint8_t *payload, size_t len)
{
	struct fake_rig *f = arg;
	EventAck *ack;
	Command *c;

	(void)flags;
	if (f->hang_up)
		return false;
	if (channel == CHANNEL_EVENT) {
		ack = event_ack__unpack(NULL, len, payload);
		f->event_acked = ack->number;
		event_ack__free_unpacked(ack, NULL);
		return true;
	}
	if (!session_window_free(&f->session))
		return false;
	c = command__unpack(NULL, len, payload);
	if (c->body_case == COMMAND__BODY_SLOT_SET &&
	    take(&f->drop_before_slot_set))
		f->hang_up = true;
	else
		answer_command(f, c);
	command__free_unpacked(c, NULL);
	return true;
}

/* ---- events ---- */

static void send_events(struct fake_rig *f)
{
	while (f->event_sent < f->last_event &&
	       session_window_free(&f->session) > 1) {
		uint32_t n = f->event_sent + 1;
		Event e = EVENT__INIT;
		uint8_t bytes[64];
		size_t len;

		e.number = n;
		e.kind = EVENT_KIND__EVENT_SLOT_STATE;
		e.slot = f->event_slot[n % FAKE_EVENTS];
		e.state = f->event_state[n % FAKE_EVENTS];
		e.boot_id = f->boot_id;
		len = event__pack(&e, bytes);
		session_send(&f->session, CHANNEL_EVENT, 0, bytes, len);
		f->event_sent = n;
	}
}

/* One a turn, so that asking once is not enough to have them all. */
static void send_line(struct fake_rig *f)
{
	LogLine l = LOG_LINE__INIT;
	uint8_t bytes[256];
	size_t len;

	if (f->event_sent < f->last_event || f->line_sent == f->last_line)
		return;
	l.sequence = f->line_sent + 1;
	l.text = (char *)f->line[l.sequence % FAKE_LINES];
	l.level = 1;
	len = log_line__pack(&l, bytes);
	if (session_send_unreliable(&f->session, CHANNEL_LOG, bytes, len,
				    now_us()) == SESSION_OK)
		f->line_sent = l.sequence;
}

/* ---- session ---- */

static void on_up(void *arg, const struct control_hello *peer,
		  const struct control_info *info)
{
	struct fake_rig *f = arg;

	(void)peer;
	(void)info;
	f->hellos++;
	f->event_sent = f->event_acked;
	f->line_sent = f->last_line;
}

static void on_info(void *arg, struct control_info *info)
{
	struct fake_rig *f = arg;

	strcpy(info->firmware, "fake");
	strcpy(info->board, "fake");
	info->slots = FAKE_SLOTS;
	info->boot_id = f->boot_id;
	info->last_event = f->last_event;
	info->config_generation = f->generation;
	info->config_crc = f->crc;
}

static void on_all_off(void *arg)
{
	struct fake_rig *f = arg;

	f->all_off_done = true;
	for (unsigned i = 0; i < FAKE_SLOTS; i++)
		f->slot[i] = SLOT_STATE__SLOT_OFF;
}

static const struct session_ops ops = {
	.receive = on_receive,
	.up = on_up,
	.info = on_info,
	.all_off = on_all_off,
};

static void init_session(struct fake_rig *f, uint8_t major)
{
	struct session_cfg cfg = {
		.role = SESSION_RIG,
		.major = major,
		.lowest_major = major,
		.schema = 1,
		.ops = &ops,
		.arg = f,
		.packets = f->packets,
		.payloads = f->payloads,
		.payload_max = 492,
		.window = 4,
		.tx = f->tx,
		.tx_size = sizeof(f->tx),
	};

	session_init(&f->session, &cfg);
}

void fake_rig_reset(struct fake_rig *f)
{
	init_session(f, f->session.cfg.major);
	opcache_init(&f->cache);
	f->boot_id++;
	f->last_line = 0;
	f->line_sent = 0;
	for (unsigned i = 0; i < FAKE_SLOTS; i++)
		f->slot[i] = SLOT_STATE__SLOT_OFF;
}

/* ---- bytes ---- */

static void accept_client(struct fake_rig *f);

static void on_conn_closed(uv_handle_t *h)
{
	struct fake_rig *f = h->data;

	f->has_conn = false;
	if (f->waiting)
		accept_client(f);
}

void fake_rig_hang_up(struct fake_rig *f)
{
	f->hang_up = false;
	if (f->has_conn && !uv_is_closing((uv_handle_t *)&f->conn))
		uv_close((uv_handle_t *)&f->conn, on_conn_closed);
}

static void on_timer(uv_timer_t *h)
{
	pump(h->data);
}

static void flush(struct fake_rig *f)
{
	const uint8_t *bytes;
	size_t len;

	while (session_poll(&f->session, now_us()),
	       bytes = session_tx(&f->session, &len), len) {
		uv_buf_t b = uv_buf_init((char *)bytes, (unsigned)len);
		int n = uv_try_write((uv_stream_t *)&f->conn, &b, 1);

		if (n <= 0)
			return;
		session_tx_done(&f->session, (size_t)n, now_us());
	}
}

static void pump(struct fake_rig *f)
{
	if (f->hang_up) {
		fake_rig_hang_up(f);
		return;
	}
	if (!f->has_conn || uv_is_closing((uv_handle_t *)&f->conn) || f->deaf)
		return;
	send_events(f);
	send_line(f);
	flush(f);
	uv_timer_start(&f->timer, on_timer, 2, 0);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
	static char bytes[4096];

	(void)h;
	(void)want;
	*b = uv_buf_init(bytes, sizeof(bytes));
}

/* A zero ends a frame. */
static void count_frames(struct fake_rig *f, const char *bytes, ssize_t n)
{
	for (ssize_t i = 1; i < n; i++)
		if (!bytes[i] && bytes[i - 1])
			f->frames++;
	if (f->drop_at_frame && f->frames >= f->drop_at_frame) {
		f->drop_at_frame = 0;
		f->hang_up = true;
	}
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct fake_rig *f = s->data;

	if (n < 0) {
		fake_rig_hang_up(f);
		return;
	}
	if (f->deaf)
		return;
	count_frames(f, b->base, n);
	if (!f->hang_up)
		session_rx(&f->session, (const uint8_t *)b->base, (size_t)n,
			   now_us());
	pump(f);
}

static void accept_client(struct fake_rig *f)
{
	uv_pipe_init(f->loop, &f->conn, 0);
	f->conn.data = f;
	f->has_conn = true;
	f->waiting = false;
	uv_accept((uv_stream_t *)&f->server, (uv_stream_t *)&f->conn);
	uv_read_start((uv_stream_t *)&f->conn, on_alloc, on_read);
}

static void on_connection(uv_stream_t *s, int status)
{
	struct fake_rig *f = s->data;

	if (status < 0)
		return;
	if (f->has_conn)
		f->waiting = true;
	else
		accept_client(f);
}

void fake_rig_start(struct fake_rig *f, uv_loop_t *loop, uint8_t major)
{
	memset(f, 0, sizeof(*f));
	f->loop = loop;
	f->boot_id = 1;
	for (unsigned i = 0; i < FAKE_SLOTS; i++)
		f->slot[i] = SLOT_STATE__SLOT_OFF;
	opcache_init(&f->cache);
	init_session(f, major);
	snprintf(f->path, sizeof(f->path), "/tmp/bay-fake-rig-%d.sock",
		 (int)getpid());
	unlink(f->path);
	uv_timer_init(loop, &f->timer);
	f->timer.data = f;
	uv_pipe_init(loop, &f->server, 0);
	f->server.data = f;
	if (uv_pipe_bind(&f->server, f->path) ||
	    uv_listen((uv_stream_t *)&f->server, 4, on_connection))
		abort();
}

void fake_rig_stop(struct fake_rig *f)
{
	f->waiting = false;
	fake_rig_hang_up(f);
	uv_close((uv_handle_t *)&f->timer, NULL);
	uv_close((uv_handle_t *)&f->server, NULL);
	uv_run(f->loop, UV_RUN_DEFAULT);
	unlink(f->path);
}
