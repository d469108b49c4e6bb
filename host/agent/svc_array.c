/* Arrays: plan, create, assemble, stop, zero, show. */
#include "host/agent/agent.h"

#include <errno.h>
#include <string.h>

#include "host/agent/guard.h"
#include "host/agent/mounts.h"
#include "host/agent/record.h"
#include "host/array/md.h"
#include "host/util/log.h"
#include "host/util/parse.h"

static int array_reply(struct call *call, const struct record *r)
{
	call->reply->body_case = BAY__REPLY__BODY_ARRAY;
	return record_state(call->agent, r, call->arena, &call->reply->array,
			    &call->err);
}

static bool array_same_spec(const Bay__ArraySpec *a, const Bay__ArraySpec *b)
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

/* Whether a repeated request finds its work done. */
static bool array_already(struct call *call, const char *name,
			  const struct array_spec *spec,
			  const Bay__ArraySpec *wire, struct record *r)
{
	char node[ARRAY_NODE_BYTES];
	struct md_state md;

	if (record_load(call->agent, name, call->arena, r, NULL) ||
	    !array_same_spec(r->spec, wire))
		return false;
	for (size_t i = 0; i < wire->n_serial; i++) {
		if (!agent_allows(call->agent, wire->serial[i]))
			return false;
	}
	if (!spec->kind->is_md)
		return true;
	record_md_node(call->agent, r, node);
	return node[0] &&
	       md_read_state(call->agent->cfg.root, node, &md) == 0 &&
	       md.raid_disks == spec->count;
}

static int array_refuse_ours(const struct guard *g, struct err *err)
{
	const struct probe_sig *s = &g->sigs.sig[0];

	return err_set(err, -EPERM,
		       "disk %s holds bay's own %s \"%s\"; zero that array "
		       "first, or allow it to be overwritten",
		       g->serial, s->type, s->label);
}

/* All disks are judged before the first is written. */
static int array_prepare(struct call *call, struct guard *g, size_t count,
			 bool wipe_ours)
{
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		if (g[i].ours && !wipe_ours)
			return array_refuse_ours(&g[i], &call->err);
	}
	for (size_t i = 0; !rc && i < count; i++)
		rc = guard_wipe(&g[i], call->agent, &call->err);
	return rc;
}

/* The spec's members with the paths of the guards that were handed over. */
static int array_hand_over(struct call *call, struct guard *g,
			   struct array_spec *spec)
{
	struct array_member *m =
		arena_array(call->arena, spec->count, sizeof(*m));

	for (unsigned i = 0; i < spec->count; i++) {
		int rc = guard_hand_over(&g[i], call->agent, &call->err);

		if (rc)
			return rc;
		m[i] = (struct array_member){ .serial = g[i].serial,
					      .device = g[i].path,
					      .node = g[i].disk.name };
	}
	spec->member = m;
	return 0;
}

static void array_sync_progress(void *arg, double part)
{
	struct call *call = arg;

	agent_progress(call->agent, "", "resync", part, 0);
}

static int array_make(struct call *call, struct guard *g,
		      struct array_spec *spec, struct record *r)
{
	const struct array_env env = agent_array_env(call->agent);
	int rc = array_hand_over(call, g, spec);

	if (!rc)
		rc = array_create(&env, spec, r->node, &call->err);
	if (!rc && r->node[0])
		rc = record_save(call->agent, r, &call->err);
	if (!rc && spec->initial_sync && r->node[0])
		rc = md_wait_idle(&env, r->node, array_sync_progress, call,
				  &call->err);
	return rc;
}

static void array_new_record(const char *name, Bay__ArraySpec *spec,
			     struct record *r)
{
	*r = (struct record){ .spec = spec };
	(void)str_copy(r->name, sizeof(r->name), name);
}

static int array_create_guarded(struct call *call,
				const Bay__ArrayCreateReq *req,
				struct array_spec *spec, struct guard *g)
{
	struct record r;
	int rc = array_prepare(call, g, spec->count, req->wipe_ours);

	/* The note comes first: an agent killed in the next step can undo it.
	 */
	array_new_record(req->name, req->spec, &r);
	if (!rc)
		rc = record_save(call->agent, &r, &call->err);
	if (!rc)
		rc = array_make(call, g, spec, &r);
	if (rc)
		(void)record_delete(call->agent, req->name);
	return rc;
}

static int array_plan(struct call *call, const Bay__ArrayCreateReq *req,
		      const struct guard *g, size_t count)
{
	Bay__ArrayState *s = arena_alloc(call->arena, sizeof(*s));

	for (size_t i = 0; i < count; i++) {
		if (g[i].ours && !req->wipe_ours)
			return array_refuse_ours(&g[i], &call->err);
	}
	bay__array_state__init(s);
	s->name = req->name;
	s->spec = req->spec;
	s->md_state = arena_strdup(call->arena, "planned");
	call->reply->body_case = BAY__REPLY__BODY_ARRAY;
	call->reply->array = s;
	return 0;
}

int svc_array_create(struct call *call)
{
	const Bay__ArrayCreateReq *req = call->req->array_create;
	struct guard g[ARRAY_MEMBERS_MAX];
	struct array_spec spec;
	struct record r;
	int rc = record_spec(req->name, req->spec, &spec, call->arena,
			     &call->err);

	if (rc)
		return rc;
	if (!req->plan_only &&
	    array_already(call, req->name, &spec, req->spec, &r))
		return array_reply(call, &r);
	rc = guard_open_all(g, call->agent, req->spec->serial, spec.count,
			    &call->err);
	if (rc)
		return rc;
	if (req->plan_only)
		rc = array_plan(call, req, g, spec.count);
	else
		rc = array_create_guarded(call, req, &spec, g);
	guard_close_all(g, spec.count);
	if (rc || req->plan_only)
		return rc;
	rc = record_load(call->agent, req->name, call->arena, &r, &call->err);
	return rc ? rc : array_reply(call, &r);
}

/* Each member must carry the superblock of just this array. */
static int array_check_member(const struct guard *g, const char *name,
			      struct err *err)
{
	char label[ARRAY_NAME_MAX + 8] = "bay:";

	(void)str_copy(label + 4, sizeof(label) - 4, name);
	for (size_t i = 0; i < g->sigs.count; i++) {
		const struct probe_sig *s = &g->sigs.sig[i];

		if (strcmp(s->type, "linux_raid_member") == 0 &&
		    strcmp(s->label, label) == 0)
			return 0;
	}
	return err_set(err, -ENOENT,
		       "disk %s is no member of array %s; create the array",
		       g->serial, name);
}

static int array_assemble_guarded(struct call *call,
				  const Bay__ArrayAssembleReq *req,
				  struct array_spec *spec, struct guard *g)
{
	const struct array_env env = agent_array_env(call->agent);
	struct record r;
	int rc = 0;

	array_new_record(req->name, req->spec, &r);
	for (unsigned i = 0; !rc && spec->kind->is_md && i < spec->count; i++)
		rc = array_check_member(&g[i], req->name, &call->err);
	if (!rc)
		rc = record_save(call->agent, &r, &call->err);
	if (!rc)
		rc = array_hand_over(call, g, spec);
	if (!rc)
		rc = array_assemble(&env, spec, r.node, &call->err);
	if (!rc && r.node[0])
		rc = record_save(call->agent, &r, &call->err);
	return rc;
}

int svc_array_assemble(struct call *call)
{
	const Bay__ArrayAssembleReq *req = call->req->array_assemble;
	struct guard g[ARRAY_MEMBERS_MAX];
	struct array_spec spec;
	struct record r;
	int rc = record_spec(req->name, req->spec, &spec, call->arena,
			     &call->err);

	if (rc)
		return rc;
	if (array_already(call, req->name, &spec, req->spec, &r))
		return array_reply(call, &r);
	rc = guard_open_all(g, call->agent, req->spec->serial, spec.count,
			    &call->err);
	if (rc)
		return rc;
	rc = array_assemble_guarded(call, req, &spec, g);
	guard_close_all(g, spec.count);
	if (!rc)
		rc = record_load(call->agent, req->name, call->arena, &r,
				 &call->err);
	return rc ? rc : array_reply(call, &r);
}

/* Where any of its targets is mounted, "" for nowhere. */
static const char *array_mounted_on(struct call *call, const struct record *r)
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

static int array_stop_record(struct call *call, const struct record *r)
{
	const struct array_env env = agent_array_env(call->agent);
	const char *point = array_mounted_on(call, r);
	char node[ARRAY_NODE_BYTES];
	int rc = 0;

	if (*point)
		return err_set(&call->err, -EBUSY,
			       "array %s is mounted on %s; unmount it first",
			       r->name, point);
	record_md_node(call->agent, r, node);
	if (node[0])
		rc = md_stop(&env, node, &call->err);
	return rc ? rc : record_delete(call->agent, r->name);
}

int svc_array_stop(struct call *call)
{
	struct record r;
	int rc = record_load(call->agent, call->req->array_stop->name,
			     call->arena, &r, &call->err);

	if (rc == -ENOENT)
		return 0; /* stopped before */
	return rc ? rc : array_stop_record(call, &r);
}

static bool array_is_md(const struct probe_sig *s)
{
	return strcmp(s->type, "linux_raid_member") == 0;
}

/* mdadm erases the superblocks of all members in one call. */
static int array_zero_members(struct call *call, struct guard *g, size_t count)
{
	const struct array_env env = agent_array_env(call->agent);
	const char *device[ARRAY_MEMBERS_MAX];
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++) {
		bool md = false;

		for (size_t k = 0; k < g[i].sigs.count; k++)
			md |= array_is_md(&g[i].sigs.sig[k]);
		if (!md)
			continue;
		rc = guard_hand_over(&g[i], call->agent, &call->err);
		device[n++] = g[i].path;
	}
	return rc || n == 0 ? rc : md_zero(&env, device, n, &call->err);
}

/* What else of bay's is on the disk. mdadm wanted it unclaimed: a member with
 * more than its superblock is claimed and judged anew. */
static int array_zero_rest(struct call *call, struct guard *g)
{
	struct err *err = &call->err;
	bool more = g->sigs.count == PROBE_MAX;
	int rc = 0;

	for (size_t i = 0; i < g->sigs.count; i++)
		more |= !array_is_md(&g->sigs.sig[i]);
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
static int array_zero_disks(struct call *call, char *const *serials,
			    size_t count)
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
	rc = array_zero_members(call, g, count);
	for (size_t i = 0; !rc && i < count; i++)
		rc = array_zero_rest(call, &g[i]);
	guard_close_all(g, count);
	return rc;
}

int svc_array_zero(struct call *call)
{
	const Bay__ArrayZeroReq *req = call->req->array_zero;
	struct record r;
	int rc = record_load(call->agent, req->name, call->arena, &r, NULL);

	if (!rc)
		rc = array_stop_record(call, &r);
	else if (rc == -ENOENT)
		rc = 0;
	return rc ? rc : array_zero_disks(call, req->serial, req->n_serial);
}

int svc_array_show(struct call *call)
{
	const char *only = call->req->array_show->name;
	char **names = record_names(call->agent, call->arena);
	Bay__ArrayStates *all = arena_alloc(call->arena, sizeof(*all));
	size_t count = 0;

	while (names[count])
		count++;
	bay__array_states__init(all);
	all->array = arena_array(call->arena, count + 1, sizeof(*all->array));
	for (size_t i = 0; i < count; i++) {
		struct record r;
		int rc = 0;

		if (*only && strcmp(names[i], only) != 0)
			continue;
		rc = record_load(call->agent, names[i], call->arena, &r,
				 &call->err);
		if (!rc)
			rc = record_state(call->agent, &r, call->arena,
					  &all->array[all->n_array],
					  &call->err);
		if (rc)
			return rc;
		all->n_array++;
	}
	call->reply->body_case = BAY__REPLY__BODY_ARRAYS;
	call->reply->arrays = all;
	return 0;
}
