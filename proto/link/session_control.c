/* Channel 0: the handshake, pings, and ALL_OFF, which needs no session. */
#include "proto/link/session_priv.h"

#define HELLO_WAIT_FIRST_US 100000u
#define ALL_OFF_REPEAT_US   100000u

bool session_emit_control(struct session *s, const struct control *c,
			  uint16_t session, uint64_t now_us)
{
	uint8_t payload[CONTROL_BYTES_MAX];
	struct frame f = {
		.channel = CHANNEL_LINK,
		.session = session,
		.seq = s->tx_seq[CHANNEL_LINK],
		.payload = payload,
		.len = control_encode(c, payload),
	};

	if (!session_emit(s, &f, now_us))
		return false;
	s->tx_seq[CHANNEL_LINK]++;
	return true;
}

/* Never 0, never the last one. */
static uint16_t another_id(uint16_t last, uint32_t random)
{
	uint16_t id = (uint16_t)random;

	while (!id || id == last)
		id++;
	return id;
}

void session_begin_hello(struct session *s, uint64_t now_us)
{
	s->id = another_id(s->id, s->cfg.ops->random(s->cfg.arg));
	session_reset_streams(s);
	s->state = SESSION_HELLO;
	s->hello_at_us = now_us;
	s->hello_wait_us = HELLO_WAIT_FIRST_US;
	s->hello_time_us = now_us;
	s->need_lead = true;
}

static void come_up(struct session *s, const struct control_hello *peer,
		    const struct control_info *info, uint64_t at_us)
{
	bool common = peer->major >= s->cfg.lowest_major &&
		      peer->lowest_major <= s->cfg.major;

	s->peer = *peer;
	s->state = common ? SESSION_UP : SESSION_ALIEN;
	s->last_rx_us = at_us;
	s->progress_us = at_us;
	s->ping_at_us = at_us;
	if (s->cfg.ops->up)
		s->cfg.ops->up(s->cfg.arg, peer, info);
}

/* ---- receiving ---- */

/* The rig says so once a poll, so that a host notices a reset at once; a host
 * just ignores what is left over. */
static void rx_alien(struct session *s, const struct frame *f)
{
	s->stats.rx_alien++;
	if (s->cfg.role != SESSION_RIG || s->state == SESSION_ALIEN)
		return;
	s->no_session_pending = true;
	s->no_session_id = f->session;
}

bool session_rx_is_ours(struct session *s, const struct frame *f,
			uint64_t at_us)
{
	if (!session_is_connected(s) || f->session != s->id) {
		rx_alien(s, f);
		return false;
	}
	s->last_rx_us = at_us;
	return true;
}

static void rx_hello(struct session *s, const struct control_hello *h,
		     uint64_t at_us)
{
	bool repeat = session_is_connected(s) && h->session == s->id &&
		      h->time_us == s->hello_time_us;

	if (!repeat) {
		if (session_is_connected(s))
			session_lose(s, SESSION_LOST_REPLACED);
		session_reset_streams(s);
		s->no_session_pending = false;
		s->id = h->session;
		s->hello_time_us = h->time_us;
		come_up(s, h, NULL, at_us);
	}
	s->last_rx_us = at_us;
	s->hello_ack_pending = true;
}

static void rx_pong(struct session *s, struct control_stamps *stamps,
		    uint64_t at_us)
{
	bool for_clock =
		stamps->id <= SESSION_PINGS_FAST || stamps->id % 2 == 0;

	stamps->host_rx_us = at_us;
	if (!s->have_rtt && at_us >= stamps->host_sent_us)
		session_rtt_sample(s, at_us - stamps->host_sent_us);
	if (s->cfg.ops->pong)
		s->cfg.ops->pong(s->cfg.arg, stamps, for_clock);
}

/* What belongs to a session. */
static void rx_in(struct session *s, struct control *c, uint64_t at_us)
{
	if (c->kind == CONTROL_PING && s->cfg.role == SESSION_RIG) {
		s->pong = c->stamps;
		s->pong.rig_rx_us = at_us;
		s->pong_pending = true;
	}
	if (c->kind == CONTROL_PONG && s->cfg.role == SESSION_HOST)
		rx_pong(s, &c->stamps, at_us);
}

/* What counts outside of any session. false: of another kind. */
static bool rx_out(struct session *s, const struct control *c, uint64_t at_us)
{
	bool rig = s->cfg.role == SESSION_RIG;

	switch (c->kind) {
	case CONTROL_HELLO:
		if (rig && c->hello.session)
			rx_hello(s, &c->hello, at_us);
		return true;
	case CONTROL_HELLO_ACK:
		if (!rig && s->state == SESSION_HELLO &&
		    c->hello.session == s->id)
			come_up(s, &c->hello, &c->info, at_us);
		return true;
	case CONTROL_NO_SESSION:
		if (!rig && session_is_connected(s) && c->session == s->id)
			session_lose_and_retry(s, SESSION_LOST_FORGOTTEN,
					       at_us);
		return true;
	case CONTROL_ALL_OFF:
		if (rig) {
			s->cfg.ops->all_off(s->cfg.arg);
			s->all_off_ack_pending = true;
			s->all_off_token = c->token;
		}
		return true;
	case CONTROL_ALL_OFF_ACK:
		if (!rig && s->all_off_wanted && c->token == s->all_off_token) {
			s->all_off_wanted = false;
			if (s->cfg.ops->all_off_done)
				s->cfg.ops->all_off_done(s->cfg.arg);
		}
		return true;
	default:
		return false;
	}
}

bool session_rx_control(struct session *s, const struct frame *f,
			uint64_t at_us)
{
	struct control c;

	if (!control_decode(f->payload, f->len, &c)) {
		s->stats.rx_alien++;
		return false;
	}
	if (rx_out(s, &c, at_us) || !session_rx_is_ours(s, f, at_us))
		return false;
	rx_in(s, &c, at_us);
	return true;
}

/* ---- poll, the host ---- */

static void fill_hello(const struct session *s, struct control_hello *h,
		       uint64_t time_us)
{
	*h = (struct control_hello){
		.major = s->cfg.major,
		.minor = s->cfg.minor,
		.lowest_major = s->cfg.lowest_major,
		.session = s->id,
		.schema = s->cfg.schema,
		.time_us = time_us,
	};
}

static void poll_hello(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_HELLO };

	if (s->state != SESSION_HELLO || now_us < s->hello_at_us)
		return;
	fill_hello(s, &c.hello, s->hello_time_us);
	session_emit_control(s, &c, s->id, now_us);
	s->hello_at_us = now_us + s->hello_wait_us;
	s->hello_wait_us *= 2;
	if (s->hello_wait_us > SESSION_RTO_MAX_US)
		s->hello_wait_us = SESSION_RTO_MAX_US;
}

static void poll_ping(struct session *s, uint64_t now_us)
{
	struct control c = {
		.kind = CONTROL_PING,
		.stamps = { .id = (uint16_t)(s->ping_id + 1),
			    .host_sent_us = now_us },
	};

	if (!session_is_connected(s) || now_us < s->ping_at_us)
		return;
	if (!session_emit_control(s, &c, s->id, now_us)) {
		s->ping_at_us = now_us + SESSION_NO_ROOM_US;
		return;
	}
	s->ping_id++;
	s->pings++;
	s->ping_at_us =
		now_us + (s->pings < SESSION_PINGS_FAST ? SESSION_PING_FAST_US
							: SESSION_PING_US);
}

void session_all_off(struct session *s, uint64_t now_us)
{
	s->all_off_wanted = true;
	s->all_off_token = s->cfg.ops->random(s->cfg.arg);
	s->all_off_at_us = now_us;
}

static void poll_all_off(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_ALL_OFF,
			     .token = s->all_off_token };

	if (!s->all_off_wanted || now_us < s->all_off_at_us)
		return;
	session_emit_control(s, &c, s->id, now_us);
	s->all_off_at_us = now_us + ALL_OFF_REPEAT_US;
}

static void poll_host(struct session *s, uint64_t now_us)
{
	poll_all_off(s, now_us);
	if (session_is_connected(s) &&
	    now_us >= s->last_rx_us + SESSION_SILENT_US)
		session_lose_and_retry(s, SESSION_LOST_SILENT, now_us);
	poll_hello(s, now_us);
	poll_ping(s, now_us);
}

static uint64_t host_deadline_us(const struct session *s)
{
	uint64_t at = UINT64_MAX;

	if (s->all_off_wanted)
		at = session_earlier(at, s->all_off_at_us);
	if (s->state == SESSION_HELLO)
		at = session_earlier(at, s->hello_at_us);
	if (session_is_connected(s)) {
		at = session_earlier(at, s->ping_at_us);
		at = session_earlier(at, s->last_rx_us + SESSION_SILENT_US);
	}
	return at;
}

/* ---- poll, the rig ---- */

static void poll_hello_ack(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_HELLO_ACK };

	if (!s->hello_ack_pending)
		return;
	fill_hello(s, &c.hello, now_us);
	c.info.window = s->cfg.window;
	c.info.max_frame = FRAME_PAYLOAD_MAX;
	s->cfg.ops->info(s->cfg.arg, &c.info);
	if (session_emit_control(s, &c, s->id, now_us))
		s->hello_ack_pending = false;
}

static void poll_pong(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_PONG, .stamps = s->pong };

	if (!s->pong_pending || s->hello_ack_pending)
		return;
	c.stamps.rig_tx_us = now_us;
	if (session_emit_control(s, &c, s->id, now_us))
		s->pong_pending = false;
}

static void poll_all_off_ack(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_ALL_OFF_ACK,
			     .token = s->all_off_token };

	if (s->all_off_ack_pending &&
	    session_emit_control(s, &c, s->id, now_us))
		s->all_off_ack_pending = false;
}

static void poll_no_session(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_NO_SESSION,
			     .session = s->no_session_id };

	if (s->no_session_pending &&
	    session_emit_control(s, &c, s->no_session_id, now_us))
		s->no_session_pending = false;
}

static void poll_rig(struct session *s, uint64_t now_us)
{
	poll_all_off_ack(s, now_us);
	poll_hello_ack(s, now_us);
	poll_no_session(s, now_us);
	poll_pong(s, now_us);
}

/* ---- poll, either ---- */

void session_poll_control(struct session *s, uint64_t now_us)
{
	if (s->cfg.role == SESSION_HOST)
		poll_host(s, now_us);
	else
		poll_rig(s, now_us);
}

uint64_t session_control_due_us(const struct session *s, uint64_t now_us)
{
	uint64_t at = UINT64_MAX;
	bool pending = s->hello_ack_pending || s->no_session_pending ||
		       s->pong_pending || s->all_off_ack_pending;

	if (s->cfg.role == SESSION_HOST)
		at = host_deadline_us(s);
	if (pending)
		at = session_earlier(at, now_us + SESSION_NO_ROOM_US);
	return at;
}
