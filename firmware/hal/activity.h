/* hal/activity.h - edge counters of the disks' activity lines (DAS, pin 11:
 * open drain, low when active). Counting goes on in interrupts. */
#ifndef HAL_ACTIVITY_H
#define HAL_ACTIVITY_H

#include "firmware/hal/types.h"

/* Make the pins inputs with pull-up and count their falling edges from 0.
 *   pins  board table, valid for ever
 *   n     0..RIG_SLOTS_MAX */
void hal_activity_init(const struct hal_pin *pins, size_t n);

/* Falling edges of line ch since init; wraps. */
uint32_t hal_activity_edges(size_t ch);

/* True while the line is pulled low. */
bool hal_activity_is_active(size_t ch);

#endif
