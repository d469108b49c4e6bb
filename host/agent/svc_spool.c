/* The spool, as the controller sees it. */
#include "host/agent/agent.h"

#include <errno.h>

#include "host/agent/damaged.h"
#include "host/util/log.h"

Bay__CellResult *agent_spooled(const struct agent *a, const char *id,
			       struct arena *arena, int *rc)
{
	ProtobufCAllocator in_arena = agent_arena_allocator(arena);
	Bay__CellResult *result = NULL;
	struct buf b = { 0 };

	*rc = spool_get(&a->spool, id, &b);
	if (!*rc)
		result = bay__cell_result__unpack(&in_arena, b.len,
						  (const uint8_t *)buf_str(&b));
	if (!*rc && !result)
		*rc = -EBADMSG;
	buf_free(&b);
	if (!damaged_is(*rc))
		return result;
	*rc = spool_set_aside(&a->spool, id);
	if (!*rc) {
		log_warnx("result %s was damaged and is kept as "
			  "%s/%s.cell" FS_ASIDE "; its cell is to be run again",
			  id, a->spool.dir, id);
		*rc = -EBADMSG;
	}
	return NULL;
}

static Bay__SpoolEntry *spool_entry(const struct agent *a,
				    const struct spool_item *item,
				    struct arena *arena)
{
	Bay__SpoolEntry *e = arena_alloc(arena, sizeof(*e));
	int rc;
	const Bay__CellResult *result = agent_spooled(a, item->id, arena, &rc);

	if (!result)
		return NULL;
	bay__spool_entry__init(e);
	e->spool_id = arena_strdup(arena, item->id);
	e->bytes = item->bytes;
	e->cell_key = result->key;
	e->attempt = result->attempt;
	return e;
}

int svc_spool_list(struct call *call)
{
	const struct spool *s = &call->agent->spool;
	Bay__SpoolList *list = arena_alloc(call->arena, sizeof(*list));
	struct spool_item *item;
	size_t count;
	int rc = spool_list(s, call->arena, &item, &count);

	if (rc)
		return err_sys(&call->err, rc, "cannot list %s", s->dir);
	bay__spool_list__init(list);
	list->entry = arena_array(call->arena, count + 1, sizeof(*list->entry));
	for (size_t i = 0; i < count; i++) {
		list->entry[list->n_entry] =
			spool_entry(call->agent, &item[i], call->arena);
		list->n_entry += list->entry[list->n_entry] != NULL;
	}
	call->reply->body_case = BAY__REPLY__BODY_SPOOL;
	call->reply->spool = list;
	return 0;
}

int svc_spool_get(struct call *call)
{
	return agent_spool_result(call, call->req->spool_get->spool_id);
}

int svc_spool_ack(struct call *call)
{
	const char *id = call->req->spool_ack->spool_id;
	int rc = spool_ack(&call->agent->spool, id);

	if (rc)
		return err_sys(&call->err, rc, "cannot forget result %.48s",
			       id);
	return 0;
}

int agent_spool_result(struct call *call, const char *id)
{
	int rc;

	call->reply->result = agent_spooled(call->agent, id, call->arena, &rc);
	if (!rc) {
		call->reply->body_case = BAY__REPLY__BODY_RESULT;
		return 0;
	}
	if (rc == -EBADMSG)
		return err_set(&call->err, rc,
			       "result %.48s in %.300s was damaged and is kept "
			       "there as %.48s.cell" FS_ASIDE
			       "; run its cell again",
			       id, call->agent->spool.dir, id);
	return err_sys(&call->err, rc, "there is no result %.48s", id);
}
