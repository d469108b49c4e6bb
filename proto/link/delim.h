/* proto/link/delim.h - frames on the agent's byte stream.
 *
 *   frame = "BAYA" | u32 payload length | u32 crc32c(payload) | payload
 *
 * Little-endian, payload at most 4 MiB. The decoder finds its way back after
 * foreign bytes (ssh banners) and after half a frame of a killed peer that is
 * followed by a whole one. Caller owns the buffer; no malloc. */
#ifndef PROTO_LINK_DELIM_H
#define PROTO_LINK_DELIM_H

#include <stddef.h>
#include <stdint.h>

#define DELIM_HEADER_BYTES 12u
#define DELIM_PAYLOAD_MAX  (4u << 20)

/* Write the header of a frame with this payload. len <= DELIM_PAYLOAD_MAX. */
void delim_header(uint8_t header[DELIM_HEADER_BYTES], const uint8_t *payload,
		  size_t len);

enum delim_result {
	DELIM_MORE,  /* no whole frame yet */
	DELIM_FRAME, /* one frame out */
	DELIM_GROW,  /* the frame needs delim_need() bytes of buffer */
};

/* Decoder; read freely, change only through the functions. */
struct delim {
	uint8_t *buf;
	size_t cap;
	size_t start; /* first byte not consumed */
	size_t end;   /* behind the last byte received */
	size_t inner; /* next magic behind the one at start, or end */
	size_t need;
	uint64_t skipped; /* foreign bytes passed over */
	uint64_t bad_crc;
};

/* cap >= DELIM_HEADER_BYTES; 4 MiB + header never needs to grow. */
void delim_init(struct delim *d, uint8_t *buf, size_t cap);

/* Where the next received bytes go. Moves what is left to the front, so a
 * payload handed out before is gone.
 *   room  out: bytes that fit; 0 only while a DELIM_GROW is not served */
uint8_t *delim_space(struct delim *d, size_t *room);

/* len bytes have been put at delim_space(). */
void delim_fill(struct delim *d, size_t len);

/* Take the next frame.
 *   payload, len  out: valid until the next delim call but delim_next() */
enum delim_result delim_next(struct delim *d, const uint8_t **payload,
			     size_t *len);

/* Buffer size the frame at hand needs, after DELIM_GROW. */
size_t delim_need(const struct delim *d);

/* The buffer has moved to buf (contents kept, as realloc does). */
void delim_grown(struct delim *d, uint8_t *buf, size_t cap);

/* Forget everything received: the stream was opened anew. */
void delim_reset(struct delim *d);

#endif
