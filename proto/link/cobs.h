/* proto/link/cobs.h - consistent overhead byte stuffing: no zero in the code.
 * Delimiters are the caller's. Caller owns all memory. */
#ifndef PROTO_LINK_COBS_H
#define PROTO_LINK_COBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room that the code of n bytes needs at most. */
#define COBS_MAX(n) ((n) + (n) / 254u + 1u)

/* Encoder that is fed in pieces. */
struct cobs_encoder {
	uint8_t *dst;
	size_t cap;
	size_t len;     /* bytes written, the open block's code byte included */
	size_t code_at; /* where the open block's code byte goes */
	bool failed;    /* dst was too small */
};

void cobs_encode_begin(struct cobs_encoder *e, uint8_t *dst, size_t cap);
void cobs_encode_add(struct cobs_encoder *e, const void *src, size_t len);

/* Close the code. Returns its length, 0 if it did not fit. */
size_t cobs_encode_end(struct cobs_encoder *e);

/* Encode one buffer. Returns the length, 0 if cap is too small. */
size_t cobs_encode(const uint8_t *src, size_t len, uint8_t *dst, size_t cap);

/* Decode len bytes of code (no delimiters). dst may be src.
 *   out_len  out: decoded bytes; untouched on failure
 * false: a zero in the code, a block that ends early, empty code, or cap
 * too small; dst is then undefined. */
bool cobs_decode(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
		 size_t *out_len);

#endif
