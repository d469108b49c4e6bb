/* drivers/adm127x.h - ADM1272 hot-swap controller and power monitor, PMBus in
 * DIRECT format (data sheet rev. C, tables 10 and 11). One a rail. Task
 * context; blocks for one or two word transfers. */
#ifndef DRIVERS_ADM127X_H
#define DRIVERS_ADM127X_H

#include "firmware/hal/i2c.h"

struct adm127x_cfg {
	uint8_t address;     /* 0x10..0x1f */
	uint16_t shunt_uohm; /* sense resistor */
	bool range_60v;      /* else 100 V */
};

/* Find the part and set it up: output voltage measured too, continuous
 * conversion, each value the mean of 2 samples (fresh every 0.3 ms).
 * RIG_OK; RIG_BUSY: no answer; RIG_HW: not an ADM127x, or it lost a byte. */
RIG_MUST_USE rig_status adm127x_init(const struct adm127x_cfg *cfg,
				     const struct hal_i2c *bus);

/* Voltage behind the switch and current through it.
 *   mv, ma  out: untouched on failure; a small current may be negative
 * As adm127x_init(). */
RIG_MUST_USE rig_status adm127x_read_vout(const struct adm127x_cfg *cfg,
					  const struct hal_i2c *bus,
					  int32_t *mv);
RIG_MUST_USE rig_status adm127x_read_iout(const struct adm127x_cfg *cfg,
					  const struct hal_i2c *bus,
					  int32_t *ma);

/* Voltage before the switch. */
RIG_MUST_USE rig_status adm127x_read_vin(const struct adm127x_cfg *cfg,
					 const struct hal_i2c *bus,
					 int32_t *mv);

/* Current at which the part pulls its ALERT pin. */
RIG_MUST_USE rig_status adm127x_set_warn(const struct adm127x_cfg *cfg,
					 const struct hal_i2c *bus,
					 uint32_t ma);

#endif
