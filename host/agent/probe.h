/* host/agent/probe.h - what is written on a device, by libblkid's probers for
 * superblocks and partition tables. */
#ifndef HOST_AGENT_PROBE_H
#define HOST_AGENT_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/err.h"

#define PROBE_MAX        16u
#define PROBE_UUID_BYTES 64u

struct probe_sig {
	char type[32];  /* ext4, linux_raid_member, gpt */
	char usage[24]; /* filesystem, raid, crypto, other, partition table */
	char label[128];
	char uuid[PROBE_UUID_BYTES];
	uint64_t offset_bytes; /* of its magic */
	bool ours;             /* md array of homehost bay, or label bay-... */
};

struct probe_result {
	struct probe_sig sig[PROBE_MAX];
	size_t count; /* PROBE_MAX: there may be more */
};

/* Have the kernel start reading what the probers will look at. They read some
 * fifty scattered blocks one after the other, each a seek of a cold disk: half
 * a second a disk on the virtual bench, a third of it after this. Call it for
 * every disk first, so that they seek at the same time. Only a hint. */
void probe_prefetch(int fd);

/* fd is a readable block device or regular file. 0 or -errno. */
int probe_read(int fd, struct probe_result *out, struct err *err);

/* UUID of a superblock of one type, in blkid's notation; no other is looked
 * for, which takes a few reads instead of fifty. uuid has room for
 * PROBE_UUID_BYTES and is "" when there is none or the device cannot be read.
 */
void probe_uuid(int fd, const char *type, char *uuid);

/* Erase the magic of every signature. -EPERM, and no more is erased, at one
 * that is not ours. fd is open for writing, exclusively. */
int probe_wipe_ours(int fd, struct err *err);

/* The rule behind probe_sig.ours. */
bool probe_is_ours(const char *type, const char *label);

#endif
