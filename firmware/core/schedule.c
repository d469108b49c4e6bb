#include "firmware/core/schedule.h"

#include <string.h>

void schedule_init(struct schedule *s)
{
	memset(s, 0, sizeof(*s));
}

rig_status schedule_add(struct schedule *s, const struct schedule_entry *e,
			uint64_t now_us)
{
	if (e->at_us < now_us + SCHEDULE_LEAD_US)
		return RIG_TOO_LATE;
	for (unsigned i = 0; i < SCHEDULE_ENTRIES; i++) {
		if (s->entry[i].mask)
			continue;
		s->entry[i] = *e;
		return RIG_OK;
	}
	return RIG_NO_MEMORY;
}

static const struct schedule_entry *earliest(const struct schedule *s)
{
	const struct schedule_entry *best = NULL;

	for (unsigned i = 0; i < SCHEDULE_ENTRIES; i++) {
		const struct schedule_entry *e = &s->entry[i];

		if (e->mask && (!best || e->at_us < best->at_us))
			best = e;
	}
	return best;
}

bool schedule_take(struct schedule *s, uint64_t now_us,
		   struct schedule_entry *out)
{
	const struct schedule_entry *e = earliest(s);

	if (!e || e->at_us > now_us)
		return false;
	*out = *e;
	s->entry[e - s->entry].mask = 0;
	return true;
}

uint64_t schedule_next_us(const struct schedule *s)
{
	const struct schedule_entry *e = earliest(s);

	return e ? e->at_us : UINT64_MAX;
}
