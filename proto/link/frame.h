/* proto/link/frame.h - one frame of the rig link.
 *
 *   wire   = COBS(frame) 0x00        (a leading 0x00 is the session's affair)
 *   frame  = header 8 | payload 0..492 | crc32c 4
 *   header = major<<4|flags 1 . channel 1 . session 2 . seq 2 . ack 2
 *
 * Numbers are little-endian; the checksum covers header and payload. This
 * layout is the same in every major version. */
#ifndef PROTO_LINK_FRAME_H
#define PROTO_LINK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/link/cobs.h"

#define FRAME_HEADER_BYTES 8u
#define FRAME_CRC_BYTES    4u
#define FRAME_PAYLOAD_MAX  492u
#define FRAME_MAX          (FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX + FRAME_CRC_BYTES)
/* One frame on the wire, both delimiters included. */
#define FRAME_WIRE_BYTES(payload)                                              \
	(COBS_MAX(FRAME_HEADER_BYTES + (payload) + FRAME_CRC_BYTES) + 2u)
#define FRAME_WIRE_MAX 509u

enum frame_flag {
	FRAME_ACK_REQ = 1,    /* reliable: acknowledge within 5 ms */
	FRAME_RETX = 2,       /* sent before */
	FRAME_DUP_RESULT = 4, /* stored result of a repeated op_id */
};

enum frame_channel {
	CHANNEL_LINK = 0,
	CHANNEL_COMMAND = 1,
	CHANNEL_EVENT = 2,
	CHANNEL_TELEMETRY = 3,
	CHANNEL_DIAG = 4,
	CHANNEL_LOG = 5,
	CHANNEL_IMAGE = 6,
	CHANNEL_COUNT,
};

struct frame {
	uint8_t major; /* 0..15 */
	uint8_t flags; /* enum frame_flag */
	uint8_t channel;
	uint16_t session;
	uint16_t seq;
	uint16_t ack; /* next reliable seq the sender expects */
	const uint8_t *payload;
	size_t len;
};

enum frame_error {
	FRAME_OK = 0,
	FRAME_BAD_COBS,
	FRAME_BAD_LENGTH,
	FRAME_BAD_CRC,
};

/* Encode f and its trailing delimiter into dst.
 * Returns the bytes written, 0 if len > FRAME_PAYLOAD_MAX or cap is too
 * small. */
size_t frame_encode(const struct frame *f, uint8_t *dst, size_t cap);

/* Decode what stood between two delimiters, in place.
 *   f  out: payload points into buf; untouched on failure */
enum frame_error frame_decode(uint8_t *buf, size_t len, struct frame *f);

/* Splits a byte stream at the delimiters. */
struct frame_splitter {
	uint16_t len;
	bool whole;   /* buf was handed out, the next byte starts afresh */
	bool overrun; /* too long: dropped up to the next delimiter */
	uint8_t buf[FRAME_WIRE_MAX];
};

/* Take one byte. Returns true when buf[0..len) holds the bytes before a
 * delimiter; the next call starts afresh. Empty stretches are skipped.
 *   dropped  out: true if an overlong stretch ended here and was dropped */
bool frame_split(struct frame_splitter *s, uint8_t byte, bool *dropped);

#endif
