/* boards/virtual/disk/rng.c - counter-based random numbers. */
#include "boards/virtual/disk/rng.h"

#include <string.h>

#define FNV_PRIME 0x100000001b3ull
#define GOLDEN    0x9e3779b97f4a7c15ull

/* The finalizer of splitmix64: every input bit moves half of the output. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

uint64_t rng_hash(uint64_t hash, const void *bytes, uint64_t n)
{
	const unsigned char *p = bytes;

	/* A word a step: hashing a disk must not take minutes. */
	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * FNV_PRIME;
		hash ^= hash >> 32;
		p += sizeof(word);
	}
	while (n-- > 0)
		hash = (hash ^ *p++) * FNV_PRIME;
	return hash;
}

void rng_init(struct rng *rng, uint64_t seed, const char *disk)
{
	memset(rng, 0, sizeof(*rng));
	rng->key = mix(seed + GOLDEN) ^
		   rng_hash(RNG_HASH_INIT, disk, strlen(disk));
}

uint64_t rng_draw(struct rng *rng, enum rng_family family)
{
	uint64_t stream = mix(rng->key + GOLDEN * (family + 1ull));

	return mix(stream + GOLDEN * ++rng->counter[family]);
}

uint64_t rng_below(struct rng *rng, enum rng_family family, uint64_t bound)
{
	unsigned __int128 wide = rng_draw(rng, family);

	return (uint64_t)(wide * bound >> 64);
}
