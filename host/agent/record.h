/* host/agent/record.h - the arrays this agent made, by name. Kept in files, so
 * that the next agent of the same boot can undo them.
 *
 * A record is made before its array and holds the name and the disks, running
 * or not, until array_zero has wiped every member. Reset drops the records of
 * what it stopped, wiped or not: bay run, which asks for it only where no array
 * was made by hand, then takes the name of its cells for other disks and writes
 * over what cells left on a disk that was away. */
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
/* -ENOENT: no array of that name, with a sentence. A damaged note is set aside
 * first, see damaged_record: 0 when the disks tell of the array, else -ENOENT.
 */
int record_load(const struct agent *a, const char *name, struct arena *arena,
		struct record *out, struct err *err);
int record_delete(const struct agent *a, const char *name);

/* Look at every record, so that damaged ones are set aside. */
void record_check_all(const struct agent *a);

/* Names of all, sorted, in arena; NULL-ended. */
char **record_names(const struct agent *a, struct arena *arena);

/* Whether both ask for the same array, word by word. */
bool record_same_spec(const Bay__ArraySpec *a, const Bay__ArraySpec *b);

/* Whether disks, named by serial or WWN, are free for the array of this name:
 * no record of another has one of them. -EPERM names the array that does;
 * other -errno: a record can neither be read nor be set aside. */
int record_check_disks(const struct agent *a, const char *name,
		       char *const *serial, size_t count, struct arena *arena,
		       struct err *err);

/* Whether an array of this name and spec may be made: its disks are free and no
 * other has its name. A record of the very same array, left by an agent that
 * died or by a stop, may be replaced. -EPERM and others as above. */
int record_check_free(const struct agent *a, const char *name,
		      const Bay__ArraySpec *spec, struct arena *arena,
		      struct err *err);

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
