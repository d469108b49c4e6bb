/* proto/link/session.h - one session of the rig link, either end.
 *
 * Payload-agnostic, no malloc, no OS: bytes in, bytes out, time is a
 * parameter (microseconds of the caller's own monotonic clock). One thread.
 *
 * A main loop does:
 *	session_rx(s, bytes, len, stamp_of_last_byte);
 *	... session_send() / session_send_unreliable() ...
 *	session_poll(s, now);
 *	p = session_tx(s, &len); write(p, len); session_tx_done(s, n, now);
 *
 * Channels 1, 2 and 6 are reliable: in order, each payload handed over once
 * in a session, go-back-N with a window. 3, 4 and 5 are sent once or, when
 * the transmit buffer is full, dropped and counted. Channel 0 is the
 * session's own.
 *
 * What was sent but not acknowledged when a session is lost may or may not
 * have arrived: the layer above finds out (op_id, event numbers). */
#ifndef PROTO_LINK_SESSION_H
#define PROTO_LINK_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/link/control.h"
#include "proto/link/frame.h"

#define SESSION_MAJOR        1u
#define SESSION_MINOR        0u
#define SESSION_LOWEST_MAJOR 1u

#define SESSION_WINDOW_MAX   8u
#define SESSION_TRIES        5u
#define SESSION_RTO_MIN_US   25000u
#define SESSION_RTO_MAX_US   800000u
#define SESSION_RTO_FIRST_US 200000u
#define SESSION_ACK_DELAY_US 5000u
#define SESSION_IDLE_LEAD_US 20000u
#define SESSION_PING_US      490000u /* every second one feeds the clock */
#define SESSION_PING_FAST_US 20000u  /* the first 8 */
#define SESSION_PINGS_FAST   8u
#define SESSION_SILENT_US    2500000u
#define SESSION_STALL_US     4000000u

enum session_role {
	SESSION_HOST,
	SESSION_RIG,
};

enum session_state {
	SESSION_DOWN,  /* rig: no HELLO yet; host: closed */
	SESSION_HELLO, /* host: HELLO sent, again and again */
	SESSION_UP,
	SESSION_ALIEN, /* up, but no common major: only channel 0 works */
};

enum session_loss {
	SESSION_LOST_RETRIES,   /* 5 tries unanswered */
	SESSION_LOST_SILENT,    /* host: no frame for SESSION_SILENT_US */
	SESSION_LOST_STALLED,   /* the carrier takes no bytes */
	SESSION_LOST_FORGOTTEN, /* host: the rig does not know it (reset) */
	SESSION_LOST_REPLACED,  /* rig: HELLO of a new session */
	SESSION_LOST_CLOSED,    /* session_close() */
};

enum session_result {
	SESSION_OK = 0,
	SESSION_FULL, /* window or transmit buffer full, retry later */
	SESSION_NOT_UP,
	SESSION_TOO_LONG, /* for the payload memory or a frame */
	SESSION_BAD_CHANNEL,
};

struct session;

/* Calls into the owner; any may be NULL unless said. They may call
 * session_send() and session_send_unreliable(), nothing else. */
struct session_ops {
	/* A payload of the peer, valid during the call. On a reliable channel
	 * false means "cannot take it now": it is not acknowledged and comes
	 * again. Needed. */
	bool (*receive)(void *arg, uint8_t channel, uint8_t flags,
			const uint8_t *payload, size_t len);
	/* The session is up. Host: info is the rig's HELLO_ACK; rig: NULL. */
	void (*up)(void *arg, const struct control_hello *peer,
		   const struct control_info *info);
	/* Was UP or ALIEN and is no more; the window is empty now. */
	void (*lost)(void *arg, enum session_loss why);
	/* Rig, needed: fill what HELLO_ACK tells. */
	void (*info)(void *arg, struct control_info *info);
	/* Rig, needed: close all gates now. */
	void (*all_off)(void *arg);
	/* Host: the rig has done session_all_off(). */
	void (*all_off_done)(void *arg);
	/* Host: the four stamps of an answered ping; for_clock marks the ones
	 * spaced for a clock estimate. */
	void (*pong)(void *arg, const struct control_stamps *stamps,
		     bool for_clock);
	/* Host, needed: random bits for session numbers. */
	uint32_t (*random)(void *arg);
};

/* One reliable payload in flight. */
struct session_packet {
	uint8_t channel;
	uint8_t flags;
	uint16_t seq;
	uint16_t len;
	bool sent;          /* at least once */
	bool retransmitted; /* gives no RTT sample */
	uint32_t wire_end;  /* tx byte count at which it has left */
	uint64_t left_us;   /* when it left; 0: still in the buffer */
};

struct session_cfg {
	uint64_t schema;
	const struct session_ops *ops;
	void *arg;
	/* The caller's memory, for the session's life. */
	struct session_packet *packets; /* window entries */
	uint8_t *payloads;              /* window * payload_max bytes */
	uint8_t *tx;
	/* >= FRAME_WIRE_BYTES() of the longest unreliable payload and of the
	 * longest one else: payload_max or CONTROL_BYTES_MAX. */
	uint16_t tx_size;
	uint16_t payload_max; /* longest reliable payload sent */
	uint8_t window;       /* 1..SESSION_WINDOW_MAX; 4 */
	uint8_t major;        /* SESSION_MAJOR but in tests */
	uint8_t minor;
	uint8_t lowest_major;
	enum session_role role;
};

struct session_stats {
	uint32_t rx_frames;
	uint32_t rx_bad_cobs;
	uint32_t rx_bad_length;
	uint32_t rx_bad_crc;
	uint32_t rx_overlong;
	uint32_t rx_alien; /* other session or major, unknown channel */
	uint32_t rx_duplicate;
	uint32_t rx_out_of_order;
	uint32_t rx_refused;            /* receive() said no */
	uint32_t rx_gap[CHANNEL_COUNT]; /* unreliable frames missed */
	uint32_t tx_frames;
	uint32_t tx_retransmitted;
	uint32_t tx_dropped[CHANNEL_COUNT]; /* unreliable, buffer full */
	uint32_t losses;
};

/* Read freely, change only through the functions. In each group the widest
 * first: firmware has no RAM for holes. */
struct session {
	struct session_cfg cfg;
	struct control_hello peer;
	struct session_stats stats;

	/* reliable, outgoing: packets[(first + i) % window] */
	uint64_t progress_us; /* the last time an ack took something away */
	uint32_t srtt_us;
	uint32_t rttvar_us;
	uint16_t next_seq;
	uint8_t first;
	uint8_t count;
	uint8_t unsent;  /* index from which poll encodes (again) */
	uint8_t tries;   /* of the oldest packet */
	uint8_t backoff; /* doublings of the timeout */
	bool have_rtt;

	/* incoming */
	uint64_t last_rx_us; /* the last valid frame of this session */
	uint64_t ack_due_us;
	uint16_t expected; /* next reliable seq */
	uint16_t unreliable_seq[CHANNEL_COUNT];
	bool unreliable_seen[CHANNEL_COUNT];
	bool ack_pending;

	/* channel 0 */
	struct control_stamps pong;
	uint64_t all_off_at_us;
	uint64_t hello_at_us;   /* next HELLO */
	uint64_t hello_time_us; /* rig: HELLO in force; tells a repeat */
	uint64_t ping_at_us;
	uint32_t hello_wait_us;
	uint32_t all_off_token; /* rig: to answer; host: asked */
	uint32_t pings;
	uint16_t ping_id;
	uint16_t no_session_id;
	bool hello_ack_pending;
	bool pong_pending;
	bool no_session_pending;
	bool all_off_ack_pending;
	bool all_off_wanted;

	/* outgoing bytes */
	bool need_lead;
	uint16_t tx_head;
	uint64_t tx_left_us;
	uint32_t tx_queued; /* bytes ever put in, wraps */
	uint32_t tx_left;   /* bytes ever taken out, wraps */
	uint16_t tx_len;
	uint16_t tx_seq[CHANNEL_COUNT];

	uint16_t id;
	enum session_state state;
	struct frame_splitter splitter;
};

/* State DOWN, all memory of cfg is taken over. */
void session_init(struct session *s, const struct session_cfg *cfg);

/* Host: start a session, with a new number. From UP: lost(CLOSED) first. */
void session_open(struct session *s, uint64_t now_us);

/* Either end: drop everything, state DOWN; lost(CLOSED) if it was up. Call
 * it when the carrier is gone. */
void session_close(struct session *s);

/* Feed received bytes.
 *   at_us  arrival of the last of them (of the delimiter, if the carrier
 *          can say)
 * Calls receive(), up(), lost(), pong(), all_off(), all_off_done(). */
void session_rx(struct session *s, const uint8_t *bytes, size_t len,
		uint64_t at_us);

/* Timeouts, acks and everything that waits for room. Call it after
 * session_rx(), session_send() and session_tx_done(), and at the time
 * session_deadline_us() gives. Calls lost(), info(). A lost host session
 * goes on with HELLO by itself. */
void session_poll(struct session *s, uint64_t now_us);

/* When session_poll() has something to do next; UINT64_MAX: never. */
uint64_t session_deadline_us(const struct session *s, uint64_t now_us);

/* Bytes to transmit, in one piece. Valid until the next session call but
 * session_tx_done().
 *   len  out: 0 if there are none */
const uint8_t *session_tx(const struct session *s, size_t *len);

/* The first len bytes of session_tx() have been written. */
void session_tx_done(struct session *s, size_t len, uint64_t now_us);

/* Queue a payload on channel 1, 2 or 6 (copied).
 *   flags  FRAME_DUP_RESULT or 0
 * SESSION_OK; SESSION_FULL: window full, nothing done. */
enum session_result session_send(struct session *s, uint8_t channel,
				 uint8_t flags, const uint8_t *payload,
				 size_t len);

/* Free entries of the window; 0 when not UP. */
unsigned session_window_free(const struct session *s);

/* Send a payload on channel 3, 4 or 5 now or never. SESSION_FULL: dropped
 * and counted. Room for a reliable frame, or one of channel 0, is always
 * left. */
enum session_result session_send_unreliable(struct session *s, uint8_t channel,
					    const uint8_t *payload, size_t len,
					    uint64_t now_us);

/* Would session_send_unreliable() send len bytes now? For what is not dropped
 * but kept until it can. */
bool session_has_room(const struct session *s, size_t len);

/* Host: have the rig close all gates, whatever the session's state; repeated
 * until the rig has said it did. */
void session_all_off(struct session *s, uint64_t now_us);

/* One word for messages: "no answer", "rig was reset", ... */
const char *session_loss_name(enum session_loss why);

#endif
