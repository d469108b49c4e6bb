/* boards/virtual/disk/rng.h - random decisions that do not disturb each other.
 *
 * A draw is a function of (seed, disk, family, counter): a family that draws
 * more or less often than before shifts no other. */
#ifndef BOARDS_VIRTUAL_DISK_RNG_H
#define BOARDS_VIRTUAL_DISK_RNG_H

#include <stdint.h>

enum rng_family {
	RNG_SPINDLE, /* angle at time 0 */
	RNG_MOTOR,   /* peak current */
	RNG_DESTAGE,
	RNG_CUT,
	RNG_LIE,
	RNG_FAMILY_COUNT,
};

struct rng {
	uint64_t key;
	uint64_t counter[RNG_FAMILY_COUNT];
};

void rng_init(struct rng *rng, uint64_t seed, const char *disk);

/* The family's next 64 uniform bits. */
uint64_t rng_draw(struct rng *rng, enum rng_family family);

/* Uniform in 0..bound-1; bound > 0. One draw. */
uint64_t rng_below(struct rng *rng, enum rng_family family, uint64_t bound);

/* FNV-1a of n bytes, going on from `hash`; start with RNG_HASH_INIT. */
#define RNG_HASH_INIT 0xcbf29ce484222325ull
uint64_t rng_hash(uint64_t hash, const void *bytes, uint64_t n);

#endif
