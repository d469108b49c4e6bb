/* proto/link/control.h - messages of channel 0, fixed binary, little-endian.
 *
 * These work between any two major versions, so their layout never changes;
 * bytes that follow the ones known here are ignored. The first byte is the
 * kind. */
#ifndef PROTO_LINK_CONTROL_H
#define PROTO_LINK_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum control_kind {
	CONTROL_HELLO = 1,       /* host: opens a session */
	CONTROL_HELLO_ACK = 2,   /* rig */
	CONTROL_PING = 3,        /* host */
	CONTROL_PONG = 4,        /* rig */
	CONTROL_ACK = 5,         /* nothing but the header's ack */
	CONTROL_NO_SESSION = 6,  /* rig: the session named is not in force */
	CONTROL_ALL_OFF = 7,     /* host: in any session and any major */
	CONTROL_ALL_OFF_ACK = 8, /* rig: all gates are closed */
};

struct control_hello {
	uint8_t major; /* 0..15 */
	uint8_t minor;
	uint8_t lowest_major; /* oldest major still spoken */
	uint16_t session;     /* chosen by the host, never 0 */
	uint64_t schema;      /* hash of rig.proto: SCHEMA_HASH */
	uint64_t time_us;     /* the sender's clock; in HELLO_ACK the rig's */
};

#define CONTROL_TEXT_BYTES 32 /* terminating 0 included */
#define CONTROL_ID_BYTES   16

/* What a rig tells about itself in HELLO_ACK. */
struct control_info {
	char firmware[CONTROL_TEXT_BYTES];
	char board[CONTROL_TEXT_BYTES];
	uint16_t board_revision;
	uint8_t unique_id[CONTROL_ID_BYTES];
	uint8_t slots;       /* 1..8 */
	uint8_t window;      /* reliable frames in flight */
	uint16_t max_frame;  /* payload bytes the rig takes */
	uint32_t features;   /* as of Info.features */
	uint8_t reset_cause; /* enum reset_cause */
	uint32_t boot_id;
	uint32_t config_generation;
	uint32_t config_crc;
	uint32_t last_event;
	uint32_t fault_mask;
};

/* PING carries t1, PONG all three; t1 and t4 are the host's clock, t2 and t3
 * the rig's. */
struct control_stamps {
	uint16_t id;
	uint64_t host_sent_us; /* t1 before write */
	uint64_t rig_rx_us;    /* t2 at the delimiter */
	uint64_t rig_tx_us;    /* t3 at enqueue */
	uint64_t host_rx_us;   /* t4 after read; not on the wire */
};

struct control {
	enum control_kind kind;
	union {
		struct {
			struct control_hello hello; /* HELLO, HELLO_ACK */
			struct control_info info;   /* HELLO_ACK */
		};
		struct control_stamps stamps; /* PING, PONG */
		uint16_t session;             /* NO_SESSION */
		uint32_t token; /* ALL_OFF, ALL_OFF_ACK: matches them */
	};
};

#define CONTROL_BYTES_MAX 160u

/* Encode into dst[CONTROL_BYTES_MAX]. Returns the length. */
size_t control_encode(const struct control *c, uint8_t *dst);

/* Decode. Texts come out terminated. false: unknown kind or too short. */
bool control_decode(const uint8_t *src, size_t len, struct control *c);

#endif
