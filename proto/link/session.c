#include "proto/link/session.h"

#include <string.h>

#include "proto/link/cobs.h"

#define HELLO_WAIT_FIRST_US 100000u
#define ALL_OFF_REPEAT_US   100000u
#define NO_ROOM_RETRY_US    5000u

static bool is_reliable(unsigned channel)
{
	return channel == CHANNEL_COMMAND || channel == CHANNEL_EVENT ||
	       channel == CHANNEL_IMAGE;
}

static bool is_unreliable(unsigned channel)
{
	return channel == CHANNEL_TELEMETRY || channel == CHANNEL_DIAG ||
	       channel == CHANNEL_LOG;
}

static bool is_connected(const struct session *s)
{
	return s->state == SESSION_UP || s->state == SESSION_ALIEN;
}

static struct session_packet *packet_at(struct session *s, unsigned i)
{
	return &s->cfg.packets[(s->first + i) % s->cfg.window];
}

static uint8_t *payload_at(struct session *s, unsigned i)
{
	size_t row = (s->first + i) % s->cfg.window;

	return s->cfg.payloads + row * s->cfg.payload_max;
}

/* ---- transmit buffer ---- */

static size_t wire_bytes(size_t payload_len)
{
	return COBS_MAX(FRAME_HEADER_BYTES + payload_len + FRAME_CRC_BYTES) + 2;
}

static size_t tx_room(const struct session *s)
{
	return (size_t)s->cfg.tx_size - s->tx_len;
}

static uint8_t *tx_tail(struct session *s, size_t need)
{
	if (s->tx_head + s->tx_len + need > s->cfg.tx_size) {
		memmove(s->cfg.tx, s->cfg.tx + s->tx_head, s->tx_len);
		s->tx_head = 0;
	}
	return s->cfg.tx + s->tx_head + s->tx_len;
}

/* The receiver may have half a frame or noise from before a pause. */
static size_t put_lead(struct session *s, uint8_t *tail, uint64_t now_us)
{
	bool idle = !s->tx_len && now_us - s->tx_left_us > SESSION_IDLE_LEAD_US;

	if (!idle && !s->need_lead)
		return 0;
	s->need_lead = false;
	tail[0] = 0;
	return 1;
}

/* Fill in what all frames of this session share and queue it. false: no
 * room, nothing done. */
static bool emit(struct session *s, struct frame *f, uint64_t now_us)
{
	size_t need = wire_bytes(f->len);
	uint8_t *tail;
	size_t len;

	if (need > tx_room(s))
		return false;
	f->major = s->cfg.major;
	f->ack = s->expected;
	tail = tx_tail(s, need);
	len = put_lead(s, tail, now_us);
	len += frame_encode(f, tail + len, need - len);
	s->tx_len = (uint16_t)(s->tx_len + len);
	s->tx_queued += (uint32_t)len;
	s->stats.tx_frames++;
	if (f->session == s->id)
		s->ack_pending = false;
	return true;
}

static void tx_clear(struct session *s)
{
	s->tx_left = s->tx_queued;
	s->tx_head = 0;
	s->tx_len = 0;
	s->need_lead = true;
}

static bool emit_control(struct session *s, const struct control *c,
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

	if (!emit(s, &f, now_us))
		return false;
	s->tx_seq[CHANNEL_LINK]++;
	return true;
}

/* ---- life of a session ---- */

static void reset_streams(struct session *s)
{
	s->first = 0;
	s->count = 0;
	s->unsent = 0;
	s->tries = 0;
	s->backoff = 0;
	s->next_seq = 0;
	s->have_rtt = false;
	s->progress_us = 0;
	s->expected = 0;
	s->ack_pending = false;
	s->pong_pending = false;
	s->hello_ack_pending = false;
	s->pings = 0;
	s->ping_id = 0;
	memset(s->unreliable_seen, 0, sizeof(s->unreliable_seen));
	memset(s->tx_seq, 0, sizeof(s->tx_seq));
}

static void lose(struct session *s, enum session_loss why)
{
	s->state = SESSION_DOWN;
	reset_streams(s);
	tx_clear(s);
	s->stats.losses++;
	if (s->cfg.ops->lost)
		s->cfg.ops->lost(s->cfg.arg, why);
}

/* Never 0, never the last one. */
static uint16_t another_id(uint16_t last, uint32_t random)
{
	uint16_t id = (uint16_t)random;

	while (!id || id == last)
		id++;
	return id;
}

static void begin_hello(struct session *s, uint64_t now_us)
{
	s->id = another_id(s->id, s->cfg.ops->random(s->cfg.arg));
	reset_streams(s);
	s->state = SESSION_HELLO;
	s->hello_at_us = now_us;
	s->hello_wait_us = HELLO_WAIT_FIRST_US;
	s->hello_time_us = now_us;
	s->need_lead = true;
}

/* A host never rests: what it lost it opens anew. */
static void lose_and_retry(struct session *s, enum session_loss why,
			   uint64_t now_us)
{
	lose(s, why);
	if (s->cfg.role == SESSION_HOST)
		begin_hello(s, now_us);
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

void session_init(struct session *s, const struct session_cfg *cfg)
{
	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	s->need_lead = true;
}

void session_open(struct session *s, uint64_t now_us)
{
	session_close(s);
	begin_hello(s, now_us);
}

void session_close(struct session *s)
{
	bool was_up = is_connected(s);

	s->all_off_wanted = false;
	s->all_off_ack_pending = false;
	s->no_session_pending = false;
	s->splitter = (struct frame_splitter){ .len = 0 };
	if (was_up) {
		lose(s, SESSION_LOST_CLOSED);
		return;
	}
	s->state = SESSION_DOWN;
	reset_streams(s);
	tx_clear(s);
}

/* ---- reliable sending ---- */

static void rtt_sample(struct session *s, uint64_t rtt)
{
	uint32_t us =
		rtt > SESSION_RTO_MAX_US ? SESSION_RTO_MAX_US : (uint32_t)rtt;
	uint32_t off;

	if (!s->have_rtt) {
		s->have_rtt = true;
		s->srtt_us = us;
		s->rttvar_us = us / 2;
		return;
	}
	off = us > s->srtt_us ? us - s->srtt_us : s->srtt_us - us;
	s->rttvar_us = (3 * s->rttvar_us + off) / 4;
	s->srtt_us = (7 * s->srtt_us + us) / 8;
}

static uint32_t timeout_us(const struct session *s)
{
	uint32_t us = SESSION_RTO_FIRST_US;

	if (s->have_rtt)
		us = s->srtt_us + 4 * s->rttvar_us;
	if (us < SESSION_RTO_MIN_US)
		us = SESSION_RTO_MIN_US;
	if (us > SESSION_RTO_MAX_US >> s->backoff)
		return SESSION_RTO_MAX_US;
	return us << s->backoff;
}

static unsigned sent_packets(struct session *s)
{
	unsigned n = 0;

	while (n < s->count && packet_at(s, n)->sent)
		n++;
	return n;
}

static void pop_packets(struct session *s, unsigned n)
{
	s->first = (uint8_t)((s->first + n) % s->cfg.window);
	s->count = (uint8_t)(s->count - n);
	s->unsent = (uint8_t)(s->unsent > n ? s->unsent - n : 0);
}

static void take_ack(struct session *s, uint16_t ack, uint64_t at_us)
{
	uint16_t oldest = (uint16_t)(s->next_seq - s->count);
	unsigned n = (uint16_t)(ack - oldest);
	const struct session_packet *newest;

	if (!n || n > sent_packets(s))
		return;
	newest = packet_at(s, n - 1);
	/* A retransmitted packet does not say which copy was answered. */
	if (!newest->retransmitted && newest->left_us &&
	    at_us >= newest->left_us) {
		rtt_sample(s, at_us - newest->left_us);
		s->backoff = 0;
	}
	pop_packets(s, n);
	s->tries = 0;
	s->progress_us = at_us;
}

static uint64_t retransmit_due_us(struct session *s)
{
	const struct session_packet *p;
	uint64_t since;

	if (!s->count || !s->unsent)
		return UINT64_MAX;
	p = packet_at(s, 0);
	if (!p->left_us)
		return s->tx_left_us + SESSION_STALL_US;
	since = p->left_us > s->progress_us ? p->left_us : s->progress_us;
	return since + timeout_us(s);
}

static void go_back(struct session *s)
{
	for (unsigned i = 0; i < s->unsent; i++)
		packet_at(s, i)->left_us = 0;
	s->unsent = 0;
	s->tries++;
	if (s->backoff < SESSION_TRIES)
		s->backoff++;
}

static void check_retransmit(struct session *s, uint64_t now_us)
{
	if (now_us < retransmit_due_us(s))
		return;
	if (!packet_at(s, 0)->left_us)
		lose_and_retry(s, SESSION_LOST_STALLED, now_us);
	else if (s->tries == SESSION_TRIES)
		lose_and_retry(s, SESSION_LOST_RETRIES, now_us);
	else
		go_back(s);
}

static bool emit_packet(struct session *s, unsigned i, uint64_t now_us)
{
	struct session_packet *p = packet_at(s, i);
	struct frame f = {
		.flags = (uint8_t)(p->flags | FRAME_ACK_REQ),
		.channel = p->channel,
		.session = s->id,
		.seq = p->seq,
		.payload = payload_at(s, i),
		.len = p->len,
	};

	if (p->sent)
		f.flags |= FRAME_RETX;
	if (!emit(s, &f, now_us))
		return false;
	if (p->sent) {
		p->retransmitted = true;
		s->stats.tx_retransmitted++;
	}
	p->sent = true;
	p->wire_end = s->tx_queued;
	return true;
}

static void emit_window(struct session *s, uint64_t now_us)
{
	while (s->unsent < s->count && emit_packet(s, s->unsent, now_us))
		s->unsent++;
}

enum session_result session_send(struct session *s, uint8_t channel,
				 uint8_t flags, const uint8_t *payload,
				 size_t len)
{
	struct session_packet *p;

	if (!is_reliable(channel))
		return SESSION_BAD_CHANNEL;
	if (len > s->cfg.payload_max || len > FRAME_PAYLOAD_MAX)
		return SESSION_TOO_LONG;
	if (s->state != SESSION_UP)
		return SESSION_NOT_UP;
	if (s->count == s->cfg.window)
		return SESSION_FULL;
	p = packet_at(s, s->count);
	*p = (struct session_packet){
		.channel = channel,
		.flags = flags & FRAME_DUP_RESULT,
		.seq = s->next_seq,
		.len = (uint16_t)len,
	};
	if (len)
		memcpy(payload_at(s, s->count), payload, len);
	s->count++;
	s->next_seq++;
	return SESSION_OK;
}

unsigned session_window_free(const struct session *s)
{
	if (s->state != SESSION_UP)
		return 0;
	return (unsigned)s->cfg.window - s->count;
}

enum session_result session_send_unreliable(struct session *s, uint8_t channel,
					    const uint8_t *payload, size_t len,
					    uint64_t now_us)
{
	struct frame f = {
		.channel = channel,
		.session = s->id,
		.payload = payload,
		.len = len,
	};

	if (!is_unreliable(channel))
		return SESSION_BAD_CHANNEL;
	if (len > FRAME_PAYLOAD_MAX)
		return SESSION_TOO_LONG;
	if (s->state != SESSION_UP)
		return SESSION_NOT_UP;
	f.seq = s->tx_seq[channel];
	if (wire_bytes(len) + FRAME_WIRE_MAX > tx_room(s) ||
	    !emit(s, &f, now_us)) {
		s->stats.tx_dropped[channel]++;
		return SESSION_FULL;
	}
	s->tx_seq[channel]++;
	return SESSION_OK;
}

/* ---- receiving ---- */

static void want_ack(struct session *s, uint64_t due_us)
{
	if (!s->ack_pending || due_us < s->ack_due_us)
		s->ack_due_us = due_us;
	s->ack_pending = true;
}

static void rx_reliable(struct session *s, const struct frame *f,
			uint64_t at_us)
{
	int16_t ahead = (int16_t)(uint16_t)(f->seq - s->expected);

	/* The peer's view is wrong: tell it at once. */
	if (ahead < 0) {
		s->stats.rx_duplicate++;
		want_ack(s, at_us);
		return;
	}
	if (ahead > 0) {
		s->stats.rx_out_of_order++;
		want_ack(s, at_us);
		return;
	}
	if (!s->cfg.ops->receive(s->cfg.arg, f->channel, f->flags, f->payload,
				 f->len)) {
		s->stats.rx_refused++;
		return;
	}
	s->expected++;
	want_ack(s, at_us + SESSION_ACK_DELAY_US);
}

static void rx_unreliable(struct session *s, const struct frame *f)
{
	uint16_t *seq = &s->unreliable_seq[f->channel];

	if (s->unreliable_seen[f->channel])
		s->stats.rx_gap[f->channel] += (uint16_t)(f->seq - *seq);
	else
		s->stats.rx_gap[f->channel] += f->seq;
	s->unreliable_seen[f->channel] = true;
	*seq = (uint16_t)(f->seq + 1);
	s->cfg.ops->receive(s->cfg.arg, f->channel, f->flags, f->payload,
			    f->len);
}

/* A frame of another session. The rig says so once a poll, so that a host
 * notices a reset at once; a host just ignores what is left over. */
static void rx_alien(struct session *s, const struct frame *f)
{
	s->stats.rx_alien++;
	if (s->cfg.role != SESSION_RIG || s->state == SESSION_ALIEN)
		return;
	s->no_session_pending = true;
	s->no_session_id = f->session;
}

static void rx_hello(struct session *s, const struct control_hello *h,
		     uint64_t at_us)
{
	bool repeat = is_connected(s) && h->session == s->id &&
		      h->time_us == s->hello_time_us;

	if (!repeat) {
		if (is_connected(s))
			lose(s, SESSION_LOST_REPLACED);
		reset_streams(s);
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
		rtt_sample(s, at_us - stamps->host_sent_us);
	if (s->cfg.ops->pong)
		s->cfg.ops->pong(s->cfg.arg, stamps, for_clock);
}

/* Channel 0 within a session. */
static void rx_control_in(struct session *s, struct control *c, uint64_t at_us)
{
	if (c->kind == CONTROL_PING && s->cfg.role == SESSION_RIG) {
		s->pong = c->stamps;
		s->pong.rig_rx_us = at_us;
		s->pong_pending = true;
	}
	if (c->kind == CONTROL_PONG && s->cfg.role == SESSION_HOST)
		rx_pong(s, &c->stamps, at_us);
}

/* Channel 0 outside of any session. Returns false for the other kinds. */
static bool rx_control_out(struct session *s, const struct control *c,
			   uint64_t at_us)
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
		if (!rig && is_connected(s) && c->session == s->id)
			lose_and_retry(s, SESSION_LOST_FORGOTTEN, at_us);
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

static void rx_frame(struct session *s, const struct frame *f, uint64_t at_us)
{
	struct control c;

	if (f->channel == CHANNEL_LINK) {
		if (!control_decode(f->payload, f->len, &c)) {
			s->stats.rx_alien++;
			return;
		}
		if (rx_control_out(s, &c, at_us))
			return;
	}
	if (!is_connected(s) || f->session != s->id) {
		rx_alien(s, f);
		return;
	}
	s->last_rx_us = at_us;
	if (f->channel == CHANNEL_LINK)
		rx_control_in(s, &c, at_us);
	if (s->state == SESSION_ALIEN)
		return;
	take_ack(s, f->ack, at_us);
	if (is_reliable(f->channel))
		rx_reliable(s, f, at_us);
	else if (is_unreliable(f->channel))
		rx_unreliable(s, f);
}

static void rx_stretch(struct session *s, uint64_t at_us)
{
	struct frame f;

	switch (frame_decode(s->splitter.buf, s->splitter.len, &f)) {
	case FRAME_OK:
		s->stats.rx_frames++;
		rx_frame(s, &f, at_us);
		break;
	case FRAME_BAD_COBS:
		s->stats.rx_bad_cobs++;
		break;
	case FRAME_BAD_LENGTH:
		s->stats.rx_bad_length++;
		break;
	case FRAME_BAD_CRC:
		s->stats.rx_bad_crc++;
		break;
	}
}

void session_rx(struct session *s, const uint8_t *bytes, size_t len,
		uint64_t at_us)
{
	bool dropped;

	for (size_t i = 0; i < len; i++) {
		if (frame_split(&s->splitter, bytes[i], &dropped))
			rx_stretch(s, at_us);
		if (dropped)
			s->stats.rx_overlong++;
	}
}

/* ---- poll ---- */

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
	emit_control(s, &c, s->id, now_us);
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

	if (!is_connected(s) || now_us < s->ping_at_us)
		return;
	if (!emit_control(s, &c, s->id, now_us)) {
		s->ping_at_us = now_us + NO_ROOM_RETRY_US;
		return;
	}
	s->ping_id++;
	s->pings++;
	s->ping_at_us =
		now_us + (s->pings < SESSION_PINGS_FAST ? SESSION_PING_FAST_US
							: SESSION_PING_US);
}

static void poll_all_off(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_ALL_OFF,
			     .token = s->all_off_token };

	if (!s->all_off_wanted || now_us < s->all_off_at_us)
		return;
	emit_control(s, &c, s->id, now_us);
	s->all_off_at_us = now_us + ALL_OFF_REPEAT_US;
}

static void poll_host(struct session *s, uint64_t now_us)
{
	poll_all_off(s, now_us);
	if (is_connected(s) && now_us >= s->last_rx_us + SESSION_SILENT_US)
		lose_and_retry(s, SESSION_LOST_SILENT, now_us);
	poll_hello(s, now_us);
	poll_ping(s, now_us);
}

static void poll_hello_ack(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_HELLO_ACK };

	if (!s->hello_ack_pending)
		return;
	fill_hello(s, &c.hello, now_us);
	c.info.window = s->cfg.window;
	c.info.max_frame = FRAME_PAYLOAD_MAX;
	s->cfg.ops->info(s->cfg.arg, &c.info);
	if (emit_control(s, &c, s->id, now_us))
		s->hello_ack_pending = false;
}

static void poll_pong(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_PONG, .stamps = s->pong };

	if (!s->pong_pending || s->hello_ack_pending)
		return;
	c.stamps.rig_tx_us = now_us;
	if (emit_control(s, &c, s->id, now_us))
		s->pong_pending = false;
}

static void poll_rig(struct session *s, uint64_t now_us)
{
	struct control off = { .kind = CONTROL_ALL_OFF_ACK,
			       .token = s->all_off_token };
	struct control none = { .kind = CONTROL_NO_SESSION,
				.session = s->no_session_id };

	if (s->all_off_ack_pending && emit_control(s, &off, s->id, now_us))
		s->all_off_ack_pending = false;
	poll_hello_ack(s, now_us);
	if (s->no_session_pending &&
	    emit_control(s, &none, s->no_session_id, now_us))
		s->no_session_pending = false;
	poll_pong(s, now_us);
}

static void poll_ack(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_ACK };

	if (s->ack_pending && now_us >= s->ack_due_us)
		emit_control(s, &c, s->id, now_us);
}

void session_poll(struct session *s, uint64_t now_us)
{
	if (s->cfg.role == SESSION_HOST)
		poll_host(s, now_us);
	else
		poll_rig(s, now_us);
	if (s->state != SESSION_UP)
		return;
	check_retransmit(s, now_us);
	/* The HELLO_ACK comes first: before it the host takes no data. */
	if (s->state != SESSION_UP || s->hello_ack_pending)
		return;
	emit_window(s, now_us);
	poll_ack(s, now_us);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t host_deadline_us(const struct session *s)
{
	uint64_t at = UINT64_MAX;

	if (s->all_off_wanted)
		at = earlier(at, s->all_off_at_us);
	if (s->state == SESSION_HELLO)
		at = earlier(at, s->hello_at_us);
	if (is_connected(s)) {
		at = earlier(at, s->ping_at_us);
		at = earlier(at, s->last_rx_us + SESSION_SILENT_US);
	}
	return at;
}

uint64_t session_deadline_us(const struct session *s, uint64_t now_us)
{
	uint64_t at = UINT64_MAX;
	bool pending = s->hello_ack_pending || s->no_session_pending ||
		       s->pong_pending || s->all_off_ack_pending ||
		       s->unsent < s->count;

	if (s->cfg.role == SESSION_HOST)
		at = host_deadline_us(s);
	if (pending)
		at = earlier(at, now_us + NO_ROOM_RETRY_US);
	if (s->state != SESSION_UP)
		return at;
	if (s->ack_pending)
		at = earlier(at, s->ack_due_us);
	return earlier(at, retransmit_due_us((struct session *)s));
}

const uint8_t *session_tx(const struct session *s, size_t *len)
{
	*len = s->tx_len;
	return s->cfg.tx + s->tx_head;
}

void session_tx_done(struct session *s, size_t len, uint64_t now_us)
{
	if (len > s->tx_len)
		len = s->tx_len;
	s->tx_head = (uint16_t)(s->tx_head + len);
	s->tx_len = (uint16_t)(s->tx_len - len);
	s->tx_left += (uint32_t)len;
	s->tx_left_us = now_us;
	for (unsigned i = 0; i < s->unsent; i++) {
		struct session_packet *p = packet_at(s, i);

		if (!p->left_us && (int32_t)(s->tx_left - p->wire_end) >= 0)
			p->left_us = now_us ? now_us : 1;
	}
}

void session_all_off(struct session *s, uint64_t now_us)
{
	s->all_off_wanted = true;
	s->all_off_token = s->cfg.ops->random(s->cfg.arg);
	s->all_off_at_us = now_us;
}

const char *session_loss_name(enum session_loss why)
{
	static const char *const name[] = {
		[SESSION_LOST_RETRIES] = "no acknowledgement after 5 tries",
		[SESSION_LOST_SILENT] = "rig is silent",
		[SESSION_LOST_STALLED] = "carrier takes no bytes",
		[SESSION_LOST_FORGOTTEN] = "rig was reset",
		[SESSION_LOST_REPLACED] = "another host took over",
		[SESSION_LOST_CLOSED] = "closed",
	};

	return name[why];
}
