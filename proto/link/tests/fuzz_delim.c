/* The agent's byte stream from a hostile peer, in pieces. The first byte says
 * how large the pieces are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/link/crc32c.h"
#include "proto/link/delim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t sink;

static void take_frames(struct delim *d)
{
	const uint8_t *payload;
	enum delim_result got;
	size_t len;

	while ((got = delim_next(d, &payload, &len)) == DELIM_FRAME)
		sink ^= crc32c(payload, len);
	/* 4 MiB for each of many inputs would only be slow. */
	if (got == DELIM_GROW && delim_need(d) <= 65536) {
		uint8_t *buf = realloc(d->buf, delim_need(d));

		if (buf)
			delim_grown(d, buf, delim_need(d));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct delim d;
	size_t step = size ? data[0] + 1u : 1;

	delim_init(&d, malloc(64), 64);
	for (size_t at = 1; at < size;) {
		size_t room, n = size - at < step ? size - at : step;
		uint8_t *dst = delim_space(&d, &room);

		if (!room)
			break;
		n = n < room ? n : room;
		memcpy(dst, data + at, n);
		delim_fill(&d, n);
		at += n;
		take_frames(&d);
	}
	free(d.buf);
	return 0;
}
