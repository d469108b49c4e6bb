#include "firmware/core/silence.h"

#include <string.h>

void silence_init(struct silence *s)
{
	memset(s, 0, sizeof(*s));
}

void silence_arm(struct silence *s, uint32_t mask, silence_policy policy)
{
	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++) {
		if (mask & (1u << i))
			s->policy[i] = (uint8_t)policy;
	}
}

void silence_heard(struct silence *s, uint64_t now_us)
{
	s->level = SILENCE_LEVEL_HEARD;
	s->heard_us = now_us;
}

bool silence_forbids_start(const struct silence *s)
{
	return s->level == SILENCE_LEVEL_LOST;
}

static uint32_t to_ms(uint64_t us)
{
	return (uint32_t)(us / 1000u);
}

static void level_up(struct silence *s, const RigConfig *cfg, uint64_t now_us,
		     struct silence_verdict *v)
{
	uint64_t silent_us = now_us - s->heard_us;

	v->silent_ms = (uint32_t)(silent_us / 1000u);
	if (s->level == SILENCE_LEVEL_HEARD &&
	    silent_us > cfg->host_late_ms * 1000ull) {
		s->level = SILENCE_LEVEL_LATE;
		v->late = true;
	}
	if (s->level == SILENCE_LEVEL_LATE &&
	    silent_us > cfg->host_lost_ms * 1000ull) {
		s->level = SILENCE_LEVEL_LOST;
		s->lost_us = now_us;
		v->lost = true;
		for (unsigned i = 0; i < RIG_SLOTS_MAX; i++)
			s->watch[i].quiet_since_ms = to_ms(now_us);
	}
}

/* Quiet for 2 s, or waited for long enough. */
static bool is_idle(struct silence_watch *w, const struct silence_slot *slot,
		    uint64_t since_us, uint64_t now_us)
{
	if (slot->active || slot->edges != w->edges) {
		w->edges = slot->edges;
		w->quiet_since_ms = to_ms(now_us);
	}
	return to_ms(now_us) - w->quiet_since_ms >= SILENCE_IDLE_MS ||
	       now_us - since_us >= SILENCE_IDLE_MAX_US;
}

static bool wants_off(struct silence *s, unsigned i,
		      const struct silence_slot *slot, uint64_t now_us)
{
	uint64_t since_us = s->lost_us;
	bool idle;

	/* CONTINUE finishes what is loaded; no schedule of cuts is loaded in
	 * this firmware yet, so it ends where HOLD ends. */
	if (s->policy[i] == SILENCE_HOLD || s->policy[i] == SILENCE_CONTINUE)
		since_us += SILENCE_HOLD_US;
	idle = is_idle(&s->watch[i], slot, since_us, now_us);
	return slot->powered && now_us >= since_us && idle;
}

struct silence_verdict silence_poll(struct silence *s, const RigConfig *cfg,
				    const struct silence_slot *slots, size_t n,
				    uint64_t now_us)
{
	struct silence_verdict v = { 0 };

	if (s->level == SILENCE_LEVEL_NEVER || now_us < s->heard_us)
		return v;
	level_up(s, cfg, now_us, &v);
	if (s->level != SILENCE_LEVEL_LOST)
		return v;
	for (unsigned i = 0; i < n; i++) {
		if (s->policy[i] == SILENCE_OFF_NOW) {
			if (slots[i].powered)
				v.off_mask |= (uint8_t)(1u << i);
			continue;
		}
		if (!wants_off(s, i, &slots[i], now_us) ||
		    now_us - s->last_off_us < SILENCE_SPACING_US)
			continue;
		s->last_off_us = now_us;
		v.off_mask |= (uint8_t)(1u << i);
	}
	return v;
}
