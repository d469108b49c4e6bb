/* host/agent/record.h - the arrays this agent made, by name. Kept in files, so
 * that the next agent of the same boot can undo them. */
#ifndef HOST_AGENT_RECORD_H
#define HOST_AGENT_RECORD_H

#include "host/agent/agent.h"

struct record {
	char name[ARRAY_NAME_MAX + 1];
	Bay__ArraySpec *spec;        /* as asked for; in the arena */
	char fs_type[16];            /* of the last mkfs or mount; "" */
	char node[ARRAY_NODE_BYTES]; /* of the md device when it was started,
				      * "" */
};

int record_save(const struct agent *a, const struct record *r, struct err *err);
/* -ENOENT: no array of that name, with a sentence. */
int record_load(const struct agent *a, const char *name, struct arena *arena,
		struct record *out, struct err *err);
int record_delete(const struct agent *a, const char *name);

/* Names of all, sorted, in arena; NULL-ended. */
char **record_names(const struct agent *a, struct arena *arena);

/* Kernel name of the md device of a recorded array: the holder that its members
 * share. When they have all been pulled: the noted one, if it has no member of
 * another array. "" when it does not run. */
void record_md_node(const struct agent *a, const struct record *r,
		    char node[ARRAY_NODE_BYTES]);

/* Fill in spec from the wire, members in arena. -EINVAL with a sentence. */
int record_spec(const char *name, const Bay__ArraySpec *wire,
		struct array_spec *spec, struct arena *arena, struct err *err);

/* A block device of an array that carries, or may carry, a file system. */
struct target {
	char device[FS_PATH_BYTES];
	char node[ARRAY_NODE_BYTES];
	char point[FS_PATH_BYTES]; /* where it is to be mounted */
	bool mounted;
	char mount_type[32]; /* of what is mounted there */
	char **serial;       /* members behind it */
	size_t serial_count;
};

/* The targets of a recorded array as they are now, in arena. -ENODEV: a disk
 * is missing or the md device does not run. */
int record_targets(const struct agent *a, const struct record *r,
		   struct arena *arena, struct target **out, size_t *count,
		   struct err *err);

/* ArrayState of a recorded array as it is now. */
int record_state(const struct agent *a, const struct record *r,
		 struct arena *arena, Bay__ArrayState **out, struct err *err);

/* The wire's form of targets. */
Bay__Target **record_wire_targets(const struct record *r,
				  const struct target *t, size_t count,
				  struct arena *arena);

#endif
