/* drivers/tmp105.h - TMP105 temperature sensor (TI SBOS648). Task context. */
#ifndef DRIVERS_TMP105_H
#define DRIVERS_TMP105_H

#include "firmware/hal/i2c.h"

/* Twelve bits, continuous conversion (one in 220 ms).
 * RIG_OK; RIG_BUSY: no answer; RIG_HW. */
RIG_MUST_USE rig_status tmp105_init(uint8_t address, const struct hal_i2c *bus);

/* Read the last conversion.
 *   mdegc  out: -128000..127937 in steps of 62.5; untouched on failure
 * As tmp105_init(). */
RIG_MUST_USE rig_status tmp105_read(uint8_t address, const struct hal_i2c *bus,
				    int32_t *mdegc);

#endif
