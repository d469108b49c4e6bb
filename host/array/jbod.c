#include "host/array/array.h"

/* "Just a bunch of disks": a file system on each member. */
const struct array_kind array_jbod = {
	.layout = "jbod",
	.min_members = 1,
	.max_members = ARRAY_MEMBERS_MAX,
};
