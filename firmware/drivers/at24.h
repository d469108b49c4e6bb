/* drivers/at24.h - 24C256 serial EEPROM (Microchip/Atmel AT24C256C) as
 * storage: pages of 64 bytes, up to 5 ms a page, found to be ready by polling
 * its address. Task context. */
#ifndef DRIVERS_AT24_H
#define DRIVERS_AT24_H

#include "firmware/hal/i2c.h"
#include "firmware/hal/storage.h"

#define AT24_PAGE_BYTES 64u

/* One poll takes 25 us at 400 kHz: four times the data sheet's 5 ms. */
#define AT24_POLLS_MAX 800u

struct at24_cfg {
	uint8_t address;
	uint32_t size_bytes;
};

struct at24 {
	const struct at24_cfg *cfg;
	const struct hal_i2c *bus;
	struct hal_storage storage;
};

/* Fill in *a; a->storage is then ready for use and valid as long as *a. No
 * bus traffic. */
void at24_init(struct at24 *a, const struct at24_cfg *cfg,
	       const struct hal_i2c *bus);

#endif
