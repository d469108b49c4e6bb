/* core/schedule.h - SlotSet commands that wait for their time. Pure. */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include "firmware/hal/types.h"

#define SCHEDULE_ENTRIES 4u
#define SCHEDULE_LEAD_US 2000u

struct schedule_entry {
	uint64_t at_us;
	uint64_t op_id;
	uint8_t mask; /* 0: free */
	bool on;
};

struct schedule {
	struct schedule_entry entry[SCHEDULE_ENTRIES];
};

void schedule_init(struct schedule *s);

/* RIG_OK; RIG_TOO_LATE: past, or less than 2 ms ahead; RIG_NO_MEMORY. */
RIG_MUST_USE rig_status schedule_add(struct schedule *s,
				     const struct schedule_entry *e,
				     uint64_t now_us);

/* Take an entry whose time has come, the earliest first.
 * Returns false if there is none. */
bool schedule_take(struct schedule *s, uint64_t now_us,
		   struct schedule_entry *out);

/* When the next one is due; UINT64_MAX: never. */
uint64_t schedule_next_us(const struct schedule *s);

#endif
