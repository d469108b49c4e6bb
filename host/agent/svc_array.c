/* Arrays: plan, create, assemble, stop, zero, show. */
#include "host/agent/agent.h"

#include <errno.h>
#include <string.h>

#include "host/agent/damaged.h"
#include "host/agent/guard.h"
#include "host/agent/mounts.h"
#include "host/agent/record.h"
#include "host/agent/teardown.h"
#include "host/array/md.h"
#include "host/util/log.h"
#include "host/util/parse.h"

static int array_reply(struct call *call, const struct record *r)
{
	call->reply->body_case = BAY__REPLY__BODY_ARRAY;
	return record_state(call->agent, r, call->arena, &call->reply->array,
			    &call->err);
}

/* Whether a repeated request finds its work done. */
static bool array_already(struct call *call, const char *name,
			  const struct array_spec *spec,
			  const Bay__ArraySpec *wire, struct record *r)
{
	char node[ARRAY_NODE_BYTES];
	struct md_state md;

	if (record_load(call->agent, name, call->arena, r, NULL) ||
	    !record_same_spec(r->spec, wire))
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

/* A failed create leaves nothing behind; what cannot be undone keeps its
 * record. The first failure is told. */
static void array_undo(struct call *call, struct guard *g, struct record *r)
{
	struct err why = call->err;

	guard_close_all(g, r->spec->n_serial);
	if (teardown_destroy(call, r, NULL, 0))
		log_warnx("%s", call->err.text);
	call->err = why;
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
	if (rc)
		return rc;
	rc = array_make(call, g, spec, &r);
	if (rc)
		array_undo(call, g, &r);
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
	rc = record_check_free(call->agent, req->name, req->spec, call->arena,
			       &call->err);
	if (rc)
		return rc;
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
	rc = record_check_free(call->agent, req->name, req->spec, call->arena,
			       &call->err);
	if (rc)
		return rc;
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

int svc_array_stop(struct call *call)
{
	struct record r;
	int rc = record_load(call->agent, call->req->array_stop->name,
			     call->arena, &r, &call->err);

	if (rc == -ENOENT)
		return 0; /* stopped before */
	return rc ? rc : teardown_stop(call, &r);
}

int svc_array_zero(struct call *call)
{
	const Bay__ArrayZeroReq *req = call->req->array_zero;
	struct record r;
	int rc = record_check_disks(call->agent, req->name, req->serial,
				    req->n_serial, call->arena, &call->err);

	if (rc)
		return rc;
	rc = record_load(call->agent, req->name, call->arena, &r, &call->err);
	if (rc == -ENOENT) /* wiped before */
		return teardown_zero(call, req->serial, req->n_serial);
	return rc ? rc : teardown_destroy(call, &r, req->serial, req->n_serial);
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
		if (rc == -ENOENT) /* damaged: below */
			continue;
		if (!rc)
			rc = record_state(call->agent, &r, call->arena,
					  &all->array[all->n_array],
					  &call->err);
		if (rc)
			return rc;
		all->n_array++;
	}
	all->damaged = damaged_list(call->agent, call->arena, &all->n_damaged);
	call->reply->body_case = BAY__REPLY__BODY_ARRAYS;
	call->reply->arrays = all;
	return 0;
}
