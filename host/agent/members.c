#include "host/agent/members.h"

#include <errno.h>
#include <string.h>

#include "host/agent/disk.h"
#include "host/array/md.h"
#include "host/util/parse.h"

/* What md says of a member that has not all the data: dropped, or kept with a
 * list of the blocks it could not write (Linux
 * Documentation/admin-guide/md.rst, "state"). A dropped one keeps its folder
 * until it is removed. */
static bool members_md_state_is_bad(const char *root, const char *md_node,
				    const char *node)
{
	char path[FS_PATH_BYTES];
	char state[128];

	return fs_path(path, "%s/sys/block/%s/md/dev-%s/state", root, md_node,
		       node) == 0 &&
	       fs_read_line(path, state, sizeof(state)) == 0 &&
	       (strstr(state, "faulty") || strstr(state, "write_error"));
}

static bool members_md_has(const char *root, const char *md_node,
			   const char *node)
{
	char holder[ARRAY_NODE_BYTES];

	disk_md_holder(root, node, holder, sizeof(holder));
	return strcmp(holder, md_node) == 0 &&
	       !members_md_state_is_bad(root, md_node, node);
}

static int member_find(const struct agent *a, const char *serial,
		       const char *md_node, struct member *m, struct err *err)
{
	char path[FS_PATH_BYTES];
	struct disk d;
	int rc = disk_find(a->cfg.root, serial, &d, err);

	*m = (struct member){ 0 };
	if (rc)
		return rc;
	(void)str_copy(m->node, sizeof(m->node), d.name);
	if (fs_path(path, "%s/sys/block/%s/diskseq", a->cfg.root, d.name) == 0)
		(void)fs_read_u64(path, &m->seq);
	if (*md_node && !members_md_has(a->cfg.root, md_node, d.name))
		return err_set(err, -ENODEV,
			       "%s runs without disk %s, so nothing was done",
			       md_node, serial);
	return 0;
}

int members_note(const struct agent *a, const struct record *r,
		 const char *md_node, struct member *out, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->spec->n_serial; i++)
		rc = member_find(a, r->spec->serial[i], md_node, &out[i], err);
	return rc;
}

static bool members_degraded(const struct agent *a, const char *md_node)
{
	struct md_state state;

	return *md_node && (md_read_state(a->cfg.root, md_node, &state) != 0 ||
			    state.degraded);
}

char **members_lost(const struct agent *a, const struct record *r,
		    const char *md_node, const struct member *noted,
		    struct arena *arena, size_t *count)
{
	struct argv lost = { .arena = arena };

	for (size_t i = 0; i < r->spec->n_serial; i++) {
		struct member now;

		if (member_find(a, r->spec->serial[i], md_node, &now, NULL) ||
		    strcmp(now.node, noted[i].node) != 0 ||
		    now.seq != noted[i].seq)
			argv_add(&lost, r->spec->serial[i]);
	}
	if (!lost.count && members_degraded(a, md_node))
		argv_add(&lost, md_node);
	*count = lost.count;
	return (char **)(uintptr_t)lost.arg;
}
