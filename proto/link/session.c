/* A session's life, and its frames on their way to the file that knows the
 * channel. */
#include "proto/link/session_priv.h"

#include <string.h>

void session_reset_streams(struct session *s)
{
	session_reset_reliable(s);
	s->pong_pending = false;
	s->hello_ack_pending = false;
	s->pings = 0;
	s->ping_id = 0;
	memset(s->unreliable_seen, 0, sizeof(s->unreliable_seen));
	memset(s->tx_seq, 0, sizeof(s->tx_seq));
}

void session_lose(struct session *s, enum session_loss why)
{
	s->state = SESSION_DOWN;
	session_reset_streams(s);
	session_tx_clear(s);
	s->stats.losses++;
	if (s->cfg.ops->lost)
		s->cfg.ops->lost(s->cfg.arg, why);
}

void session_lose_and_retry(struct session *s, enum session_loss why,
			    uint64_t now_us)
{
	session_lose(s, why);
	if (s->cfg.role == SESSION_HOST)
		session_begin_hello(s, now_us);
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
	session_begin_hello(s, now_us);
}

void session_close(struct session *s)
{
	bool was_up = session_is_connected(s);

	s->all_off_wanted = false;
	s->all_off_ack_pending = false;
	s->no_session_pending = false;
	s->splitter = (struct frame_splitter){ .len = 0 };
	if (was_up) {
		session_lose(s, SESSION_LOST_CLOSED);
		return;
	}
	s->state = SESSION_DOWN;
	session_reset_streams(s);
	session_tx_clear(s);
}

/* ---- receiving ---- */

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

static void rx_frame(struct session *s, const struct frame *f, uint64_t at_us)
{
	bool ours = f->channel == CHANNEL_LINK
			    ? session_rx_control(s, f, at_us)
			    : session_rx_is_ours(s, f, at_us);

	if (!ours || s->state == SESSION_ALIEN)
		return;
	session_take_ack(s, f->ack, at_us);
	if (session_is_reliable(f->channel))
		session_rx_reliable(s, f, at_us);
	else if (session_is_unreliable(f->channel))
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

void session_poll(struct session *s, uint64_t now_us)
{
	session_poll_control(s, now_us);
	if (s->state == SESSION_UP)
		session_poll_reliable(s, now_us);
}

uint64_t session_deadline_us(const struct session *s, uint64_t now_us)
{
	uint64_t at = session_control_due_us(s, now_us);

	if (s->state != SESSION_UP)
		return at;
	return session_earlier(at, session_reliable_due_us(s, now_us));
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
