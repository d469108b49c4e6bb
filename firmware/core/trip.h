/* core/trip.h - over-current of one slot: a fast limit on each rail and an
 * i2t limit on 12 V. Pure; fed with every sample of the slot. */
#ifndef CORE_TRIP_H
#define CORE_TRIP_H

#include "firmware/core/rail.h"

struct trip {
	/* Low halves of times; they wrap, which differences survive. 0: it
	 * does not last, or never was. */
	uint32_t over_since_us[RIG_RAILS];
	uint32_t blank_until_us;
	uint32_t last_us;
	uint64_t heat; /* mA^2 us above the i2t limit */
};

void trip_init(struct trip *t);

/* Ignore the fast limits before until_us: inrush of a ramp. */
void trip_blank(struct trip *t, uint64_t until_us);

/* Judge one sample.
 * FAULT_NONE, or the limit that was exceeded: FAULT_OC_FAST_5V,
 * FAULT_OC_FAST_12V (over trip_*_ma in every sample of trip_ms) or
 * FAULT_OC_I2T_12V (i2t_12v_ma for i2t_ms, or more for shorter). */
slot_fault trip_feed(struct trip *t, const SlotConfig *cfg,
		     const struct rail_sample *s);

/* Three trips within ten minutes lock a slot. */
#define TRIP_LOCK_COUNT    3u
#define TRIP_LOCK_WINDOW_S 600u

struct trip_log {
	uint32_t at_s[TRIP_LOCK_COUNT]; /* + 1; 0: none */
	uint32_t count;                 /* ever */
};

/* Note a trip. Returns true if it locks the slot. */
bool trip_log_add(struct trip_log *l, uint64_t now_us);

/* Forget the past trips; the count stays. */
void trip_log_forgive(struct trip_log *l);

#endif
