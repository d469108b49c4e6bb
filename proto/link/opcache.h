/* proto/link/opcache.h - results of the last commands, by op_id.
 *
 * A command that comes twice (its result was lost) must not be executed
 * twice. Bodies of results are not kept: commands that answer with a body
 * only read, and may be read again. A host that lost the link must settle
 * what is unknown before it sends anything new: only the last
 * OPCACHE_ENTRIES are remembered. No malloc. */
#ifndef PROTO_LINK_OPCACHE_H
#define PROTO_LINK_OPCACHE_H

#include <stdint.h>

#define OPCACHE_ENTRIES 16u

struct opcache_entry {
	uint64_t op_id; /* 0: unused */
	uint64_t done_us;
	uint32_t request_crc; /* crc32c of the encoded command */
	uint16_t status;      /* enum rig_status */
	uint16_t detail;
};

struct opcache {
	struct opcache_entry entry[OPCACHE_ENTRIES];
	uint32_t next;
};

void opcache_init(struct opcache *c);

/* The entry of op_id, NULL if it was never stored or is forgotten. Valid
 * until the next opcache_store(). An op_id of 0 is never found. */
const struct opcache_entry *opcache_find(const struct opcache *c,
					 uint64_t op_id);

/* Remember *e, the oldest entry gives way. An op_id that is there already
 * is replaced. */
void opcache_store(struct opcache *c, const struct opcache_entry *e);

#endif
