/* host/agent/damaged.h - files of the agent's own that cannot be read any more.
 * They are set aside and never deleted: beside where they were, ".bad" behind
 * their name. Nothing stops for them; each is told until somebody has looked at
 * it and deleted it. */
#ifndef HOST_AGENT_DAMAGED_H
#define HOST_AGENT_DAMAGED_H

#include "host/agent/agent.h"
#include "host/agent/record.h"

/* What the agent can no longer read, as reading it says. */
bool damaged_is(int rc);

/* The note of an array cannot be read: set it aside, and note the array anew if
 * the disks still say which it is - members of a running md array of its name,
 * or file systems with its label. 0: out is that array, its memory in arena.
 * -ENOENT: nothing tells, err says what to do. Other -errno: the note cannot be
 * moved and is where it was. */
int damaged_record(const struct agent *a, const char *name, struct arena *arena,
		   struct record *out, struct err *err);

/* One sentence for each file that was set aside, in arena. */
char **damaged_list(const struct agent *a, struct arena *arena, size_t *count);

#endif
