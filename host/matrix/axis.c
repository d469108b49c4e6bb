#include "host/matrix/axis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/array/fs_option.h"
#include "host/matrix/pb.h"
#include "host/matrix/work.h"
#include "host/util/parse.h"

/* A knob with this value is left as the kernel has it. */
#define LEAVE "default"

/* ---- growing a cell --------------------------------------------------- */

static int add_param(Bay__WorkloadSpec *w, const char *name, const char *value)
{
	Bay__Param *p = malloc(sizeof(*p));

	if (!p)
		return -ENOMEM;
	bay__param__init(p);
	if (pb_set_string(&p->name, name) < 0 ||
	    pb_set_string(&p->value, value) < 0 ||
	    pb_add((void ***)&w->param, &w->n_param, p) < 0) {
		bay__param__free_unpacked(p, NULL);
		return -ENOMEM;
	}
	return 0;
}

static int add_knob(Bay__Cell *c, const char *name, const char *target,
		    const char *value)
{
	Bay__Knob *k;

	if (strcmp(value, LEAVE) == 0)
		return 0;
	k = malloc(sizeof(*k));
	if (!k)
		return -ENOMEM;
	bay__knob__init(k);
	if (pb_set_string(&k->name, name) < 0 ||
	    pb_set_string(&k->target, target) < 0 ||
	    pb_set_string(&k->value, value) < 0 ||
	    pb_add((void ***)&c->knob, &c->n_knob, k) < 0) {
		bay__knob__free_unpacked(k, NULL);
		return -ENOMEM;
	}
	return 0;
}

/* ---- values ----------------------------------------------------------- */

static const char *check_layout(const char *v)
{
	return matrix_layout_disks(v, NULL)
		       ? NULL
		       : "a layout (single, JBOD-nHDD, RAID0-nHDD, RAID1-nHDD)";
}

static const char *check_chunk(const char *v)
{
	uint64_t bytes;

	if (parse_size(v, &bytes) == 0 && bytes >= 4096 && bytes <= 1u << 30 &&
	    (bytes & (bytes - 1)) == 0)
		return NULL;
	return "a chunk (a power of two, 4k to 1G)";
}

static const char *check_bitmap(const char *v)
{
	return strcmp(v, "none") != 0 && strcmp(v, "internal") != 0
		       ? "a bitmap (none, internal)"
		       : NULL;
}

static const char *check_bool(const char *v)
{
	bool b;

	return parse_bool(v, &b) ? "true or false" : NULL;
}

bool matrix_is_fs(const char *name)
{
	static const char *const known[] = { "ext4", "xfs", "btrfs", "raw" };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

static const char *check_fs(const char *v)
{
	return matrix_is_fs(v) ? NULL : "a file system (ext4, xfs, btrfs, raw)";
}

static const char *check_word(const char *v)
{
	return *v && !strpbrk(v, " \t\n/") ? NULL : "one word";
}

static const char *check_workload(const char *v)
{
	return work_is_kind(v) ? NULL : "a workload that bay has";
}

static const char *check_text(const char *v)
{
	return strpbrk(v, "\n\r") ? "one line" : NULL;
}

/* The agent refuses it as well, but then a night has begun. */
static const char *check_option(const char *v)
{
	if (fs_option_check(v, NULL) < 0)
		return "an option that keeps to the array (it names another "
		       "file or device)";
	return check_text(v);
}

static const char *check_size(const char *v)
{
	uint64_t bytes;

	if (strcmp(v, LEAVE) == 0 || (parse_size(v, &bytes) == 0 && bytes))
		return NULL;
	return "a size (100M, 1G) or 'default'";
}

/* Two pages, says the kernel (mm/page-writeback.c, dirty_bytes_min). */
static const char *check_thresh(const char *v)
{
	uint64_t bytes;

	if (parse_size(v, &bytes) == 0 && bytes < 8192)
		return "a size of at least 8k";
	return check_size(v);
}

static const char *check_number(const char *v)
{
	uint64_t n;

	if (strcmp(v, LEAVE) == 0 || parse_u64(v, &n) == 0)
		return NULL;
	return "a number or 'default'";
}

/* ---- what each key does ----------------------------------------------- */

static bool is_raid0(const struct axis *a, const Bay__Cell *c)
{
	(void)a;
	return strcmp(c->array->layout, "raid0") == 0;
}

static bool is_raid1(const struct axis *a, const Bay__Cell *c)
{
	(void)a;
	return strcmp(c->array->layout, "raid1") == 0;
}

static bool is_fs(const struct axis *a, const Bay__Cell *c)
{
	return strcmp(c->fs->type, a->scope) == 0;
}

static bool is_param(const struct axis *a, const Bay__Cell *c)
{
	return work_has_param(c->workload->kind, a->name);
}

static int apply_layout(const struct axis *a, const char *value,
			struct axis_cell *c)
{
	Bay__ArraySpec *s = c->cell->array;
	const char *kind;
	unsigned n, i;
	int ret;

	(void)a;
	n = matrix_layout_disks(value, &kind);
	if (n > c->n_serial)
		return -ENODEV;
	ret = pb_set_string(&s->layout, kind);
	for (i = 0; i < n && ret == 0; i++)
		ret = pb_add_string(&s->serial, &s->n_serial, c->serial[i]);
	return ret;
}

static int apply_chunk(const struct axis *a, const char *value,
		       struct axis_cell *c)
{
	uint64_t bytes = 0;

	(void)a;
	parse_size(value, &bytes);
	c->cell->array->chunk_kib = (uint32_t)(bytes / 1024);
	return 0;
}

static int apply_bitmap(const struct axis *a, const char *value,
			struct axis_cell *c)
{
	(void)a;
	return pb_set_string(&c->cell->array->bitmap, value);
}

static int apply_sync(const struct axis *a, const char *value,
		      struct axis_cell *c)
{
	bool b = false;

	(void)a;
	parse_bool(value, &b);
	c->cell->array->initial_sync = b;
	return 0;
}

static int apply_fs(const struct axis *a, const char *value,
		    struct axis_cell *c)
{
	(void)a;
	if (strcmp(value, "raw") == 0)
		return 0;
	return pb_set_string(&c->cell->fs->type, value);
}

/* Blanks separate options; there is no quoting. */
static int apply_mkfs(const struct axis *a, const char *value,
		      struct axis_cell *c)
{
	Bay__FsSpec *fs = c->cell->fs;
	char *copy, *word, *rest = NULL;
	int ret = 0;

	(void)a;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, " \t", &rest); word && ret == 0;
	     word = strtok_r(NULL, " \t", &rest))
		ret = pb_add_string(&fs->mkfs_option, &fs->n_mkfs_option, word);
	free(copy);
	return ret;
}

static int apply_mount(const struct axis *a, const char *value,
		       struct axis_cell *c)
{
	(void)a;
	return pb_set_string(&c->cell->fs->mount_options, value);
}

static int apply_workload(const struct axis *a, const char *value,
			  struct axis_cell *c)
{
	(void)a;
	return pb_set_string(&c->cell->workload->kind, value);
}

static int apply_param(const struct axis *a, const char *value,
		       struct axis_cell *c)
{
	return add_param(c->cell->workload, a->name, value);
}

static int apply_bytes(const char *knob, const char *value, struct axis_cell *c)
{
	uint64_t bytes;
	char text[32];

	if (parse_size(value, &bytes) < 0)
		return 0; /* LEAVE */
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	return add_knob(c->cell, knob, "", text);
}

static int apply_thresh(const struct axis *a, const char *value,
			struct axis_cell *c)
{
	(void)a;
	return apply_bytes("dirty_bytes", value, c);
}

static int apply_background(const struct axis *a, const char *value,
			    struct axis_cell *c)
{
	(void)a;
	return apply_bytes("dirty_background_bytes", value, c);
}

/* Read-ahead belongs to what is read: the array. */
static int apply_array_knob(const struct axis *a, const char *value,
			    struct axis_cell *c)
{
	return add_knob(c->cell, a->name, "array", value);
}

/* Queue settings belong to the members. */
static int apply_member_knob(const struct axis *a, const char *value,
			     struct axis_cell *c)
{
	const Bay__ArraySpec *s = c->cell->array;
	size_t i;
	int ret = 0;

	for (i = 0; i < s->n_serial && ret == 0; i++)
		ret = add_knob(c->cell, a->name, s->serial[i], value);
	return ret;
}

static int apply_sysctl(const struct axis *a, const char *value,
			struct axis_cell *c)
{
	return add_knob(c->cell, "sysctl", a->name, value);
}

static int apply_kernel(const struct axis *a, const char *value,
			struct axis_cell *c)
{
	(void)a;
	return pb_set_string(&c->cell->kernel, value);
}

/* In the order in which they are applied and named. */
enum {
	LAYOUT,
	FS,
	WORKLOAD,
	KERNEL,
	THRESH,
	BACKGROUND,
	CHUNK,
	BITMAP,
	SYNC,
	MKFS,
	MOUNT,
	PARAM,
	READ_AHEAD,
	MAX_SECTORS,
	NR_REQUESTS,
	SCHEDULER,
	SYSCTL,
	KIND_COUNT
};

static const struct axis_kind axis_kinds[KIND_COUNT] = {
	[LAYOUT] = { "layout", check_layout, .apply = apply_layout,
		     .own_name = true },
	[FS] = { "fs", check_fs, .apply = apply_fs, .own_name = true },
	[WORKLOAD] = { "workload", check_workload, .known = work_list_kinds,
		       .apply = apply_workload, .own_name = true },
	[KERNEL] = { "kernel", check_word, .apply = apply_kernel,
		     .own_name = true },
	[THRESH] = { "thresh", check_thresh, .apply = apply_thresh,
		     .in_name = true },
	[BACKGROUND] = { "background", check_size, .apply = apply_background },
	[CHUNK] = { "chunk", check_chunk, .applies = is_raid0,
		    .apply = apply_chunk },
	[BITMAP] = { "bitmap", check_bitmap, .applies = is_raid1,
		     .apply = apply_bitmap },
	[SYNC] = { "initial_sync", check_bool, .applies = is_raid1,
		   .apply = apply_sync },
	[MKFS] = { "mkfs", check_option, .applies = is_fs, .apply = apply_mkfs,
		   .key_name = true },
	[MOUNT] = { "mount", check_option, .applies = is_fs,
		    .apply = apply_mount, .key_name = true },
	[PARAM] = { "params", check_text, .applies = is_param,
		    .apply = apply_param },
	[READ_AHEAD] = { "read_ahead_kb", check_number,
			 .apply = apply_array_knob },
	[MAX_SECTORS] = { "max_sectors_kb", check_number,
			  .apply = apply_member_knob },
	[NR_REQUESTS] = { "nr_requests", check_number,
			  .apply = apply_member_knob },
	[SCHEDULER] = { "scheduler", check_word, .apply = apply_member_knob },
	[SYSCTL] = { "sysctl", check_text, .apply = apply_sysctl },
};

/* ---- the axes of a matrix --------------------------------------------- */

static int add_axis(struct matrix *m, const struct axis *a)
{
	struct axis *p;

	if (!a->n)
		return 0;
	p = realloc(m->axes, (m->n_axes + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	p[m->n_axes++] = *a;
	m->axes = p;
	return 0;
}

static int add_list(struct matrix *m, int kind, char **values, unsigned n)
{
	struct axis a = { .kind = &axis_kinds[kind],
			  .name = axis_kinds[kind].key,
			  .values = values,
			  .n = n };

	snprintf(a.path, sizeof(a.path), "%s", a.name);
	return add_axis(m, &a);
}

static int add_pairs(struct matrix *m, int kind,
		     const struct matrix_pair *pairs, unsigned n)
{
	unsigned i;
	int ret = 0;

	for (i = 0; i < n && ret == 0; i++) {
		struct axis a = { .kind = &axis_kinds[kind],
				  .name = pairs[i].name,
				  .scope = pairs[i].name,
				  .values = pairs[i].values,
				  .n = pairs[i].n_values };

		snprintf(a.path, sizeof(a.path), "%s[%u]", axis_kinds[kind].key,
			 i);
		ret = add_axis(m, &a);
	}
	return ret;
}

int axes_build(struct matrix *m)
{
	const struct {
		int kind;
		char **values;
		unsigned n;
		const struct matrix_pair *pairs;
		unsigned n_pairs;
	} all[] = {
		{ LAYOUT, m->layout, m->n_layout, NULL, 0 },
		{ FS, m->fs, m->n_fs, NULL, 0 },
		{ WORKLOAD, m->workload, m->n_workload, NULL, 0 },
		{ KERNEL, m->kernel, m->n_kernel, NULL, 0 },
		{ THRESH, m->thresh, m->n_thresh, NULL, 0 },
		{ BACKGROUND, m->background, m->n_background, NULL, 0 },
		{ CHUNK, m->chunk, m->n_chunk, NULL, 0 },
		{ BITMAP, m->bitmap, m->n_bitmap, NULL, 0 },
		{ SYNC, m->initial_sync, m->n_initial_sync, NULL, 0 },
		{ MKFS, NULL, 0, m->mkfs, m->n_mkfs },
		{ MOUNT, NULL, 0, m->mount, m->n_mount },
		{ PARAM, NULL, 0, m->params, m->n_params },
		{ READ_AHEAD, m->read_ahead_kb, m->n_read_ahead_kb, NULL, 0 },
		{ MAX_SECTORS, m->max_sectors_kb, m->n_max_sectors_kb, NULL,
		  0 },
		{ NR_REQUESTS, m->nr_requests, m->n_nr_requests, NULL, 0 },
		{ SCHEDULER, m->scheduler, m->n_scheduler, NULL, 0 },
		{ SYSCTL, NULL, 0, m->sysctl, m->n_sysctl },
	};
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(all) / sizeof(all[0]) && ret == 0; i++) {
		ret = add_list(m, all[i].kind, all[i].values, all[i].n);
		if (ret == 0)
			ret = add_pairs(m, all[i].kind, all[i].pairs,
					all[i].n_pairs);
	}
	return ret;
}

const char *axis_place(const struct axis *a, unsigned i,
		       char path[AXIS_PLACE_BYTES])
{
	snprintf(path, AXIS_PLACE_BYTES, "%s[%u]", a->path, i);
	return path;
}

/* mkfs.xfs and mount.xfs, so that they do not clash with parameters. */
static bool is_named(const struct axis *a, const char *name)
{
	char full[320];

	if (a->kind != &axis_kinds[MKFS] && a->kind != &axis_kinds[MOUNT])
		return strcmp(a->name, name) == 0;
	snprintf(full, sizeof(full), "%s.%s", a->kind->key, a->name);
	return strcmp(full, name) == 0;
}

const struct axis *axis_find(const struct matrix *m, const char *name)
{
	unsigned i;

	for (i = 0; i < m->n_axes; i++)
		if (is_named(&m->axes[i], name))
			return &m->axes[i];
	return NULL;
}
