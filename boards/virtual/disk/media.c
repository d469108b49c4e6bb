/* boards/virtual/disk/media.c - one reservation of address space, whose pages
 * the kernel makes when they are written. */
#include "boards/virtual/disk/media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A huge page. Measured: a fault on each 4 KiB costs more than all of the
 * copying. */
#define CHUNK_BYTES (2u << 20)

struct media {
	unsigned char *base; /* aligned to a chunk */
	void *map;
	size_t map_bytes;
	bool written[]; /* for each chunk; others read as zeros */
};

/* The part of a range that lies in one chunk. */
struct piece {
	unsigned char *at;
	bool *written;
	size_t n;
};

static struct piece piece_at(struct media *m, uint64_t offset, uint64_t n)
{
	size_t left = CHUNK_BYTES - offset % CHUNK_BYTES;

	return (struct piece){
		.at = m->base + offset,
		.written = &m->written[offset / CHUNK_BYTES],
		.n = n < left ? (size_t)n : left,
	};
}

static int reserve(struct media *m, size_t bytes)
{
	uintptr_t start;

	m->map_bytes = bytes + CHUNK_BYTES;
	m->map = mmap(NULL, m->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->map == MAP_FAILED)
		return -ENOMEM;
	start = (uintptr_t)m->map + CHUNK_BYTES - 1;
	m->base = (unsigned char *)(start - start % CHUNK_BYTES);
	/* Only faster: a kernel without huge pages says no. */
	madvise(m->map, m->map_bytes, MADV_HUGEPAGE);
	return 0;
}

struct media *media_new(uint64_t size_bytes)
{
	size_t count = (size_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
	struct media *m = calloc(1, sizeof(*m) + count * sizeof(m->written[0]));

	if (m == NULL)
		return NULL;
	if (reserve(m, count * CHUNK_BYTES) == 0)
		return m;
	free(m);
	errno = ENOMEM;
	return NULL;
}

void media_free(struct media *m)
{
	if (m == NULL)
		return;
	munmap(m->map, m->map_bytes);
	free(m);
}

static int media_read(void *ctx, void *buf, uint64_t offset, size_t n)
{
	unsigned char *to = buf;

	while (n > 0) {
		struct piece p = piece_at(ctx, offset, n);

		if (*p.written)
			memcpy(to, p.at, p.n);
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
	const unsigned char *from = buf;

	while (n > 0) {
		struct piece p = piece_at(ctx, offset, n);

		memcpy(p.at, from, p.n);
		*p.written = true;
		from += p.n;
		offset += p.n;
		n -= p.n;
	}
	return 0;
}

/* A whole chunk goes back to the kernel. */
static int zero_piece(const struct piece *p)
{
	if (!*p->written)
		return 0;
	if (p->n < CHUNK_BYTES) {
		memset(p->at, 0, p->n);
		return 0;
	}
	if (madvise(p->at, p->n, MADV_DONTNEED) != 0)
		return -errno;
	*p->written = false;
	return 0;
}

static int media_zero(void *ctx, uint64_t offset, uint64_t n)
{
	while (n > 0) {
		struct piece p = piece_at(ctx, offset, n);
		int err = zero_piece(&p);

		if (err != 0)
			return err;
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
