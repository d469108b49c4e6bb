#include "host/agent/damaged.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/disk.h"
#include "host/agent/fsys.h"
#include "host/agent/probe.h"
#include "host/array/md.h"
#include "host/util/log.h"
#include "host/util/parse.h"

bool damaged_is(int rc)
{
	/* Not in its form, much too long, or the medium fails. */
	return rc == -EBADMSG || rc == -EFBIG || rc == -EIO;
}

/* ---- finding an array again ---------------------------------------------- */

/* What the disks tell of an array whose name is known. */
struct damaged_search {
	const struct agent *agent;
	const char *name;
	struct arena *arena;
	char md_node[ARRAY_NODE_BYTES]; /* of the md array of that name */
	char fs_type[16];
	struct argv members;
	/* Of file systems on bare disks, by the number in their label. */
	char *target[ARRAY_MEMBERS_MAX];
};

static const char *damaged_id(const struct disk *d)
{
	return d->serial[0] ? d->serial : d->wwn;
}

static void damaged_take_md(struct damaged_search *s, const struct disk *d)
{
	char node[ARRAY_NODE_BYTES];

	disk_md_holder(s->agent->cfg.root, d->name, node, sizeof(node));
	if (!node[0] || (s->md_node[0] && strcmp(node, s->md_node) != 0))
		return;
	(void)str_copy(s->md_node, sizeof(s->md_node), node);
	argv_add(&s->members, damaged_id(d));
}

static void damaged_take_fs(struct damaged_search *s, const struct disk *d,
			    const struct probe_sig *sig)
{
	const struct fsys *fs = fsys_find(sig->type);

	for (unsigned i = 0; fs && i < ARRAY_MEMBERS_MAX; i++) {
		if (strcmp(sig->label, fsys_label(fs, s->name, i, s->arena)) !=
		    0)
			continue;
		s->target[i] = arena_strdup(s->arena, damaged_id(d));
		(void)str_copy(s->fs_type, sizeof(s->fs_type), sig->type);
	}
}

static void damaged_look_at(struct damaged_search *s, const struct disk *d)
{
	const char *label = arena_printf(s->arena, "bay:%s", s->name);
	struct probe_result sigs = { .count = 0 };
	char path[FS_PATH_BYTES];
	int fd;

	if (disk_path(s->agent->cfg.root, d, path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (probe_read(fd, &sigs, NULL))
		sigs.count = 0;
	close(fd);
	for (size_t i = 0; i < sigs.count; i++) {
		if (strcmp(sigs.sig[i].label, label) == 0)
			damaged_take_md(s, d);
		else
			damaged_take_fs(s, d, &sigs.sig[i]);
	}
}

static uint32_t damaged_chunk_kib(const struct damaged_search *s)
{
	char path[FS_PATH_BYTES];
	uint64_t bytes = 0;

	if (fs_path(path, "%s/sys/block/%s/md/chunk_size", s->agent->cfg.root,
		    s->md_node) == 0)
		(void)fs_read_u64(path, &bytes);
	return (uint32_t)(bytes / 1024);
}

/* Layout and options as md has them; members in the order of their names. */
static bool damaged_md_spec(const struct damaged_search *s,
			    Bay__ArraySpec *spec)
{
	struct md_state state;

	if (!s->md_node[0] ||
	    md_read_state(s->agent->cfg.root, s->md_node, &state) ||
	    !array_kind_find(state.level))
		return false;
	spec->layout = arena_strdup(s->arena, state.level);
	spec->chunk_kib = damaged_chunk_kib(s);
	spec->serial = (char **)(uintptr_t)s->members.arg;
	spec->n_serial = s->members.count;
	return true;
}

static bool damaged_fs_spec(struct damaged_search *s, Bay__ArraySpec *spec)
{
	spec->serial =
		arena_array(s->arena, ARRAY_MEMBERS_MAX, sizeof(*spec->serial));
	for (unsigned i = 0; i < ARRAY_MEMBERS_MAX; i++) {
		if (s->target[i])
			spec->serial[spec->n_serial++] = s->target[i];
	}
	spec->layout =
		arena_strdup(s->arena, spec->n_serial > 1 ? "jbod" : "single");
	return spec->n_serial != 0;
}

static bool damaged_identify(const struct agent *a, const char *name,
			     struct arena *arena, struct record *out)
{
	struct damaged_search *s = arena_alloc(arena, sizeof(*s));
	Bay__ArraySpec *spec = arena_alloc(arena, sizeof(*spec));
	struct disk *disks = NULL;
	size_t count = 0;

	*s = (struct damaged_search){ .agent = a,
				      .name = name,
				      .arena = arena,
				      .members = { .arena = arena } };
	bay__array_spec__init(spec);
	if (disk_scan(a->cfg.root, &disks, &count) == 0) {
		for (size_t i = 0; i < count; i++)
			damaged_look_at(s, &disks[i]);
	}
	free(disks);
	if (!damaged_md_spec(s, spec) && !damaged_fs_spec(s, spec))
		return false;
	*out = (struct record){ .spec = spec };
	(void)str_copy(out->name, sizeof(out->name), name);
	(void)str_copy(out->node, sizeof(out->node), s->md_node);
	(void)str_copy(out->fs_type, sizeof(out->fs_type), s->fs_type);
	return true;
}

int damaged_record(const struct agent *a, const char *name, struct arena *arena,
		   struct record *out, struct err *err)
{
	char path[FS_PATH_BYTES];
	char aside[FS_PATH_BYTES];
	int rc = fs_path(path, "%s/arrays/%s", a->cfg.state_dir, name);

	if (!rc)
		rc = fs_set_aside(path, aside);
	if (rc)
		return err_sys(err, rc,
			       "the note of array %.40s is damaged and cannot "
			       "be moved away",
			       name);
	log_warnx("the note of array %s was damaged and is kept as %s", name,
		  aside);
	if (damaged_identify(a, name, arena, out) &&
	    record_save(a, out, NULL) == 0) {
		log_warnx("array %s was noted anew as its disks tell it: %s",
			  name, out->spec->layout);
		return 0;
	}
	return err_set(err, -ENOENT,
		       "the note of array %.40s was damaged and is kept as "
		       "%.300s, and no disk tells of that array; create it "
		       "again",
		       name, aside);
}

/* ---- telling --------------------------------------------------------------
 */

static const struct {
	const char *folder;
	const char *what;
	const char *todo;
} damaged_kinds[] = {
	{ "/arrays", "the note of an array",
	  "look at 'bay array show' and, where disks still hold an array that "
	  "is not in it, create one over them with --yes or wipe them" },
	{ "/spool", "the result of a cell",
	  "'bay run --resume' runs its cell again" },
	{ "", "the journal of changed settings",
	  "a setting of an earlier cell may still stand until the machine is "
	  "booted" },
};

static void damaged_add_folder(const struct agent *a, size_t kind,
			       struct argv *list)
{
	char path[FS_PATH_BYTES];
	DIR *dir = NULL;
	struct dirent *e;

	if (fs_path(path, "%s%s", a->cfg.state_dir,
		    damaged_kinds[kind].folder) == 0)
		dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (strstr(e->d_name, FS_ASIDE))
			argv_addf(list,
				  "%s was damaged and is kept as %s/%s: %s; "
				  "then delete that file",
				  damaged_kinds[kind].what, path, e->d_name,
				  damaged_kinds[kind].todo);
	}
	if (dir)
		closedir(dir);
}

char **damaged_list(const struct agent *a, struct arena *arena, size_t *count)
{
	struct argv list = { .arena = arena };

	for (size_t k = 0; k < sizeof(damaged_kinds) / sizeof(*damaged_kinds);
	     k++)
		damaged_add_folder(a, k, &list);
	*count = list.count;
	return (char **)(uintptr_t)list.arg;
}
