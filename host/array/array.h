/* host/array/array.h - how member disks become block devices. One table of
 * kinds; each kind is one file. Safety (allow-list, signatures) is the
 * caller's: what is passed in here may be overwritten. */
#ifndef HOST_ARRAY_ARRAY_H
#define HOST_ARRAY_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/arena.h"
#include "host/util/err.h"

#define ARRAY_NAME_MAX          24u
#define ARRAY_MEMBERS_MAX       32u
#define ARRAY_CHUNK_DEFAULT_KIB 512u
#define ARRAY_NODE_BYTES        32u

struct array_member {
	const char *serial;
	const char *device; /* path of its node now; NULL while only checked */
	const char *node;   /* kernel name now */
};

struct array_spec;

struct array_kind {
	const char *layout; /* as in matrix.yaml: single, jbod, raid0, raid1 */
	unsigned min_members;
	unsigned max_members;
	/* An md device carries the file system; else each member does. */
	bool is_md;
	/* Every member holds all data (RAID1), or each a part of it. */
	bool mirrored;
	/* md: the level's options for mdadm --create. */
	void (*create_args)(const struct array_spec *spec, struct argv *v);
	/* More than the member count to check; NULL: nothing. -EINVAL. */
	int (*check)(const struct array_spec *spec, struct err *err);
};

struct array_spec {
	const struct array_kind *kind;
	const char *name; /* [a-z0-9-]{1,24} */
	const struct array_member *member;
	unsigned count;
	uint32_t chunk_kib; /* 0 = default */
	const char *bitmap; /* "none" or "internal" */
	bool initial_sync;
};

/* Where it happens, and how the wait can be ended. */
struct array_env {
	const char *root; /* prefix of /sys, "" for the real machine */
	int cancel_fd;    /* readable: give up; -1 */
};

/* NULL-ended. */
extern const struct array_kind *const array_kinds[];
extern const struct array_kind array_single, array_jbod, array_raid0,
	array_raid1;

/* NULL: no such layout. */
const struct array_kind *array_kind_find(const char *layout);

/* -EINVAL and a sentence: bad name, number of members, option. */
int array_check(const struct array_spec *spec, struct err *err);

/* How many times each byte of a file reaches the members' platters. */
unsigned array_copies(const struct array_spec *spec);

/* Make it. node: kernel name of the md device, "" when there is none.
 * -EIO: mdadm's own words are in err; nothing is left assembled. */
int array_create(const struct array_env *env, const struct array_spec *spec,
		 char node[ARRAY_NODE_BYTES], struct err *err);

/* Start an array made earlier. Members that do not belong to it fail it. */
int array_assemble(const struct array_env *env, const struct array_spec *spec,
		   char node[ARRAY_NODE_BYTES], struct err *err);

#endif
