/* hal/clock.h - the MCU's clock. Any context. */
#ifndef HAL_CLOCK_H
#define HAL_CLOCK_H

#include "firmware/hal/types.h"

/* Microseconds since reset; never goes back, does not wrap in practice. */
uint64_t hal_clock_us(void);

#endif
