#include "host/agent/environ.h"

#include <string.h>

#include "host/agent/disk.h"
#include "host/agent/mounts.h"

#define ENVIRON_MAX         1024u
#define ENVIRON_VALUE_BYTES 512u

static const char *const environ_queue[] = {
	"scheduler",           "read_ahead_kb",
	"max_sectors_kb",      "nr_requests",
	"write_cache",         "rotational",
	"wbt_lat_usec",        "nomerges",
	"rq_affinity",         "logical_block_size",
	"physical_block_size",
};

static const char *const environ_vm[] = {
	"dirty_bytes",
	"dirty_background_bytes",
	"dirty_ratio",
	"dirty_background_ratio",
	"dirty_expire_centisecs",
	"dirty_writeback_centisecs",
	"swappiness",
};

static const char *const environ_md[] = {
	"level",           "chunk_size",
	"raid_disks",      "metadata_version",
	"bitmap/location", "consistency_policy",
};

#define ENVIRON_COUNT(list) (sizeof(list) / sizeof(*(list)))

struct environ_list {
	struct arena *arena;
	Bay__Param **param;
	size_t count;
};

static void environ_add(struct environ_list *l, char *name, const char *value)
{
	Bay__Param *p = arena_alloc(l->arena, sizeof(*p));

	if (l->count == ENVIRON_MAX)
		return;
	bay__param__init(p);
	p->name = name;
	p->value = arena_strdup(l->arena, value);
	l->param[l->count++] = p;
}

/* A file of one line; what this kernel does not have is left out. */
static void environ_add_file(struct environ_list *l, char *name,
			     const char *path)
{
	char value[ENVIRON_VALUE_BYTES];

	if (fs_read_line(path, value, sizeof(value)) == 0)
		environ_add(l, name, value);
}

static void environ_add_queue(struct environ_list *l, const char *root,
			      const char *owner, const char *node)
{
	for (size_t i = 0; i < ENVIRON_COUNT(environ_queue); i++)
		environ_add_file(l,
				 arena_printf(l->arena, "%s/queue/%s", owner,
					      environ_queue[i]),
				 arena_printf(l->arena,
					      "%s/sys/block/%s/queue/%s", root,
					      node, environ_queue[i]));
}

static void environ_add_md(struct environ_list *l, const char *root,
			   const char *array, const char *node)
{
	for (size_t i = 0; i < ENVIRON_COUNT(environ_md); i++)
		environ_add_file(l,
				 arena_printf(l->arena, "%s/md/%s", array,
					      environ_md[i]),
				 arena_printf(l->arena, "%s/sys/block/%s/md/%s",
					      root, node, environ_md[i]));
}

static void environ_add_mount(struct environ_list *l, const char *root,
			      const char *array, const struct target *t,
			      size_t index)
{
	struct mount m;

	if (!t->mounted || !mounts_at(root, t->point, &m))
		return;
	environ_add(l, arena_printf(l->arena, "%s/mount/%zu", array, index),
		    arena_printf(l->arena, "%s %s", m.fs_type, m.options));
}

static void environ_add_members(struct environ_list *l, const struct agent *a,
				const struct record *r)
{
	for (size_t i = 0; i < r->spec->n_serial; i++) {
		struct disk d;

		if (disk_find(a->cfg.root, r->spec->serial[i], &d, NULL))
			continue;
		environ_add_queue(l, a->cfg.root, r->spec->serial[i], d.name);
		environ_add(
			l,
			arena_printf(l->arena, "%s/model", r->spec->serial[i]),
			d.model);
		environ_add(l,
			    arena_printf(l->arena, "%s/size_bytes",
					 r->spec->serial[i]),
			    arena_printf(l->arena, "%llu",
					 (unsigned long long)d.size_bytes));
	}
}

Bay__Param **environ_read(const struct agent *a, const struct record *r,
			  const struct target *t, size_t targets,
			  struct arena *arena, size_t *count)
{
	struct environ_list l = { .arena = arena };
	const struct array_kind *kind = array_kind_find(r->spec->layout);

	l.param = arena_array(arena, ENVIRON_MAX, sizeof(*l.param));
	for (size_t i = 0; i < ENVIRON_COUNT(environ_vm); i++)
		environ_add_file(&l,
				 arena_printf(arena, "vm/%s", environ_vm[i]),
				 arena_printf(arena, "%s/proc/sys/vm/%s",
					      a->cfg.root, environ_vm[i]));
	environ_add_members(&l, a, r);
	for (size_t i = 0; i < targets; i++) {
		if (kind && kind->is_md) {
			environ_add_queue(&l, a->cfg.root, r->name, t[i].node);
			environ_add_md(&l, a->cfg.root, r->name, t[i].node);
		}
		environ_add_mount(&l, a->cfg.root, r->name, &t[i], i);
	}
	*count = l.count;
	return l.param;
}
