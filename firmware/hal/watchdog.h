/* hal/watchdog.h - resets the MCU when nobody feeds it. Task context. */
#ifndef HAL_WATCHDOG_H
#define HAL_WATCHDOG_H

#include "firmware/hal/types.h"

/* Start it; it cannot be stopped again.
 *   timeout_ms  from the last feed to the reset */
void hal_watchdog_start(uint32_t timeout_ms);
void hal_watchdog_feed(void);

#endif
