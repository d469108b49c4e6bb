/* proto/link/session_priv.h - what the files of the session share; nobody else
 * includes it.
 *
 *   session.c           its life, frames in, the calls of the main loop
 *   session_control.c   channel 0: handshake, pings, ALL_OFF
 *   session_reliable.c  channels 1, 2, 6: window, acks, retransmission
 *   session_tx.c        the transmit buffer, and channels 3, 4, 5 into it */
#ifndef PROTO_LINK_SESSION_PRIV_H
#define PROTO_LINK_SESSION_PRIV_H

#include "proto/link/session.h"

/* When to try again what found no room in the transmit buffer. */
#define SESSION_NO_ROOM_US 5000u

static inline bool session_is_reliable(unsigned channel)
{
	return channel == CHANNEL_COMMAND || channel == CHANNEL_EVENT ||
	       channel == CHANNEL_IMAGE;
}

static inline bool session_is_unreliable(unsigned channel)
{
	return channel == CHANNEL_TELEMETRY || channel == CHANNEL_DIAG ||
	       channel == CHANNEL_LOG;
}

static inline bool session_is_connected(const struct session *s)
{
	return s->state == SESSION_UP || s->state == SESSION_ALIEN;
}

static inline uint64_t session_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- session.c ---- */

/* Forget what belongs to one session: sequences, window, what is pending. */
void session_reset_streams(struct session *s);

/* State DOWN, with lost(). */
void session_lose(struct session *s, enum session_loss why);

/* The same; a host then opens a new session, for it never rests. */
void session_lose_and_retry(struct session *s, enum session_loss why,
			    uint64_t now_us);

/* ---- session_tx.c ---- */

/* Fill in what all frames of this session share and queue it. false: no
 * room, nothing done. */
bool session_emit(struct session *s, struct frame *f, uint64_t now_us);

/* Drop what has not left yet. */
void session_tx_clear(struct session *s);

/* ---- session_control.c ---- */

/* Queue a message of channel 0. false: no room, nothing done. */
bool session_emit_control(struct session *s, const struct control *c,
			  uint16_t session, uint64_t now_us);

/* Host: a new number, and HELLO at the next poll. */
void session_begin_hello(struct session *s, uint64_t now_us);

/* Does the frame belong to this session? If not, it is counted, and a rig will
 * say so. */
bool session_rx_is_ours(struct session *s, const struct frame *f,
			uint64_t at_us);

/* A frame of channel 0. true: it belongs to this session. */
bool session_rx_control(struct session *s, const struct frame *f,
			uint64_t at_us);

/* Send what is due on channel 0; a host also gives up a rig that is silent. */
void session_poll_control(struct session *s, uint64_t now_us);

/* When that is next; UINT64_MAX: never. */
uint64_t session_control_due_us(const struct session *s, uint64_t now_us);

/* ---- session_reliable.c ---- */

/* Empty window, sequences from 0, no round trip known. */
void session_reset_reliable(struct session *s);

/* A round trip was measured. */
void session_rtt_sample(struct session *s, uint64_t rtt);

/* The peer expects this sequence number next. */
void session_take_ack(struct session *s, uint16_t ack, uint64_t at_us);

/* A frame of a reliable channel. */
void session_rx_reliable(struct session *s, const struct frame *f,
			 uint64_t at_us);

/* Bytes were written: note which packets are out. */
void session_note_left(struct session *s, uint64_t now_us);

/* State UP: send the window, again after a time-out; acknowledge. May lose
 * the session. */
void session_poll_reliable(struct session *s, uint64_t now_us);

/* State UP: when that is next; UINT64_MAX: never. */
uint64_t session_reliable_due_us(const struct session *s, uint64_t now_us);

#endif
