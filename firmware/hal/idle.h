/* hal/idle.h - sleep. Task context. */
#ifndef HAL_IDLE_H
#define HAL_IDLE_H

#include "firmware/hal/types.h"

/* Sleep until an interrupt of the link or of an activity line, or until
 * until_us of hal_clock_us(), whichever comes first. May return early; the
 * port bounds the sleep to 10 ms, so that a lost interrupt costs no more. */
void hal_idle(uint64_t until_us);

#endif
