/* host/agent/fsys.h - file systems that a target can carry: one row a type in
 * fsys.c. */
#ifndef HOST_AGENT_FSYS_H
#define HOST_AGENT_FSYS_H

#include "host/util/arena.h"

struct fsys {
	const char *type;
	const char *tool;           /* mkfs.TYPE */
	const char *const *options; /* NULL-ended, before the user's */
	const char *label_option;
	unsigned label_max;        /* bytes */
	const char *mount_options; /* before the user's; NULL: none */
};

/* NULL: no such type. */
const struct fsys *fsys_find(const char *type);

/* "bay-ARRAY-INDEX", cut to what the type can hold, in arena. The start marks
 * it as bay's own (probe.h). */
char *fsys_label(const struct fsys *fs, const char *array, unsigned index,
		 struct arena *arena);

/* "ext4, xfs, btrfs" */
char *fsys_names(struct arena *arena);

#endif
