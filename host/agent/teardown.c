#include "host/agent/teardown.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

	if (record_load(t->agent, name, t->arena, &r, &err)) {
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
