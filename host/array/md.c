#include "host/array/md.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "host/util/clock.h"
#include "host/util/fs.h"
#include "host/util/parse.h"
#include "host/util/run.h"

#define MD_TOOL_MS    60000u
#define MD_FIRST_NODE 127 /* mdadm's own habit: counts down from here */
#define MD_POLL_MS    500

/* Without it mdadm waits for udev, which may not run on a small machine; the
 * kernel makes the node in devtmpfs anyway. */
static const char *const md_tool_env[] = { "MDADM_NO_UDEV=1", NULL };

static int md_tool(const struct array_env *env, struct argv *v, struct err *err)
{
	const struct run_spec spec = {
		.argv = v->arg,
		.env = md_tool_env,
		.deadline_ms = MD_TOOL_MS,
		.cancel_fd = env->cancel_fd,
	};

	return run_ok(NULL, &spec, err);
}

static int md_free_node(const char *root, char node[ARRAY_NODE_BYTES],
			struct err *err)
{
	char path[FS_PATH_BYTES];

	for (int n = MD_FIRST_NODE; n >= 0; n--) {
		int rc = fs_path(path, "%s/sys/block/md%d", root, n);

		if (rc)
			return rc;
		if (fs_exists(path))
			continue;
		(void)snprintf(node, ARRAY_NODE_BYTES, "md%d", n);
		return 0;
	}
	return err_set(err, -EBUSY, "every md device number is taken");
}

static void md_add_members(const struct array_spec *spec, struct argv *v)
{
	for (unsigned i = 0; i < spec->count; i++)
		argv_add(v, spec->member[i].device);
}

/* No configuration file, and our own homehost: nothing of the machine's own
 * arrays takes part, and nothing assembles ours by itself. */
static void md_add_common(const struct array_spec *spec, const char *root,
			  const char *node, struct argv *v)
{
	argv_addf(v, "%s/dev/%s", root, node);
	argv_add(v, "--config=none");
	argv_add(v, "--homehost=bay");
	argv_addf(v, "--name=%s", spec->name);
	argv_add(v, "--run");
	argv_add(v, "--quiet");
}

int md_create(const struct array_env *env, const struct array_spec *spec,
	      char node[ARRAY_NODE_BYTES], struct err *err)
{
	struct arena arena = { 0 };
	struct argv v = { .arena = &arena };
	int rc = md_free_node(env->root, node, err);

	if (rc)
		return rc;
	argv_add(&v, "mdadm");
	argv_add(&v, "--create");
	md_add_common(spec, env->root, node, &v);
	argv_add(&v, "--metadata=1.2");
	spec->kind->create_args(spec, &v);
	argv_addf(&v, "--raid-devices=%u", spec->count);
	md_add_members(spec, &v);
	rc = md_tool(env, &v, err);
	arena_free(&arena);
	return rc;
}

int md_assemble(const struct array_env *env, const struct array_spec *spec,
		char node[ARRAY_NODE_BYTES], struct err *err)
{
	struct arena arena = { 0 };
	struct argv v = { .arena = &arena };
	int rc = md_free_node(env->root, node, err);

	if (rc)
		return rc;
	argv_add(&v, "mdadm");
	argv_add(&v, "--assemble");
	md_add_common(spec, env->root, node, &v);
	md_add_members(spec, &v);
	rc = md_tool(env, &v, err);
	arena_free(&arena);
	return rc;
}

int md_stop(const struct array_env *env, const char *node, struct err *err)
{
	struct arena arena = { 0 };
	struct argv v = { .arena = &arena };
	struct md_state state;
	int rc = md_read_state(env->root, node, &state);

	if (rc == -ENOENT)
		return 0;
	argv_add(&v, "mdadm");
	argv_add(&v, "--stop");
	argv_addf(&v, "%s/dev/%s", env->root, node);
	argv_add(&v, "--quiet");
	rc = md_tool(env, &v, err);
	arena_free(&arena);
	return rc;
}

int md_zero(const struct array_env *env, const char *const *device,
	    size_t count, struct err *err)
{
	struct arena arena = { 0 };
	struct argv v = { .arena = &arena };
	int rc;

	argv_add(&v, "mdadm");
	argv_add(&v, "--zero-superblock");
	for (size_t i = 0; i < count; i++)
		argv_add(&v, device[i]);
	rc = md_tool(env, &v, err);
	arena_free(&arena);
	return rc;
}

static int md_attr(const char *root, const char *node, const char *attr,
		   char *text, size_t size)
{
	char path[FS_PATH_BYTES];
	int rc = fs_path(path, "%s/sys/block/%s/md/%s", root, node, attr);

	text[0] = '\0';
	return rc ? rc : fs_read_line(path, text, size);
}

static uint32_t md_attr_u32(const char *root, const char *node,
			    const char *attr)
{
	char text[32];
	uint32_t v = 0;

	if (md_attr(root, node, attr, text, sizeof(text)) == 0)
		(void)parse_u32_range(text, 0, UINT32_MAX, &v);
	return v;
}

static bool md_runs(const char *array_state)
{
	static const char *const running[] = { "clean",         "active",
					       "write-pending", "active-idle",
					       "readonly",      "read-auto" };

	for (size_t i = 0; i < sizeof(running) / sizeof(*running); i++) {
		if (strcmp(array_state, running[i]) == 0)
			return true;
	}
	return false;
}

int md_read_state(const char *root, const char *node, struct md_state *out)
{
	int rc;

	*out = (struct md_state){ 0 };
	rc = md_attr(root, node, "array_state", out->array_state,
		     sizeof(out->array_state));
	/* A stopped array may keep its node for a moment; "clear" is none. */
	if (rc || strcmp(out->array_state, "clear") == 0)
		return -ENOENT;
	(void)md_attr(root, node, "level", out->level, sizeof(out->level));
	/* RAID0 has neither sync_action nor degraded. */
	(void)md_attr(root, node, "sync_action", out->sync_action,
		      sizeof(out->sync_action));
	out->raid_disks = md_attr_u32(root, node, "raid_disks");
	out->degraded = md_attr_u32(root, node, "degraded");
	out->clean =
		md_runs(out->array_state) && !out->degraded &&
		(!out->sync_action[0] || strcmp(out->sync_action, "idle") == 0);
	return 0;
}

static double md_sync_part(const char *root, const char *node)
{
	char text[64];
	unsigned long long done;
	unsigned long long total;

	if (md_attr(root, node, "sync_completed", text, sizeof(text)) ||
	    sscanf(text, "%llu / %llu", &done, &total) != 2 || total == 0)
		return 0.0;
	return (double)done / (double)total;
}

int md_wait_idle(const struct array_env *env, const char *node,
		 void (*done)(void *arg, double part), void *arg,
		 struct err *err)
{
	struct pollfd p = { env->cancel_fd, POLLIN, 0 };
	struct md_state state;

	for (;;) {
		int rc = md_read_state(env->root, node, &state);

		if (rc)
			return err_sys(err, rc, "%s is gone", node);
		if (!state.sync_action[0] ||
		    strcmp(state.sync_action, "idle") == 0)
			return 0;
		if (done)
			done(arg, md_sync_part(env->root, node));
		if (poll(&p, 1, MD_POLL_MS) > 0)
			return err_set(err, -ECANCELED,
				       "the wait for the resync of %s was "
				       "cancelled",
				       node);
	}
}

unsigned md_members(const char *root, const char *node,
		    char name[][ARRAY_NODE_BYTES], unsigned max)
{
	char path[FS_PATH_BYTES];
	struct dirent *e;
	unsigned count = 0;
	DIR *dir;

	if (fs_path(path, "%s/sys/block/%s/slaves", root, node))
		return 0;
	dir = opendir(path);
	while (dir && count < max && (e = readdir(dir))) {
		if (e->d_name[0] != '.' &&
		    str_copy(name[count], ARRAY_NODE_BYTES, e->d_name))
			count++;
	}
	if (dir)
		closedir(dir);
	return count;
}
