/* host/array/md.h - md devices: changed through mdadm, read from sysfs. */
#ifndef HOST_ARRAY_MD_H
#define HOST_ARRAY_MD_H

#include "host/array/array.h"

struct md_state {
	char level[16];       /* raid0, raid1 */
	char array_state[24]; /* clean, active, write-pending, inactive ... */
	char sync_action[24]; /* idle, resync ...; "" where there is none */
	uint32_t raid_disks;
	uint32_t degraded;
	bool clean; /* runs, nothing degraded, no resync */
};

int md_create(const struct array_env *env, const struct array_spec *spec,
	      char node[ARRAY_NODE_BYTES], struct err *err);
int md_assemble(const struct array_env *env, const struct array_spec *spec,
		char node[ARRAY_NODE_BYTES], struct err *err);

/* Stop /dev/NODE; a node that is not there is success. -EBUSY: in use. */
int md_stop(const struct array_env *env, const char *node, struct err *err);

/* Erase the md superblocks of members that no array holds; count is 1 or more.
 */
int md_zero(const struct array_env *env, const char *const *device,
	    size_t count, struct err *err);

/* -ENOENT: no such md device. */
int md_read_state(const char *root, const char *node, struct md_state *out);

/* Until no resync runs. -ECANCELED, -ENOENT. Blocks for hours if it must;
 * done (0..1) is called about twice a second and may be NULL. */
int md_wait_idle(const struct array_env *env, const char *node,
		 void (*done)(void *arg, double part), void *arg,
		 struct err *err);

/* Kernel names of its members into name[], at most max; the number of them. */
unsigned md_members(const char *root, const char *node,
		    char name[][ARRAY_NODE_BYTES], unsigned max);

#endif
