/* The spool, as the controller sees it. */
#include "host/agent/agent.h"

#include <errno.h>

static Bay__SpoolEntry *spool_entry(const struct spool *s,
				    const struct spool_item *item,
				    struct arena *arena)
{
	Bay__SpoolEntry *e = arena_alloc(arena, sizeof(*e));
	Bay__CellResult *result = NULL;
	struct buf b = { 0 };

	bay__spool_entry__init(e);
	e->spool_id = arena_strdup(arena, item->id);
	e->bytes = item->bytes;
	if (spool_get(s, item->id, &b) == 0)
		result = bay__cell_result__unpack(NULL, b.len,
						  (const uint8_t *)b.data);
	if (result) {
		e->cell_key = arena_strdup(arena, result->key);
		e->attempt = result->attempt;
		bay__cell_result__free_unpacked(result, NULL);
	}
	buf_free(&b);
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
	for (size_t i = 0; i < count; i++)
		list->entry[list->n_entry++] =
			spool_entry(s, &item[i], call->arena);
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
	struct spool *s = &call->agent->spool;
	ProtobufCAllocator in_arena = agent_arena_allocator(call->arena);
	struct buf b = { 0 };
	int rc = spool_get(s, id, &b);

	if (!rc) {
		call->reply->result = bay__cell_result__unpack(
			&in_arena, b.len, (const uint8_t *)buf_str(&b));
		if (!call->reply->result)
			rc = -EBADMSG;
	}
	buf_free(&b);
	if (!rc) {
		call->reply->body_case = BAY__REPLY__BODY_RESULT;
		return 0;
	}
	if (rc == -EBADMSG)
		return err_set(&call->err, rc,
			       "result %.48s in %s is damaged; acknowledge it "
			       "and run its cell again",
			       id, s->dir);
	return err_sys(&call->err, rc, "there is no result %.48s", id);
}
