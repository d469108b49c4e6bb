/* The transmit buffer: frames go in whole, bytes leave as the carrier takes
 * them. */
#include "proto/link/session_priv.h"

#include <string.h>

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

bool session_emit(struct session *s, struct frame *f, uint64_t now_us)
{
	size_t need = FRAME_WIRE_BYTES(f->len);
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

void session_tx_clear(struct session *s)
{
	s->tx_left = s->tx_queued;
	s->tx_head = 0;
	s->tx_len = 0;
	s->need_lead = true;
}

/* What must arrive is never held up by what need not. */
static size_t reserve(const struct session *s)
{
	return s->cfg.payload_max > CONTROL_BYTES_MAX
		       ? FRAME_WIRE_BYTES(s->cfg.payload_max)
		       : FRAME_WIRE_BYTES(CONTROL_BYTES_MAX);
}

bool session_has_room(const struct session *s, size_t len)
{
	return s->state == SESSION_UP &&
	       FRAME_WIRE_BYTES(len) + reserve(s) <= tx_room(s);
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

	if (!session_is_unreliable(channel))
		return SESSION_BAD_CHANNEL;
	if (len > FRAME_PAYLOAD_MAX)
		return SESSION_TOO_LONG;
	if (s->state != SESSION_UP)
		return SESSION_NOT_UP;
	f.seq = s->tx_seq[channel];
	if (!session_has_room(s, len) || !session_emit(s, &f, now_us)) {
		s->stats.tx_dropped[channel]++;
		return SESSION_FULL;
	}
	s->tx_seq[channel]++;
	return SESSION_OK;
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
	session_note_left(s, now_us);
}
