/* Channels 1, 2 and 6: window, acknowledgement, go-back-N. */
#include "proto/link/session_priv.h"

#include <string.h>

static struct session_packet *packet_at(struct session *s, unsigned i)
{
	return &s->cfg.packets[(s->first + i) % s->cfg.window];
}

static uint8_t *payload_at(struct session *s, unsigned i)
{
	size_t row = (s->first + i) % s->cfg.window;

	return s->cfg.payloads + row * s->cfg.payload_max;
}

void session_reset_reliable(struct session *s)
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
}

/* ---- what was sent ---- */

void session_rtt_sample(struct session *s, uint64_t rtt)
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

void session_take_ack(struct session *s, uint16_t ack, uint64_t at_us)
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
		session_rtt_sample(s, at_us - newest->left_us);
		s->backoff = 0;
	}
	pop_packets(s, n);
	s->tries = 0;
	s->progress_us = at_us;
}

void session_note_left(struct session *s, uint64_t now_us)
{
	for (unsigned i = 0; i < s->unsent; i++) {
		struct session_packet *p = packet_at(s, i);

		if (!p->left_us && (int32_t)(s->tx_left - p->wire_end) >= 0)
			p->left_us = now_us ? now_us : 1;
	}
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
		session_lose_and_retry(s, SESSION_LOST_STALLED, now_us);
	else if (s->tries == SESSION_TRIES)
		session_lose_and_retry(s, SESSION_LOST_RETRIES, now_us);
	else
		go_back(s);
}

/* ---- sending ---- */

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
	if (!session_emit(s, &f, now_us))
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

	if (!session_is_reliable(channel))
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

/* ---- receiving ---- */

static void want_ack(struct session *s, uint64_t due_us)
{
	if (!s->ack_pending || due_us < s->ack_due_us)
		s->ack_due_us = due_us;
	s->ack_pending = true;
}

void session_rx_reliable(struct session *s, const struct frame *f,
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

/* ---- poll ---- */

static void poll_ack(struct session *s, uint64_t now_us)
{
	struct control c = { .kind = CONTROL_ACK };

	if (s->ack_pending && now_us >= s->ack_due_us)
		session_emit_control(s, &c, s->id, now_us);
}

void session_poll_reliable(struct session *s, uint64_t now_us)
{
	check_retransmit(s, now_us);
	/* The HELLO_ACK comes first: before it the host takes no data. */
	if (s->state != SESSION_UP || s->hello_ack_pending)
		return;
	emit_window(s, now_us);
	poll_ack(s, now_us);
}

uint64_t session_reliable_due_us(const struct session *s, uint64_t now_us)
{
	uint64_t at = retransmit_due_us((struct session *)s);

	if (s->unsent < s->count)
		at = session_earlier(at, now_us + SESSION_NO_ROOM_US);
	if (s->ack_pending)
		at = session_earlier(at, s->ack_due_us);
	return at;
}
