/* boards/virtual/disk/cache.c - ordered entries of the write cache. */
#include "boards/virtual/disk/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cache_init(struct cache *c)
{
	memset(c, 0, sizeof(*c));
	TAILQ_INIT(&c->entries);
}

uint64_t cache_cost(enum vdisk_op_kind kind, uint64_t n)
{
	/* Zeros need no buffer but the media's time: they count in full, so
	 * that a flush never has more to wait for than the cache's size. */
	return kind == VDISK_TRIM ? 0 : n;
}

struct cache_entry *cache_add(struct cache *c, const struct vdisk_op *op)
{
	struct cache_entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->kind = op->kind;
	e->offset = op->offset;
	e->n = op->n;
	if (op->kind == VDISK_WRITE) {
		e->data = malloc(op->n);
		if (e->data == NULL)
			goto err_free;
		memcpy(e->data, op->data, op->n);
	}
	e->id = ++c->last_id;
	c->dirty_bytes += cache_cost(e->kind, e->n);
	c->count++;
	TAILQ_INSERT_TAIL(&c->entries, e, link);
	return e;
err_free:
	free(e);
	errno = ENOMEM;
	return NULL;
}

void cache_remove(struct cache *c, struct cache_entry *e)
{
	TAILQ_REMOVE(&c->entries, e, link);
	c->dirty_bytes -= cache_cost(e->kind, e->n);
	c->count--;
	free(e->data);
	free(e);
}

static bool overlaps(const struct cache_entry *e, uint64_t offset, uint64_t n)
{
	return e->offset < offset + n && offset < e->offset + e->n;
}

bool cache_covers(const struct cache *c, uint64_t offset, uint64_t n)
{
	const struct cache_entry *e;
	uint64_t end = offset + n;
	bool grew = true;

	/* Grow a covered prefix until no entry adds to it: as many passes as
	 * the range has pieces, which is few. */
	while (offset < end && grew) {
		grew = false;
		TAILQ_FOREACH(e, &c->entries, link)
		{
			if (e->offset > offset || e->offset + e->n <= offset)
				continue;
			offset = e->offset + e->n;
			grew = true;
		}
	}
	return offset >= end;
}

void cache_overlay(const struct cache *c, void *buf, uint64_t offset,
		   uint64_t n)
{
	const struct cache_entry *e;

	TAILQ_FOREACH(e, &c->entries, link)
	{
		uint64_t from = e->offset > offset ? e->offset : offset;
		uint64_t to = e->offset + e->n;
		unsigned char *at = (unsigned char *)buf + (from - offset);

		if (!overlaps(e, offset, n))
			continue;
		if (to > offset + n)
			to = offset + n;
		if (e->data == NULL)
			memset(at, 0, to - from);
		else
			memcpy(at,
			       (unsigned char *)e->data + (from - e->offset),
			       to - from);
	}
}

bool cache_holds(const struct cache *c, uint64_t first, uint64_t last)
{
	const struct cache_entry *e;

	TAILQ_FOREACH(e, &c->entries, link)
	{
		if (e->id > last)
			return false;
		if (e->id >= first)
			return true;
	}
	return false;
}

void cache_hurry(struct cache *c, uint64_t first, uint64_t last)
{
	struct cache_entry *e;

	TAILQ_FOREACH(e, &c->entries, link)
	if (e->id >= first && e->id <= last)
		e->urgent = true;
}

/* The entry itself, or the oldest one that must reach the media before it. */
static struct cache_entry *in_order(const struct cache *c,
				    struct cache_entry *e)
{
	struct cache_entry *older = TAILQ_FIRST(&c->entries);

	while (older != e) {
		if (!overlaps(older, e->offset, e->n)) {
			older = TAILQ_NEXT(older, link);
			continue;
		}
		e = older;
		older = TAILQ_FIRST(&c->entries);
	}
	return e;
}

static bool is_urgent(const struct cache_entry *e,
		      const struct cache_choice *choice)
{
	return e->urgent || e->arrive_ns < choice->aged_before_ns;
}

/* Bytes that the heads pass on their one way over the disk to reach e. */
static uint64_t ahead(const struct cache_entry *e, uint64_t head)
{
	return e->offset - head; /* behind the head wraps to a huge number */
}

static struct cache_entry *pick_elevator(const struct cache *c,
					 const struct cache_choice *choice)
{
	struct cache_entry *best = NULL;
	bool best_urgent = false;
	struct cache_entry *e;

	TAILQ_FOREACH(e, &c->entries, link)
	{
		bool urgent = is_urgent(e, choice);

		if (best != NULL && best_urgent && !urgent)
			continue;
		if (best != NULL && urgent == best_urgent &&
		    ahead(e, choice->head_byte) >=
			    ahead(best, choice->head_byte))
			continue;
		best = e;
		best_urgent = urgent;
	}
	return best;
}

static struct cache_entry *pick_random(const struct cache *c,
				       const struct cache_choice *choice)
{
	uint64_t k = rng_below(choice->rng, RNG_DESTAGE, c->count);
	struct cache_entry *e = TAILQ_FIRST(&c->entries);

	while (k-- > 0)
		e = TAILQ_NEXT(e, link);
	return e;
}

struct cache_entry *cache_pick(const struct cache *c,
			       const struct cache_choice *choice)
{
	struct cache_entry *e = TAILQ_FIRST(&c->entries);

	if (e == NULL || choice->policy == VDISK_DESTAGE_FIFO)
		return e;
	if (choice->policy == VDISK_DESTAGE_RANDOM)
		e = pick_random(c, choice);
	else
		e = pick_elevator(c, choice);
	return in_order(c, e);
}
