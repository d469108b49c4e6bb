/* host/agent/disk.h - whole disks by serial or WWN, from sysfs. Kernel names
 * (sda) are looked up anew for each step and are never an identity. */
#ifndef HOST_AGENT_DISK_H
#define HOST_AGENT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/err.h"
#include "host/util/fs.h"

struct disk {
	char name[32]; /* kernel name now */
	char serial[96];
	char wwn[128];
	char model[96];
	char write_cache[24];
	uint64_t size_bytes;
	uint32_t logical_block_bytes;
	uint32_t physical_block_bytes;
	uint32_t major, minor;
	bool rotational;
	bool fua;
	bool read_only;
};

/* All disks that have a serial or WWN, in order of their names. Caller frees
 * *out. Disks without identity are left out: nothing may touch them. */
int disk_scan(const char *root, struct disk **out, size_t *count);

/* The one disk whose serial, or else WWN, is id. -ENODEV: none. -ENOTUNIQ: more
 * than one answers to it, so it is no identity. */
int disk_find(const char *root, const char *id, struct disk *out,
	      struct err *err);

/* Whether id is its serial or its WWN. */
bool disk_has_id(const struct disk *disk, const char *id);

/* Whether one kernel name, e.g. from a descriptor's device number, still is the
 * disk with this serial or WWN. */
bool disk_is(const char *root, const char *name, const char *id);

/* /dev path of its node. */
int disk_path(const char *root, const struct disk *disk,
	      char path[FS_PATH_BYTES]);

/* What holds the disk or a partition of it: "mounted on /", "swap", "held by
 * md127". by is "" when free. Holders named allow_holder ("" = none) do not
 * count. 0 or -errno when that cannot be found out. */
int disk_in_use(const char *root, const struct disk *disk,
		const char *allow_holder, char *by, size_t size);

/* Kernel name of the md device that holds the disk, "" for none. */
void disk_md_holder(const char *root, const char *name, char *md, size_t size);

#endif
