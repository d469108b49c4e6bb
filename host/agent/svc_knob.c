/* Settings: set, read back, restore. */
#include "host/agent/agent.h"

#include <errno.h>
#include <string.h>

#include "host/agent/disk.h"
#include "host/agent/record.h"
#include "host/util/parse.h"

/* The kernel names a queue setting applies to. */
struct knob_nodes {
	char name[ARRAY_MEMBERS_MAX + 1][ARRAY_NODE_BYTES];
	unsigned count;
};

static void knob_add_node(struct knob_nodes *n, const char *name)
{
	if (n->count < ARRAY_MEMBERS_MAX + 1)
		(void)str_copy(n->name[n->count++], ARRAY_NODE_BYTES, name);
}

static int knob_add_disk(struct call *call, const char *serial,
			 struct knob_nodes *n)
{
	struct disk d;
	int rc;

	if (!agent_allows(call->agent, serial))
		return err_set(
			&call->err, -EPERM,
			"disk %s is not on the bench's list of disks, so "
			"its settings stay as they are",
			serial);
	rc = disk_find(call->agent->cfg.root, serial, &d, &call->err);
	if (!rc)
		knob_add_node(n, d.name);
	return rc;
}

/* Target "array": the devices that carry file systems. "": these and all
 * members. Else a serial. */
static int knob_find_nodes(struct call *call, const char *target,
			   struct knob_nodes *n)
{
	const char *array = call->req->knob_set->array;
	struct target *t;
	struct record r;
	size_t count;
	int rc;

	n->count = 0;
	if (*target && strcmp(target, "array") != 0)
		return knob_add_disk(call, target, n);
	rc = record_load(call->agent, array, call->arena, &r, &call->err);
	if (!rc)
		rc = record_targets(call->agent, &r, call->arena, &t, &count,
				    &call->err);
	for (size_t i = 0; !rc && i < count; i++)
		knob_add_node(n, t[i].node);
	/* Only an md device has members besides its target. */
	if (!rc && !*target && count == 1 && r.spec->n_serial > 1) {
		for (size_t i = 0; !rc && i < r.spec->n_serial; i++)
			rc = knob_add_disk(call, r.spec->serial[i], n);
	}
	return rc;
}

static int knob_set_one(struct call *call, const Bay__Knob *knob,
			const char *node, Bay__KnobState *state)
{
	const struct knob_kind *kind = knob_kind_find(knob->name);
	Bay__KnobValue *v = arena_alloc(call->arena, sizeof(*v));
	struct knob_ref ref;
	int rc = knob_resolve(&ref, kind, call->agent->cfg.root, node,
			      knob->target, &call->err);

	if (rc)
		return rc;
	bay__knob_value__init(v);
	v->before = arena_alloc(call->arena, KNOB_VALUE_BYTES);
	v->now = arena_alloc(call->arena, KNOB_VALUE_BYTES);
	v->path = arena_strdup(call->arena, ref.path);
	v->knob = (Bay__Knob *)(uintptr_t)knob;
	rc = knob_set(&call->agent->knobs, &ref, knob->value, v->before, v->now,
		      &call->err);
	if (!rc)
		state->value[state->n_value++] = v;
	return rc;
}

static int knob_set_all(struct call *call, const Bay__Knob *knob,
			Bay__KnobState *state)
{
	const struct knob_kind *kind = knob_kind_find(knob->name);
	struct knob_nodes nodes;
	int rc;

	if (!kind)
		return err_set(&call->err, -EOPNOTSUPP,
			       "this agent has no setting \"%.40s\"",
			       knob->name);
	if (kind->scope != KNOB_QUEUE)
		return knob_set_one(call, knob, "", state);
	rc = knob_find_nodes(call, knob->target, &nodes);
	for (unsigned i = 0; !rc && i < nodes.count; i++)
		rc = knob_set_one(call, knob, nodes.name[i], state);
	return rc;
}

int svc_knob_set(struct call *call)
{
	const Bay__KnobSetReq *req = call->req->knob_set;
	Bay__KnobState *state = arena_alloc(call->arena, sizeof(*state));
	int rc = 0;

	if (req->n_knob > KNOB_MAX)
		return err_set(&call->err, -EINVAL,
			       "more than %u settings in one request",
			       KNOB_MAX);
	bay__knob_state__init(state);
	state->value = arena_array(call->arena,
				   req->n_knob * (ARRAY_MEMBERS_MAX + 1) + 1,
				   sizeof(*state->value));
	for (size_t i = 0; !rc && i < req->n_knob; i++)
		rc = knob_set_all(call, req->knob[i], state);
	if (rc)
		return rc;
	call->reply->body_case = BAY__REPLY__BODY_KNOBS;
	call->reply->knobs = state;
	return 0;
}

int svc_knob_restore(struct call *call)
{
	Bay__KnobState *state = arena_alloc(call->arena, sizeof(*state));
	struct knob_journal *j = &call->agent->knobs;
	unsigned restored;
	int rc;

	bay__knob_state__init(state);
	state->value =
		arena_array(call->arena, j->count + 1, sizeof(*state->value));
	for (unsigned i = 0; i < j->count; i++) {
		Bay__KnobValue *v = arena_alloc(call->arena, sizeof(*v));

		bay__knob_value__init(v);
		v->path = arena_strdup(call->arena, j->entry[i].path);
		v->now = arena_strdup(call->arena, j->entry[i].before);
		state->value[state->n_value++] = v;
	}
	rc = knob_restore(j, &restored, &call->err);
	if (rc)
		return rc;
	call->reply->body_case = BAY__REPLY__BODY_KNOBS;
	call->reply->knobs = state;
	return 0;
}
