/* app/power.h - all slots together: budget, queue, silence of the host,
 * scheduled edges. Task context. */
#ifndef APP_POWER_H
#define APP_POWER_H

#include "firmware/app/app.h"

void power_init(struct app *app, uint64_t now_us);

/* One turn: what is due by time, then the queue. */
void power_run(struct app *app, uint64_t now_us);

/* Ask for a state of the slots in mask; none is touched if one refuses.
 *   detail  out: the slot that refused
 * As slot_set(); RIG_RANGE: a slot the board has not. */
RIG_MUST_USE rig_status power_set(struct app *app, uint32_t mask, bool on,
				  uint64_t op_id, uint64_t now_us,
				  uint32_t *detail);

/* Every gate off now, whatever else. */
void power_all_off(struct app *app, uint64_t op_id, uint64_t now_us);

/* Latch fault in every slot that is powered. */
void power_trip_all(struct app *app, slot_fault fault, uint64_t now_us);

/* Bit n: slot n holds a latched fault. */
uint32_t power_fault_mask(const struct app *app);

/* The first slot that has power or moves; RIG_SLOTS_MAX: none. */
unsigned power_first_live(const struct app *app);

/* When power_run() has something to do. */
uint64_t power_next_us(const struct app *app, uint64_t now_us);

#endif
