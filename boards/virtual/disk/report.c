/* boards/virtual/disk/report.c - the state of a disk in a form that can be
 * compared. */
#include "boards/virtual/disk/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BYTES (256u * 1024u)

/* A block of zeros hashes as its place alone: a hole and written zeros are the
 * same disk. */
static uint64_t hash_block(uint64_t hash, uint64_t at, const void *buf,
			   size_t n)
{
	const unsigned char *p = buf;

	if (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0)
		return hash;
	hash = rng_hash(hash, &at, sizeof(at));
	return rng_hash(hash, buf, n);
}

int vdisk_media_hash(struct vdisk *d, uint64_t *hash)
{
	unsigned char *buf = malloc(STEP_BYTES);
	uint64_t sum = RNG_HASH_INIT;
	uint64_t at = 0;
	int err = 0;

	if (buf == NULL)
		return -ENOMEM;
	while (at < d->cfg.size_bytes && err == 0) {
		uint64_t n = d->cfg.size_bytes - at;

		if (n > STEP_BYTES)
			n = STEP_BYTES;
		err = d->media->read(d->media_ctx, buf, at, n);
		if (err == 0)
			sum = hash_block(sum, at, buf, n);
		at += n;
	}
	free(buf);
	if (err == 0)
		*hash = sum;
	return err;
}

struct out {
	void (*line)(void *ctx, const char *text);
	void *ctx;
};

static void number(const struct out *out, const char *name, uint64_t value)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %" PRIu64, name, value);
	out->line(out->ctx, text);
}

static void entry(const struct out *out, const struct cache_entry *e)
{
	static const char *const kinds[VDISK_OP_KIND_COUNT] = {
		[VDISK_WRITE] = "write",
		[VDISK_TRIM] = "trim",
		[VDISK_ZERO] = "zero",
	};
	uint64_t hash = 0;
	char text[160];

	if (e->data != NULL)
		hash = rng_hash(RNG_HASH_INIT, e->data, e->n);
	snprintf(text, sizeof(text),
		 "entry %" PRIu64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64
		 " %016" PRIx64,
		 e->id, kinds[e->kind], e->offset, e->n, e->arrive_ns, hash);
	out->line(out->ctx, text);
}

int vdisk_snapshot(struct vdisk *d, void (*line)(void *ctx, const char *text),
		   void *ctx)
{
	struct out out = { line, ctx };
	const struct cache_entry *e;
	struct vdisk_status st;
	char text[64];
	uint64_t hash;
	int err = vdisk_media_hash(d, &hash);

	if (err != 0)
		return err;
	vdisk_status(d, &st);
	number(&out, "time", d->now_ns);
	snprintf(text, sizeof(text), "power %s", vdisk_power_name(st.power));
	line(ctx, text);
	number(&out, "head", d->head_byte);
	number(&out, "ops", st.ops);
	number(&out, "errors", st.errors);
	number(&out, "read", st.read_bytes);
	number(&out, "written", st.write_bytes);
	number(&out, "media", st.media_bytes);
	number(&out, "flushes", st.flushes);
	number(&out, "dirty", st.dirty_bytes);
	number(&out, "lost", st.lost_bytes);
	number(&out, "cuts", st.cuts);
	TAILQ_FOREACH(e, &d->cache.entries, link)
	entry(&out, e);
	snprintf(text, sizeof(text), "hash %016" PRIx64, hash);
	line(ctx, text);
	return 0;
}
