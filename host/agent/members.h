/* host/agent/members.h - whether the disks of an array stay the same disks, all
 * of them in it, while something runs. */
#ifndef HOST_AGENT_MEMBERS_H
#define HOST_AGENT_MEMBERS_H

#include "host/agent/agent.h"
#include "host/agent/record.h"

/* Who a member is in this boot. */
struct member {
	char node[ARRAY_NODE_BYTES];
	uint64_t seq; /* of diskseq: a disk that comes back has another; 0: a
		       * kernel before 5.14 */
};

/* Note the members of a recorded array, one each spec->serial. md_node: kernel
 * name of its md device, "" for none. -ENODEV with a sentence: one is not
 * there, or md goes without it. */
int members_note(const struct agent *a, const struct record *r,
		 const char *md_node, struct member *out, struct err *err);

/* Serials of those that went away since, also if they are back, or that md has
 * dropped; in arena, *count of them. The name of the md device when md is
 * degraded and does not say by whom. */
char **members_lost(const struct agent *a, const struct record *r,
		    const char *md_node, const struct member *noted,
		    struct arena *arena, size_t *count);

#endif
