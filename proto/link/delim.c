#include "proto/link/delim.h"

#include <stdbool.h>
#include <string.h>

#include "proto/link/crc32c.h"
#include "proto/link/wire.h"

#define MAGIC_BYTES 4u
static const uint8_t magic[MAGIC_BYTES] = { 'B', 'A', 'Y', 'A' };

void delim_header(uint8_t header[DELIM_HEADER_BYTES], const uint8_t *payload,
		  size_t len)
{
	memcpy(header, magic, MAGIC_BYTES);
	wire_put32(header + 4, (uint32_t)len);
	wire_put32(header + 8, crc32c(payload, len));
}

void delim_init(struct delim *d, uint8_t *buf, size_t cap)
{
	*d = (struct delim){ .buf = buf, .cap = cap };
}

uint8_t *delim_space(struct delim *d, size_t *room)
{
	if (d->start) {
		memmove(d->buf, d->buf + d->start, d->end - d->start);
		d->inner -= d->inner < d->start ? d->inner : d->start;
		d->end -= d->start;
		d->start = 0;
	}
	*room = d->cap - d->end;
	return d->buf + d->end;
}

void delim_fill(struct delim *d, size_t len)
{
	d->end += len;
}

/* Position at or after from where the magic stands, or where a part of it
 * may stand at the very end. */
static size_t find_magic(const struct delim *d, size_t from)
{
	while (from < d->end) {
		const uint8_t *p =
			memchr(d->buf + from, magic[0], d->end - from);
		size_t at, n;

		if (!p)
			return d->end;
		at = (size_t)(p - d->buf);
		n = d->end - at < MAGIC_BYTES ? d->end - at : MAGIC_BYTES;
		if (!memcmp(p, magic, n))
			return at;
		from = at + 1;
	}
	return d->end;
}

enum look {
	LOOK_PARTIAL,
	LOOK_WHOLE,
	LOOK_BAD_LENGTH,
	LOOK_BAD_CRC,
};

static enum look look_at(const struct delim *d, size_t at, size_t *len)
{
	size_t have = d->end - at;

	*len = 0;
	if (have < DELIM_HEADER_BYTES)
		return LOOK_PARTIAL;
	*len = wire_get32(d->buf + at + 4);
	if (*len > DELIM_PAYLOAD_MAX)
		return LOOK_BAD_LENGTH;
	if (have - DELIM_HEADER_BYTES < *len)
		return LOOK_PARTIAL;
	if (crc32c(d->buf + at + DELIM_HEADER_BYTES, *len) !=
	    wire_get32(d->buf + at + 8))
		return LOOK_BAD_CRC;
	return LOOK_WHOLE;
}

static void skip_to(struct delim *d, size_t at)
{
	if (at == d->start)
		return;
	d->skipped += at - d->start;
	d->start = at;
	d->inner = at;
}

static enum delim_result take(struct delim *d, size_t n,
			      const uint8_t **payload, size_t *len)
{
	*payload = d->buf + d->start + DELIM_HEADER_BYTES;
	*len = n;
	d->start += DELIM_HEADER_BYTES + n;
	d->inner = d->start;
	return DELIM_FRAME;
}

/* The frame at start is not whole. If its sender was killed in the middle,
 * the rest never comes and a whole frame of its successor stands inside. */
static bool skip_to_inner_frame(struct delim *d)
{
	size_t at = d->inner > d->start ? d->inner : d->start + 1;
	size_t first = 0;
	size_t len;

	for (at = find_magic(d, at); at < d->end; at = find_magic(d, at + 1)) {
		if (!first)
			first = at;
		if (look_at(d, at, &len) == LOOK_WHOLE) {
			skip_to(d, at);
			return true;
		}
	}
	d->inner = first ? first : d->end;
	return false;
}

enum delim_result delim_next(struct delim *d, const uint8_t **payload,
			     size_t *len)
{
	size_t n;

	for (;;) {
		skip_to(d, find_magic(d, d->start));
		switch (look_at(d, d->start, &n)) {
		case LOOK_WHOLE:
			return take(d, n, payload, len);
		case LOOK_BAD_CRC:
			d->bad_crc++;
			skip_to(d, d->start + 1);
			continue;
		case LOOK_BAD_LENGTH:
			skip_to(d, d->start + 1);
			continue;
		case LOOK_PARTIAL:
			break;
		}
		if (d->start < d->end && skip_to_inner_frame(d))
			continue;
		d->need = DELIM_HEADER_BYTES + n;
		return d->need > d->cap ? DELIM_GROW : DELIM_MORE;
	}
}

size_t delim_need(const struct delim *d)
{
	return d->need;
}

void delim_grown(struct delim *d, uint8_t *buf, size_t cap)
{
	d->buf = buf;
	d->cap = cap;
}

void delim_reset(struct delim *d)
{
	d->start = 0;
	d->end = 0;
	d->inner = 0;
}
