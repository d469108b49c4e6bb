/* boards/virtual/disk/media.c - a table of chunks, made when written. */
#include "boards/virtual/disk/media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (256u * 1024u)

struct media {
	size_t count;
	unsigned char *chunk[];
};

/* The part of a range that lies in one chunk. */
struct piece {
	size_t index;
	size_t start;
	size_t n;
};

static struct piece piece_at(uint64_t offset, uint64_t n)
{
	struct piece p = { .index = offset / CHUNK_BYTES,
			   .start = offset % CHUNK_BYTES };

	p.n = CHUNK_BYTES - p.start;
	if (p.n > n)
		p.n = n;
	return p;
}

struct media *media_new(uint64_t size_bytes)
{
	size_t count = (size_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
	struct media *m;

	m = calloc(1, sizeof(*m) + count * sizeof(m->chunk[0]));
	if (m != NULL)
		m->count = count;
	return m;
}

void media_free(struct media *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->count; i++)
		free(m->chunk[i]);
	free(m);
}

static int media_read(void *ctx, void *buf, uint64_t offset, size_t n)
{
	struct media *m = ctx;
	unsigned char *to = buf;

	while (n > 0) {
		struct piece p = piece_at(offset, n);

		if (m->chunk[p.index] != NULL)
			memcpy(to, m->chunk[p.index] + p.start, p.n);
		else
			memset(to, 0, p.n);
		to += p.n;
		offset += p.n;
		n -= p.n;
	}
	return 0;
}

static int media_write(void *ctx, const void *buf, uint64_t offset, size_t n)
{
	struct media *m = ctx;
	const unsigned char *from = buf;

	while (n > 0) {
		struct piece p = piece_at(offset, n);

		if (m->chunk[p.index] == NULL)
			m->chunk[p.index] = calloc(1, CHUNK_BYTES);
		if (m->chunk[p.index] == NULL)
			return -ENOMEM;
		memcpy(m->chunk[p.index] + p.start, from, p.n);
		from += p.n;
		offset += p.n;
		n -= p.n;
	}
	return 0;
}

static void zero_piece(struct media *m, const struct piece *p)
{
	if (p->n == CHUNK_BYTES) {
		free(m->chunk[p->index]);
		m->chunk[p->index] = NULL;
	} else if (m->chunk[p->index] != NULL) {
		memset(m->chunk[p->index] + p->start, 0, p->n);
	}
}

static int media_zero(void *ctx, uint64_t offset, uint64_t n)
{
	struct media *m = ctx;

	while (n > 0) {
		struct piece p = piece_at(offset, n);

		zero_piece(m, &p);
		offset += p.n;
		n -= p.n;
	}
	return 0;
}

const struct vdisk_media_ops media_ops = {
	.read = media_read,
	.write = media_write,
	.zero = media_zero,
};
