#include "host/agent/teardown.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/guard.h"
#include "host/agent/mounts.h"
#include "host/agent/record.h"
#include "host/array/md.h"
#include "host/util/parse.h"
#include "host/util/run.h"

#define TEARDOWN_UNMOUNT_MS 300000u /* writes back what is dirty */
#define TEARDOWN_LAZY_MS    10000u
#define TEARDOWN_MAX        256u

struct teardown_points {
	const char *prefix;
	struct arena *arena;
	char *point[TEARDOWN_MAX];
	unsigned count;
};

static bool teardown_collect(void *arg, const struct mount *m)
{
	struct teardown_points *p = arg;

	if (str_starts(m->point, p->prefix) && p->count < TEARDOWN_MAX)
		p->point[p->count++] = arena_strdup(p->arena, m->point);
	return false;
}

static int teardown_unmount_one(const char *point, struct err *err)
{
	const char *const argv[] = { "umount", point, NULL };
	const char *const lazy[] = { "umount", "-l", point, NULL };
	const struct run_spec run = { .argv = argv,
				      .deadline_ms = TEARDOWN_UNMOUNT_MS };
	const struct run_spec detach = { .argv = lazy,
					 .deadline_ms = TEARDOWN_LAZY_MS };
	int rc = run_ok(NULL, &run, err);

	/* Out of the way of the next cell; the failure is still told. */
	if (rc)
		(void)run_ok(NULL, &detach, NULL);
	else
		(void)rmdir(point);
	return rc;
}

int teardown_unmount(struct agent *a, const char *array, unsigned *done,
		     struct err *err)
{
	struct arena arena = { 0 };
	struct teardown_points p = { .arena = &arena };
	struct err detail = { 0 };
	int first = 0;
	int rc;

	*done = 0;
	p.prefix = arena_printf(&arena, "%s/mnt/%s%s", a->cfg.state_dir,
				array ? array : "", array ? "/" : "");
	rc = mounts_each(a->cfg.root, teardown_collect, &p);
	if (rc < 0)
		first = err_sys(err, rc, "cannot list the mounts");
	for (unsigned i = p.count; i-- > 0;) {
		rc = teardown_unmount_one(p.point[i], &detail);
		*done += !rc;
		if (rc && !first)
			first = err_set(err, rc, "%s", detail.text);
	}
	arena_free(&arena);
	return first;
}

/* Where any of its targets is mounted, "" for nowhere. */
static const char *teardown_mounted_on(struct call *call,
				       const struct record *r)
{
	struct target *t;
	size_t count;

	if (record_targets(call->agent, r, call->arena, &t, &count, NULL))
		return "";
	for (size_t i = 0; i < count; i++) {
		if (t[i].mounted)
			return t[i].point;
	}
	return "";
}

/* Ending an array is not cancelled: half of it helps nobody, and a create that
 * was cancelled ends with it. */
static struct array_env teardown_end_env(const struct call *call)
{
	return (struct array_env){ call->agent->cfg.root, -1 };
}

/* The record stays, but for the node, which another array may get. */
int teardown_stop(struct call *call, struct record *r)
{
	const struct array_env env = teardown_end_env(call);
	const char *point = teardown_mounted_on(call, r);
	char node[ARRAY_NODE_BYTES];
	int rc = 0;

	if (*point)
		return err_set(&call->err, -EBUSY,
			       "array %s is mounted on %s; unmount it first",
			       r->name, point);
	record_md_node(call->agent, r, node);
	if (node[0])
		rc = md_stop(&env, node, &call->err);
	if (rc || !r->node[0])
		return rc;
	r->node[0] = '\0';
	return record_save(call->agent, r, &call->err);
}

static bool teardown_is_md(const struct probe_sig *s)
{
	return strcmp(s->type, "linux_raid_member") == 0;
}

/* mdadm erases the superblocks of all members in one call. */
static int teardown_zero_members(struct call *call, struct guard *g,
				 size_t count)
{
	const struct array_env env = teardown_end_env(call);
	const char *device[ARRAY_MEMBERS_MAX];
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++) {
		bool md = false;

		for (size_t k = 0; k < g[i].sigs.count; k++)
			md |= teardown_is_md(&g[i].sigs.sig[k]);
		if (!md)
			continue;
		rc = guard_hand_over(&g[i], call->agent, &call->err);
		device[n++] = g[i].path;
	}
	return rc || n == 0 ? rc : md_zero(&env, device, n, &call->err);
}

/* What else of bay's is on the disk. mdadm wanted it unclaimed: a member with
 * more than its superblock is claimed and judged anew. */
static int teardown_zero_rest(struct call *call, struct guard *g)
{
	struct err *err = &call->err;
	bool more = g->sigs.count == PROBE_MAX;
	int rc = 0;

	for (size_t i = 0; i < g->sigs.count; i++)
		more |= !teardown_is_md(&g->sigs.sig[i]);
	if (!more)
		return 0;
	if (g->fd < 0) {
		char serial[sizeof(g->serial)];

		memcpy(serial, g->serial, sizeof(serial));
		guard_close(g);
		rc = guard_open(g, call->agent, serial, err);
	}
	return rc ? rc : guard_wipe(g, call->agent, err);
}

/* All disks are judged before the first is written. */
int teardown_zero(struct call *call, char *const *serials, size_t count)
{
	struct guard g[ARRAY_MEMBERS_MAX];
	int rc;

	if (count > ARRAY_MEMBERS_MAX)
		return err_set(&call->err, -EINVAL,
			       "%zu disks are more than the %u that an array "
			       "may have",
			       count, ARRAY_MEMBERS_MAX);
	rc = guard_open_all(g, call->agent, serials, count, &call->err);
	if (rc)
		return rc;
	rc = teardown_zero_members(call, g, count);
	for (size_t i = 0; !rc && i < count; i++)
		rc = teardown_zero_rest(call, &g[i]);
	guard_close_all(g, count);
	return rc;
}

/* A dead disk does not come back to be wiped: one that is away and was taken
 * off the bench's list is left as it is, or its array could never end. */
static bool teardown_given_up(const struct agent *a, const char *serial)
{
	struct disk d;

	return !agent_allows(a, serial) &&
	       disk_find(a->cfg.root, serial, &d, NULL) == -ENODEV;
}

static bool teardown_names(char *const *serial, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(serial[i], id) == 0)
			return true;
	}
	return false;
}

/* What is to be wiped with an array: its members and what was asked for. */
static char **teardown_to_wipe(struct call *call, const struct record *r,
			       char *const *asked, size_t n_asked,
			       size_t *count)
{
	const Bay__ArraySpec *spec = r->spec;
	char **serial = arena_array(call->arena, spec->n_serial + n_asked + 1,
				    sizeof(*serial));

	*count = 0;
	for (size_t i = 0; i < spec->n_serial; i++) {
		if (!teardown_given_up(call->agent, spec->serial[i]))
			serial[(*count)++] = spec->serial[i];
	}
	for (size_t i = 0; i < n_asked; i++) {
		if (!teardown_names(spec->serial, spec->n_serial, asked[i]))
			serial[(*count)++] = asked[i];
	}
	return serial;
}

/* Stop it, wipe it, and forget it when that is done. */
int teardown_destroy(struct call *call, struct record *r, char *const *asked,
		     size_t n_asked)
{
	size_t count;
	char **serial = teardown_to_wipe(call, r, asked, n_asked, &count);
	int rc = teardown_stop(call, r);

	if (rc)
		return rc;
	rc = teardown_zero(call, serial, count);
	if (rc == -ENODEV)
		return err_set(&call->err, rc,
			       "%.200s; array %s stays noted until it is "
			       "wiped: destroy it again when the disk is back, "
			       "or take a dead disk off the bench's list first",
			       arena_strdup(call->arena, call->err.text),
			       r->name);
	return rc ? rc : record_delete(call->agent, r->name);
}

struct teardown {
	struct agent *agent;
	struct arena *arena;
	struct argv left;
	Bay__ResetState *state;
};

static void teardown_array(struct teardown *t, const char *name)
{
	const struct array_env env = { t->agent->cfg.root, -1 };
	char node[ARRAY_NODE_BYTES];
	struct err err = { 0 };
	struct record r;

	int rc = record_load(t->agent, name, t->arena, &r, &err);

	if (rc == -ENOENT) /* damaged, and told */
		return;
	if (rc) {
		argv_add(&t->left, err.text);
		return;
	}
	record_md_node(t->agent, &r, node);
	if (node[0] && md_stop(&env, node, &err)) {
		argv_add(&t->left, err.text);
		return;
	}
	t->state->arrays_stopped += node[0] != '\0';
	(void)record_delete(t->agent, name);
}

void teardown_all(struct agent *a, struct arena *arena, Bay__ResetState *state)
{
	struct teardown t = { .agent = a,
			      .arena = arena,
			      .left = { .arena = arena },
			      .state = state };
	struct err err = { 0 };
	unsigned done = 0;
	char **names;

	if (teardown_unmount(a, NULL, &done, &err))
		argv_add(&t.left, err.text);
	state->unmounted = done;
	names = record_names(a, arena);
	for (size_t i = 0; names[i]; i++)
		teardown_array(&t, names[i]);
	if (knob_restore(&a->knobs, &done, &err))
		argv_add(&t.left, err.text);
	state->knobs_restored = done;
	state->left = (char **)(uintptr_t)t.left.arg;
	state->n_left = t.left.count;
}
