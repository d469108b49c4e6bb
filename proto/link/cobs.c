#include "proto/link/cobs.h"

#include <string.h>

static void put(struct cobs_encoder *e, uint8_t byte)
{
	if (e->len < e->cap)
		e->dst[e->len] = byte;
	else
		e->failed = true;
	e->len++;
}

static void close_block(struct cobs_encoder *e)
{
	if (e->code_at < e->cap)
		e->dst[e->code_at] = (uint8_t)(e->len - e->code_at);
	e->code_at = e->len;
}

void cobs_encode_begin(struct cobs_encoder *e, uint8_t *dst, size_t cap)
{
	*e = (struct cobs_encoder){ .dst = dst, .cap = cap };
	put(e, 0);
}

void cobs_encode_add(struct cobs_encoder *e, const void *src, size_t len)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < len; i++) {
		/* A full block is closed when the next byte comes, so that
		 * 254 bytes at the very end cost no empty block. */
		if (e->len - e->code_at == 0xff) {
			close_block(e);
			put(e, 0);
		}
		if (p[i]) {
			put(e, p[i]);
		} else {
			close_block(e);
			put(e, 0);
		}
	}
}

size_t cobs_encode_end(struct cobs_encoder *e)
{
	close_block(e);
	return e->failed ? 0 : e->len;
}

size_t cobs_encode(const uint8_t *src, size_t len, uint8_t *dst, size_t cap)
{
	struct cobs_encoder e;

	cobs_encode_begin(&e, dst, cap);
	cobs_encode_add(&e, src, len);
	return cobs_encode_end(&e);
}

bool cobs_decode(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
		 size_t *out_len)
{
	size_t in = 0;
	size_t out = 0;

	if (!len)
		return false;
	while (in < len) {
		size_t code = src[in++];
		size_t run = code - 1;

		if (!code || run > len - in || run > cap - out)
			return false;
		if (memchr(src + in, 0, run))
			return false;
		memmove(dst + out, src + in, run);
		in += run;
		out += run;
		if (code == 0xff || in == len)
			continue;
		if (out == cap)
			return false;
		dst[out++] = 0;
	}
	*out_len = out;
	return true;
}
