#include "host/agent/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/damaged.h"
#include "host/agent/disk.h"
#include "host/agent/mounts.h"
#include "host/agent/probe.h"
#include "host/array/md.h"
#include "host/util/log.h"
#include "host/util/parse.h"

#define RECORD_MAX_BYTES 65536u

static int record_path(const struct agent *a, const char *name,
		       char path[FS_PATH_BYTES])
{
	if (strchr(name, '/') || name[0] == '.' || !name[0])
		return -EINVAL;
	return fs_path(path, "%s/arrays/%s", a->cfg.state_dir, name);
}

/* File: type of file system, newline, md node, newline, packed request. */
int record_save(const struct agent *a, const struct record *r, struct err *err)
{
	Bay__ArrayCreateReq req = BAY__ARRAY_CREATE_REQ__INIT;
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	size_t len;
	int rc = record_path(a, r->name, path);

	req.name = (char *)(uintptr_t)r->name;
	req.spec = r->spec;
	len = bay__array_create_req__get_packed_size(&req);
	if (!rc)
		rc = buf_printf(&b, "%s\n%s\n", r->fs_type, r->node);
	if (!rc)
		rc = buf_reserve(&b, len);
	if (!rc) {
		b.len += bay__array_create_req__pack(&req,
						     (uint8_t *)b.data + b.len);
		rc = fs_write_atomic(path, b.data, b.len);
	}
	buf_free(&b);
	return rc ? err_sys(err, rc, "cannot note array %s", r->name) : 0;
}

/* One line into out; the place behind it, or NULL. */
static const char *record_line(const char *p, const char *end, char *out,
			       size_t size)
{
	const char *nl =
		p && p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

	if (!nl || (size_t)(nl - p) >= size)
		return NULL;
	memcpy(out, p, (size_t)(nl - p));
	out[nl - p] = '\0';
	return nl + 1;
}

static int record_parse(const struct buf *b, struct arena *arena,
			struct record *out)
{
	ProtobufCAllocator in_arena = agent_arena_allocator(arena);
	const char *end = b->data + b->len;
	Bay__ArrayCreateReq *req;
	const char *p =
		record_line(b->data, end, out->fs_type, sizeof(out->fs_type));

	p = record_line(p, end, out->node, sizeof(out->node));
	if (!p)
		return -EBADMSG;
	req = bay__array_create_req__unpack(&in_arena, (size_t)(end - p),
					    (const uint8_t *)p);
	if (!req || !req->spec || !req->spec->n_serial ||
	    req->spec->n_serial > ARRAY_MEMBERS_MAX)
		return -EBADMSG;
	out->spec = req->spec;
	return 0;
}

int record_load(const struct agent *a, const char *name, struct arena *arena,
		struct record *out, struct err *err)
{
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	int rc = record_path(a, name, path);

	*out = (struct record){ 0 };
	if (!rc)
		rc = fs_read(path, RECORD_MAX_BYTES, &b);
	if (!rc)
		rc = record_parse(&b, arena, out);
	buf_free(&b);
	if (damaged_is(rc))
		return damaged_record(a, name, arena, out, err);
	(void)str_copy(out->name, sizeof(out->name), name);
	if (rc == -ENOENT)
		return err_set(err, rc,
			       "there is no array \"%.40s\" here; create or "
			       "assemble it first",
			       name);
	return rc ? err_sys(err, rc, "cannot read the note of array \"%.40s\"",
			    name)
		  : 0;
}

int record_delete(const struct agent *a, const char *name)
{
	char path[FS_PATH_BYTES];
	int rc = record_path(a, name, path);

	return rc ? rc : fs_unlink_sync(path);
}

static int record_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **record_names(const struct agent *a, struct arena *arena)
{
	char path[FS_PATH_BYTES];
	struct argv names = { .arena = arena };
	struct dirent *e;
	DIR *dir = NULL;

	if (fs_path(path, "%s/arrays", a->cfg.state_dir) == 0)
		dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		/* "x.new" is half of an atomic write. */
		if (!strchr(e->d_name, '.'))
			argv_add(&names, e->d_name);
	}
	if (dir)
		closedir(dir);
	if (!names.count)
		return arena_alloc(arena, sizeof(char *));
	qsort(names.arg, names.count, sizeof(*names.arg), record_by_name);
	return (char **)(uintptr_t)names.arg;
}

void record_check_all(const struct agent *a)
{
	struct arena arena = { 0 };
	char **names = record_names(a, &arena);
	struct err err = { 0 };
	struct record r;

	for (size_t n = 0; names[n]; n++) {
		if (record_load(a, names[n], &arena, &r, &err))
			log_warnx("%s", err.text);
	}
	arena_free(&arena);
}

bool record_same_spec(const Bay__ArraySpec *a, const Bay__ArraySpec *b)
{
	if (strcmp(a->layout, b->layout) != 0 || a->n_serial != b->n_serial ||
	    a->chunk_kib != b->chunk_kib || strcmp(a->bitmap, b->bitmap) != 0 ||
	    a->initial_sync != b->initial_sync)
		return false;
	for (size_t i = 0; i < a->n_serial; i++) {
		if (strcmp(a->serial[i], b->serial[i]) != 0)
			return false;
	}
	return true;
}

/* One disk may be recorded by its serial and asked for by its WWN. */
static bool record_has_disk(const struct agent *a, const struct record *r,
			    const char *id)
{
	struct disk d = { 0 };
	bool there = disk_find(a->cfg.root, id, &d, NULL) == 0;

	for (size_t i = 0; i < r->spec->n_serial; i++) {
		const char *member = r->spec->serial[i];

		if (strcmp(member, id) == 0 ||
		    (there && disk_has_id(&d, member)))
			return true;
	}
	return false;
}

int record_check_disks(const struct agent *a, const char *name,
		       char *const *serial, size_t count, struct arena *arena,
		       struct err *err)
{
	char **names = record_names(a, arena);

	for (size_t n = 0; names[n]; n++) {
		struct record r;
		int rc;

		if (strcmp(names[n], name) == 0)
			continue;
		rc = record_load(a, names[n], arena, &r, err);
		if (rc == -ENOENT)
			continue;
		if (rc)
			return rc;
		for (size_t i = 0; i < count; i++) {
			if (record_has_disk(a, &r, serial[i]))
				return err_set(err, -EPERM,
					       "disk %s belongs to array %s, "
					       "so nothing was done; destroy "
					       "that array first",
					       serial[i], names[n]);
		}
	}
	return 0;
}

static const char *record_serials(const Bay__ArraySpec *spec,
				  struct arena *arena)
{
	const char *list = spec->serial[0];

	for (size_t i = 1; i < spec->n_serial; i++)
		list = arena_printf(arena, "%s, %s", list, spec->serial[i]);
	return list;
}

int record_check_free(const struct agent *a, const char *name,
		      const Bay__ArraySpec *spec, struct arena *arena,
		      struct err *err)
{
	struct record r;
	int rc = record_load(a, name, arena, &r, err);

	if (rc && rc != -ENOENT)
		return rc;
	if (!rc && !record_same_spec(r.spec, spec))
		return err_set(
			err, -EPERM,
			"array %s exists (%s of %s), so nothing was "
			"done; destroy it first or choose another --name",
			name, r.spec->layout, record_serials(r.spec, arena));
	return record_check_disks(a, name, spec->serial, spec->n_serial, arena,
				  err);
}

static void record_node_of_members(const struct agent *a,
				   const Bay__ArraySpec *spec,
				   char node[ARRAY_NODE_BYTES])
{
	node[0] = '\0';
	for (size_t i = 0; i < spec->n_serial; i++) {
		char holder[ARRAY_NODE_BYTES];
		struct disk d;

		if (disk_find(a->cfg.root, spec->serial[i], &d, NULL))
			continue;
		disk_md_holder(a->cfg.root, d.name, holder, sizeof(holder));
		if (!holder[0])
			continue;
		if (node[0] && strcmp(node, holder) != 0) {
			node[0] = '\0';
			return;
		}
		(void)str_copy(node, ARRAY_NODE_BYTES, holder);
	}
}

/* Are all its members disks that went away? md keeps listing a RAID0's. */
static bool record_members_are_gone(const char *root, const char *node)
{
	char member[ARRAY_MEMBERS_MAX][ARRAY_NODE_BYTES];
	unsigned count = md_members(root, node, member, ARRAY_MEMBERS_MAX);
	char path[FS_PATH_BYTES];

	for (unsigned i = 0; i < count && i < ARRAY_MEMBERS_MAX; i++)
		if (fs_path(path, "%s/sys/block/%s", root, member[i]) != 0 ||
		    fs_exists(path))
			return false;
	return true;
}

void record_md_node(const struct agent *a, const struct record *r,
		    char node[ARRAY_NODE_BYTES])
{
	struct md_state state;

	record_node_of_members(a, r->spec, node);
	if (node[0] || !r->node[0])
		return;
	/* No disk leads to the node: it is the noted one, unless another
	 * array that lives has taken its number. */
	if (md_read_state(a->cfg.root, r->node, &state) == 0 &&
	    record_members_are_gone(a->cfg.root, r->node))
		(void)str_copy(node, ARRAY_NODE_BYTES, r->node);
}

int record_spec(const char *name, const Bay__ArraySpec *wire,
		struct array_spec *spec, struct arena *arena, struct err *err)
{
	struct array_member *member;

	if (!wire)
		return err_set(err, -EINVAL, "the request has no array");
	*spec = (struct array_spec){
		.kind = array_kind_find(wire->layout),
		.name = name,
		.count = (unsigned)wire->n_serial,
		.chunk_kib = wire->chunk_kib,
		.bitmap = wire->bitmap[0] ? wire->bitmap : "none",
		.initial_sync = wire->initial_sync,
	};
	if (!spec->kind)
		return err_set(err, -EOPNOTSUPP,
			       "this agent has no layout \"%.20s\"",
			       wire->layout);
	member = arena_array(arena, wire->n_serial + 1, sizeof(*member));
	for (size_t i = 0; i < wire->n_serial; i++)
		member[i].serial = wire->serial[i];
	spec->member = member;
	return array_check(spec, err);
}

static int record_fill_target(const struct agent *a, const char *array,
			      unsigned index, const char *node,
			      struct target *t)
{
	struct mount m;
	int rc = fs_path(t->device, "%s/dev/%s", a->cfg.root, node);

	if (!rc)
		rc = fs_path(t->point, "%s/mnt/%s/%u", a->cfg.state_dir, array,
			     index);
	if (rc || !str_copy(t->node, sizeof(t->node), node))
		return rc ? rc : -ENAMETOOLONG;
	t->mounted = mounts_at(a->cfg.root, t->point, &m);
	if (t->mounted)
		(void)str_copy(t->mount_type, sizeof(t->mount_type), m.fs_type);
	return 0;
}

static int record_md_target(const struct agent *a, const struct record *r,
			    struct target *t, struct err *err)
{
	char node[ARRAY_NODE_BYTES];

	record_md_node(a, r, node);
	if (!node[0])
		return err_set(err, -ENODEV,
			       "array %s does not run; assemble it first",
			       r->name);
	t->serial = r->spec->serial;
	t->serial_count = r->spec->n_serial;
	return record_fill_target(a, r->name, 0, node, t);
}

int record_targets(const struct agent *a, const struct record *r,
		   struct arena *arena, struct target **out, size_t *count,
		   struct err *err)
{
	const Bay__ArraySpec *spec = r->spec;
	const struct array_kind *kind = array_kind_find(spec->layout);
	int rc = 0;

	if (!kind)
		return err_set(err, -EOPNOTSUPP, "no layout %s", spec->layout);
	*count = kind->is_md ? 1 : spec->n_serial;
	*out = arena_array(arena, *count, sizeof(**out));
	if (kind->is_md)
		return record_md_target(a, r, *out, err);
	for (size_t i = 0; !rc && i < *count; i++) {
		struct disk d;

		rc = disk_find(a->cfg.root, spec->serial[i], &d, err);
		if (rc)
			return rc;
		(*out)[i].serial = &spec->serial[i];
		(*out)[i].serial_count = 1;
		rc = record_fill_target(a, r->name, (unsigned)i, d.name,
					&(*out)[i]);
	}
	return rc ? err_sys(err, rc, "array %s", r->name) : 0;
}

Bay__Target **record_wire_targets(const struct record *r,
				  const struct target *t, size_t count,
				  struct arena *arena)
{
	Bay__Target **list = arena_array(arena, count + 1, sizeof(*list));

	for (size_t i = 0; i < count; i++) {
		list[i] = arena_alloc(arena, sizeof(**list));
		bay__target__init(list[i]);
		list[i]->device = arena_strdup(arena, t[i].device);
		list[i]->mount_point =
			arena_strdup(arena, t[i].mounted ? t[i].point : "");
		list[i]->fs_type = arena_strdup(
			arena, t[i].mounted ? t[i].mount_type : r->fs_type);
		list[i]->serial = t[i].serial;
		list[i]->n_serial = t[i].serial_count;
	}
	return list;
}

/* UUID of the array out of the first member's superblock: cheaper than another
 * run of mdadm. */
static char *record_uuid(const struct agent *a, const Bay__ArraySpec *spec,
			 struct arena *arena)
{
	char uuid[PROBE_UUID_BYTES] = "";
	char path[FS_PATH_BYTES];
	struct disk d;
	int fd;

	if (disk_find(a->cfg.root, spec->serial[0], &d, NULL) ||
	    disk_path(a->cfg.root, &d, path))
		return arena_strdup(arena, "");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		probe_uuid(fd, "linux_raid_member", uuid);
		close(fd);
	}
	return arena_strdup(arena, uuid);
}

/* ", without T2": the members that md goes without; "" for none. */
static const char *record_missing(const struct agent *a, const struct record *r,
				  const char *node, struct arena *arena)
{
	const char *list = "";

	for (size_t i = 0; i < r->spec->n_serial; i++) {
		char holder[ARRAY_NODE_BYTES] = "";
		struct disk d;

		if (disk_find(a->cfg.root, r->spec->serial[i], &d, NULL) == 0)
			disk_md_holder(a->cfg.root, d.name, holder,
				       sizeof(holder));
		if (strcmp(holder, node) != 0)
			list = arena_printf(arena, "%s%s%s", list,
					    *list ? " and " : ", without ",
					    r->spec->serial[i]);
	}
	return list;
}

static void record_md_state(const struct agent *a, const struct record *r,
			    struct arena *arena, Bay__ArrayState *s)
{
	char node[ARRAY_NODE_BYTES];
	struct md_state md;

	s->clean = false;
	record_md_node(a, r, node);
	if (!node[0] || md_read_state(a->cfg.root, node, &md)) {
		s->md_state = arena_strdup(arena, "stopped");
		return;
	}
	s->clean = md.clean;
	s->md_state =
		arena_printf(arena, "%s%s%s%s%s", md.array_state,
			     md.degraded ? ", degraded" : "",
			     record_missing(a, r, node, arena),
			     md.sync_action[0] ? ", " : "", md.sync_action);
	s->uuid = record_uuid(a, r->spec, arena);
}

int record_state(const struct agent *a, const struct record *r,
		 struct arena *arena, Bay__ArrayState **out, struct err *err)
{
	const struct array_kind *kind = array_kind_find(r->spec->layout);
	Bay__ArrayState *s = arena_alloc(arena, sizeof(*s));
	struct target *t = NULL;
	size_t count = 0;

	(void)err;
	bay__array_state__init(s);
	s->name = arena_strdup(arena, r->name);
	s->spec = r->spec;
	s->clean = true;
	if (kind && kind->is_md)
		record_md_state(a, r, arena, s);
	if (record_targets(a, r, arena, &t, &count, NULL) == 0) {
		s->target = record_wire_targets(r, t, count, arena);
		s->n_target = count;
	} else {
		s->clean = false;
	}
	*out = s;
	return 0;
}
