/* boards/virtual/disk/cache.h - the volatile write cache: entries in the order
 * in which they came. Nothing here knows the time or the media. */
#ifndef BOARDS_VIRTUAL_DISK_CACHE_H
#define BOARDS_VIRTUAL_DISK_CACHE_H

#include "boards/virtual/disk/rng.h"
#include "boards/virtual/disk/vdisk.h"

struct cache_entry {
	uint64_t id;             /* from 1, rising */
	enum vdisk_op_kind kind; /* WRITE, TRIM or ZERO */
	uint64_t offset;
	uint64_t n;
	uint64_t arrive_ns;
	bool urgent; /* somebody waits for it to be on the media */
	void *data;  /* WRITE: n bytes; else NULL */
	TAILQ_ENTRY(cache_entry) link;
};

struct cache {
	TAILQ_HEAD(cache_list, cache_entry) entries; /* oldest first */
	uint64_t last_id;
	uint64_t dirty_bytes;
	uint32_t count;
};

void cache_init(struct cache *c);

/* Append a copy of the request's data. NULL and errno ENOMEM. The entry is the
 * cache's until cache_remove(), which frees it. */
struct cache_entry *cache_add(struct cache *c, const struct vdisk_op *op);
void cache_remove(struct cache *c, struct cache_entry *e);

/* Bytes of room that an entry takes. A trim takes none. */
uint64_t cache_cost(enum vdisk_op_kind kind, uint64_t n);

/* The entries alone hold every byte of the range. */
bool cache_covers(const struct cache *c, uint64_t offset, uint64_t n);

/* Lay the entries, oldest first, over bytes read from the media. */
void cache_overlay(const struct cache *c, void *buf, uint64_t offset,
		   uint64_t n);

/* An entry with an id in first..last is still here. */
bool cache_holds(const struct cache *c, uint64_t first, uint64_t last);

/* Mark entries up to an id as waited for. */
void cache_hurry(struct cache *c, uint64_t first, uint64_t last);

struct cache_choice {
	enum vdisk_destage policy;
	uint64_t head_byte;      /* where the heads are */
	uint64_t aged_before_ns; /* older entries count as urgent */
	struct rng *rng;
};

/* The entry to write next, NULL if none: urgent ones before others, and never
 * before an older entry that overlaps it. */
struct cache_entry *cache_pick(const struct cache *c,
			       const struct cache_choice *choice);

#endif
