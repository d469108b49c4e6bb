#include "firmware/core/trip.h"

#include <string.h>

/* A gap in the samples counts as no more than this in the i2t sum. */
#define STEP_MAX_US 1000000u

void trip_init(struct trip *t)
{
	memset(t, 0, sizeof(*t));
}

/* Not 0, which means never. */
static uint32_t low_half(uint64_t at_us)
{
	return (uint32_t)at_us ? (uint32_t)at_us : 1;
}

void trip_blank(struct trip *t, uint64_t until_us)
{
	t->blank_until_us = low_half(until_us);
}

static bool is_blanked(struct trip *t, uint32_t at_us)
{
	if (t->blank_until_us && (int32_t)(at_us - t->blank_until_us) >= 0)
		t->blank_until_us = 0;
	return t->blank_until_us != 0;
}

static bool fast_trips(struct trip *t, unsigned rail, uint32_t limit_ma,
		       uint32_t limit_ms, const struct rail_sample *s)
{
	uint32_t at_us = low_half(s->at_us);

	if (is_blanked(t, at_us) || s->ma[rail] <= (int32_t)limit_ma) {
		t->over_since_us[rail] = 0;
		return false;
	}
	if (!t->over_since_us[rail])
		t->over_since_us[rail] = at_us;
	return at_us - t->over_since_us[rail] >= limit_ms * 1000u;
}

static uint64_t square(uint32_t ma)
{
	return (uint64_t)ma * ma;
}

/* Heats with I^2 above the limit, cools with the distance to it below: a
 * current just above the limit trips after i2t_ms, twice the limit after a
 * quarter of it. */
static bool i2t_trips(struct trip *t, const SlotConfig *cfg, uint32_t ma,
		      uint64_t step_us)
{
	uint64_t limit = square(cfg->i2t_12v_ma);

	if (ma > cfg->i2t_12v_ma) {
		t->heat += square(ma) * step_us;
	} else {
		uint64_t cooling = (limit - square(ma)) * step_us;

		t->heat -= cooling < t->heat ? cooling : t->heat;
	}
	return t->heat >= limit * cfg->i2t_ms * 1000u && t->heat > 0;
}

slot_fault trip_feed(struct trip *t, const SlotConfig *cfg,
		     const struct rail_sample *s)
{
	uint32_t ma_12v = s->ma[RAIL_12V] > 0 ? (uint32_t)s->ma[RAIL_12V] : 0;
	uint32_t step_us = t->last_us ? low_half(s->at_us) - t->last_us : 0;

	if (step_us > STEP_MAX_US)
		step_us = STEP_MAX_US;
	t->last_us = low_half(s->at_us);
	if (fast_trips(t, RAIL_12V, cfg->trip_12v_ma, cfg->trip_ms, s))
		return FAULT_OC_FAST_12V;
	if (fast_trips(t, RAIL_5V, cfg->trip_5v_ma, cfg->trip_ms, s))
		return FAULT_OC_FAST_5V;
	if (i2t_trips(t, cfg, ma_12v, step_us))
		return FAULT_OC_I2T_12V;
	return FAULT_NONE;
}

bool trip_log_add(struct trip_log *l, uint64_t now_us)
{
	uint32_t now_s = (uint32_t)(now_us / 1000000u) + 1u;
	uint32_t oldest_s;

	l->at_s[l->count % TRIP_LOCK_COUNT] = now_s;
	l->count++;
	/* The one to be overwritten next is the oldest of the three. */
	oldest_s = l->at_s[l->count % TRIP_LOCK_COUNT];
	return oldest_s && now_s - oldest_s <= TRIP_LOCK_WINDOW_S;
}

void trip_log_forgive(struct trip_log *l)
{
	memset(l->at_s, 0, sizeof(l->at_s));
}
