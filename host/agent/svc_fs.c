/* File systems on an array's targets: make, mount, unmount, drop caches. */
#include "host/agent/agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/fsys.h"
#include "host/agent/guard.h"
#include "host/agent/record.h"
#include "host/agent/teardown.h"
#include "host/array/fs_option.h"
#include "host/util/parse.h"
#include "host/util/run.h"

#define FS_MKFS_MS  600000u
#define FS_MOUNT_MS 120000u
#define FS_SYNC_MS  300000u

/* What a request's array is now. */
struct fs_array {
	struct record record;
	struct array_spec spec;
	struct target *target;
	size_t count;
};

static int fs_load(struct call *call, const char *name, struct fs_array *f)
{
	int rc = record_load(call->agent, name, call->arena, &f->record,
			     &call->err);

	if (!rc)
		rc = record_spec(name, f->record.spec, &f->spec, call->arena,
				 &call->err);
	if (!rc)
		rc = record_targets(call->agent, &f->record, call->arena,
				    &f->target, &f->count, &call->err);
	return rc;
}

static int fs_reply(struct call *call, const char *name)
{
	Bay__TargetState *s = arena_alloc(call->arena, sizeof(*s));
	struct fs_array f;
	int rc = fs_load(call, name, &f);

	if (rc)
		return rc;
	bay__target_state__init(s);
	s->target =
		record_wire_targets(&f.record, f.target, f.count, call->arena);
	s->n_target = f.count;
	call->reply->body_case = BAY__REPLY__BODY_TARGET;
	call->reply->target = s;
	return 0;
}

/* NULL: not one of ours; said in call->err. */
static const struct fsys *fs_find_type(struct call *call,
				       const Bay__FsSpec *spec)
{
	const struct fsys *fs = spec ? fsys_find(spec->type) : NULL;

	if (!fs)
		(void)err_set(&call->err, -EOPNOTSUPP,
			      "this agent has no file system \"%.20s\"; it "
			      "has %s",
			      spec ? spec->type : "", fsys_names(call->arena));
	return fs;
}

static int fs_check_options(struct call *call, const Bay__FsSpec *spec)
{
	int rc = fs_option_check(spec->mount_options, &call->err);

	for (size_t i = 0; !rc && i < spec->n_mkfs_option; i++)
		rc = fs_option_check(spec->mkfs_option[i], &call->err);
	return rc;
}

static const char *const *fs_mkfs_argv(struct call *call, const struct fsys *fs,
				       const Bay__FsSpec *spec,
				       const char *array, unsigned index,
				       const char *device)
{
	struct argv v = { .arena = call->arena };

	argv_add(&v, fs->tool);
	for (size_t i = 0; fs->options[i]; i++)
		argv_add(&v, fs->options[i]);
	argv_add(&v, fs->label_option);
	argv_add(&v, fsys_label(fs, array, index, call->arena));
	for (size_t i = 0; i < spec->n_mkfs_option; i++)
		argv_add(&v, spec->mkfs_option[i]);
	argv_add(&v, device);
	return v.arg;
}

/* Ends of children started together. The first failure is told. */
static int fs_finish(struct call *call, struct run_child *child,
		     struct run_child **list, size_t count, const char *tool,
		     uint32_t limit_ms)
{
	int rc = 0;
	int left = run_wait(list, count, (int)limit_ms, call->agent->cancel_fd);

	for (size_t i = 0; i < count; i++) {
		char how[64];

		if (!list[i])
			continue;
		if (!rc && !child[i].ended && agent_cancelled(call->agent))
			rc = err_set(&call->err, -ECANCELED, "%s was cancelled",
				     tool);
		else if (!rc && !child[i].ended)
			rc = err_set(&call->err, -ETIMEDOUT,
				     "%s did not end within %u s", tool,
				     limit_ms / 1000);
		else if (!rc && child[i].exit_code) {
			run_exit_text(&child[i], how, sizeof(how));
			rc = err_set(&call->err, -EIO, "%s failed (%s): %s",
				     tool, how, run_last_line(&child[i]));
		}
		(void)run_close(&child[i], 2000);
	}
	return !rc && left < 0 ? left : rc;
}

static int fs_mkfs_all(struct call *call, const struct fsys *fs,
		       const Bay__FsSpec *spec, const struct fs_array *f)
{
	struct run_child child[ARRAY_MEMBERS_MAX];
	struct run_child *list[ARRAY_MEMBERS_MAX] = { NULL };
	int rc = 0;
	int end;

	for (unsigned i = 0; !rc && i < f->count; i++) {
		const struct run_spec run = {
			.argv = fs_mkfs_argv(call, fs, spec, f->record.name, i,
					     f->target[i].device),
		};

		rc = run_start(&child[i], &run, &call->err);
		list[i] = rc ? NULL : &child[i];
	}
	end = fs_finish(call, child, list, f->count, fs->tool, FS_MKFS_MS);
	return rc ? rc : end;
}

/* Disks that carry the file system themselves are claimed and judged once
 * more; an md device is ours by its members. */
static int fs_guard_targets(struct call *call, const struct fs_array *f,
			    struct guard *g, size_t *guards)
{
	size_t count = f->spec.kind->is_md ? 0 : f->count;
	int rc = guard_open_all(g, call->agent, f->record.spec->serial, count,
				&call->err);

	if (rc)
		return rc;
	*guards = count;
	for (size_t i = 0; !rc && i < count; i++)
		rc = guard_hand_over(&g[i], call->agent, &call->err);
	return rc;
}

static int fs_allowed(struct call *call, const struct fs_array *f)
{
	const Bay__ArraySpec *spec = f->record.spec;

	for (size_t i = 0; i < spec->n_serial; i++) {
		if (!agent_allows(call->agent, spec->serial[i]))
			return err_set(&call->err, -EPERM,
				       "disk %s of array %s is not on the "
				       "bench's list of disks, so nothing was "
				       "done",
				       spec->serial[i], f->record.name);
	}
	return 0;
}

static int fs_not_mounted(struct call *call, const struct fs_array *f)
{
	for (size_t i = 0; i < f->count; i++) {
		if (f->target[i].mounted)
			return err_set(&call->err, -EBUSY,
				       "array %s is mounted on %s; unmount it "
				       "first",
				       f->record.name, f->target[i].point);
	}
	return 0;
}

static int fs_note_type(struct call *call, struct fs_array *f,
			const struct fsys *fs)
{
	if (strcmp(f->record.fs_type, fs->type) == 0)
		return 0;
	(void)str_copy(f->record.fs_type, sizeof(f->record.fs_type), fs->type);
	return record_save(call->agent, &f->record, &call->err);
}

int svc_mkfs(struct call *call)
{
	const Bay__MkfsReq *req = call->req->mkfs;
	struct guard g[ARRAY_MEMBERS_MAX];
	size_t guards = 0;
	const struct fsys *fs = fs_find_type(call, req->fs);
	struct fs_array f;
	int rc;

	if (!fs)
		return -EOPNOTSUPP;
	rc = fs_check_options(call, req->fs);
	if (!rc)
		rc = fs_load(call, req->array, &f);
	if (!rc)
		rc = fs_allowed(call, &f);
	if (!rc)
		rc = fs_not_mounted(call, &f);
	if (rc)
		return rc;
	rc = fs_guard_targets(call, &f, g, &guards);
	if (!rc)
		rc = fs_mkfs_all(call, fs, req->fs, &f);
	guard_close_all(g, guards);
	if (!rc)
		rc = fs_note_type(call, &f, fs);
	return rc ? rc : fs_reply(call, req->array);
}

static int fs_mount_one(struct call *call, const struct fsys *fs,
			const char *options, const struct target *t)
{
	struct argv v = { .arena = call->arena };
	struct run_spec run = { .deadline_ms = FS_MOUNT_MS,
				.cancel_fd = call->agent->cancel_fd };
	int rc = fs_mkdirs(t->point);

	if (rc)
		return err_sys(&call->err, rc, "cannot make %s", t->point);
	argv_add(&v, "mount");
	argv_add(&v, "-t");
	argv_add(&v, fs->type);
	if (fs->mount_options || *options) {
		argv_add(&v, "-o");
		argv_addf(&v, "%s%s%s",
			  fs->mount_options ? fs->mount_options : "",
			  fs->mount_options && *options ? "," : "", options);
	}
	argv_add(&v, t->device);
	argv_add(&v, t->point);
	run.argv = v.arg;
	return run_ok(NULL, &run, &call->err);
}

int svc_mount(struct call *call)
{
	const Bay__MountReq *req = call->req->mount;
	const struct fsys *fs = fs_find_type(call, req->fs);
	struct fs_array f;
	int rc;

	if (!fs)
		return -EOPNOTSUPP;
	rc = fs_check_options(call, req->fs);
	if (!rc)
		rc = fs_load(call, req->array, &f);
	if (!rc)
		rc = fs_allowed(call, &f);
	for (size_t i = 0; !rc && i < f.count; i++) {
		if (!f.target[i].mounted)
			rc = fs_mount_one(call, fs, req->fs->mount_options,
					  &f.target[i]);
	}
	if (!rc)
		rc = fs_note_type(call, &f, fs);
	return rc ? rc : fs_reply(call, req->array);
}

int svc_unmount(struct call *call)
{
	const Bay__UnmountReq *req = call->req->unmount;
	struct record r;
	unsigned done;
	int rc = record_load(call->agent, req->array, call->arena, &r,
			     &call->err);

	if (rc == -ENOENT)
		return 0; /* an array that is gone is not mounted */
	if (!rc)
		rc = teardown_unmount(call->agent, req->array, &done,
				      &call->err);
	if (rc)
		return rc;
	/* Unmounting works without the disks; showing them does not. */
	if (fs_reply(call, req->array))
		call->reply->body_case = BAY__REPLY__BODY__NOT_SET;
	return 0;
}

int svc_drop_caches(struct call *call)
{
	static const char *const argv[] = { "sync", NULL };
	const struct run_spec run = { .argv = argv,
				      .deadline_ms = FS_SYNC_MS,
				      .cancel_fd = call->agent->cancel_fd };
	char path[FS_PATH_BYTES];
	int rc = fs_path(path, "%s/proc/sys/vm/drop_caches",
			 call->agent->cfg.root);

	/* Dirty pages cannot be dropped, so they are written first; by a
	 * child, since sync on a dying disk does not return. */
	if (!rc)
		rc = run_ok(NULL, &run, &call->err);
	if (rc)
		return rc;
	rc = fs_write_text(path, "3");
	return rc ? err_sys(&call->err, rc, "cannot drop the caches") : 0;
}
