#include "proto/link/opcache.h"

#include <stddef.h>

void opcache_init(struct opcache *c)
{
	*c = (struct opcache){ .next = 0 };
}

static struct opcache_entry *find(struct opcache *c, uint64_t op_id)
{
	for (unsigned i = 0; i < OPCACHE_ENTRIES; i++)
		if (op_id && c->entry[i].op_id == op_id)
			return &c->entry[i];
	return NULL;
}

const struct opcache_entry *opcache_find(const struct opcache *c,
					 uint64_t op_id)
{
	return find((struct opcache *)c, op_id);
}

void opcache_store(struct opcache *c, const struct opcache_entry *e)
{
	struct opcache_entry *old = find(c, e->op_id);

	if (old) {
		*old = *e;
		return;
	}
	c->entry[c->next] = *e;
	c->next = (c->next + 1) % OPCACHE_ENTRIES;
}
