/* hal/i2c.h - one I2C bus as its only master. Task context.
 *
 * An interface rather than plain functions, so that drivers run on a fake bus
 * and faults can be wrapped around a real one. */
#ifndef HAL_I2C_H
#define HAL_I2C_H

#include "firmware/hal/types.h"

struct hal_i2c;

struct hal_i2c_ops {
	/* START, address, wr bytes, and, if rd_len, repeated START and rd
	 * bytes, STOP. wr_len + rd_len > 0.
	 *   rd  out: undefined on failure
	 * RIG_OK; RIG_BUSY: address not acknowledged (no part, or a part that
	 * is busy inside); RIG_HW: a byte not acknowledged, arbitration lost
	 * or bus stuck. The bus is free again in every case.
	 * Blocks for the transfer's time, at most 10 ms on a stuck bus. */
	rig_status (*transfer)(const struct hal_i2c *bus, uint8_t address,
			       const uint8_t *wr, size_t wr_len, uint8_t *rd,
			       size_t rd_len);
};

struct hal_i2c {
	const struct hal_i2c_ops *ops;
	void *arg;
};

static inline RIG_MUST_USE rig_status
hal_i2c_transfer(const struct hal_i2c *bus, uint8_t address, const uint8_t *wr,
		 size_t wr_len, uint8_t *rd, size_t rd_len)
{
	return bus->ops->transfer(bus, address, wr, wr_len, rd, rd_len);
}

/* Bring the MCU's bus up: a slave that holds SDA low is clocked free first.
 * Returns the bus, valid for ever. */
const struct hal_i2c *hal_i2c_init(void);

#endif
