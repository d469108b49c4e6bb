/* port/posix/parts.h - register models of the parts on the I2C bus: ADM1272,
 * TMP105, 24C256. The posix port's bus, and the fake bus of the driver tests.
 *
 * They keep what a driver may get wrong: a page write wraps at the page, a
 * busy EEPROM does not acknowledge, VOUT is not measured until enabled, the
 * configuration does not change while the monitor runs. */
#ifndef PORT_POSIX_PARTS_H
#define PORT_POSIX_PARTS_H

#include "firmware/hal/i2c.h"

#define PARTS_EEPROM_BYTES 32768u
#define PARTS_EEPROM_PAGE  64u

struct parts_rail {
	bool present;
	uint8_t command; /* the last one written */
	uint8_t pmon_control;
	uint16_t pmon_config;
	uint16_t oc_warn;
	int32_t vout_mv;
	int32_t vin_mv;
	int32_t iout_ma;
	uint16_t shunt_uohm;
};

struct parts_thermometer {
	bool present;
	uint8_t pointer;
	uint8_t config;
	int32_t mdegc;
};

struct parts_eeprom {
	bool present;
	uint8_t *bytes; /* PARTS_EEPROM_BYTES, the owner's */
	uint16_t at;
	unsigned busy_polls; /* how often it refuses after a write */
	unsigned busy_left;
	/* The power goes after this many more bytes written; -1: never. What
	 * follows is lost and the part answers no more. */
	long cut_after;
	/* Called after each write, NULL: nobody. */
	void (*written)(void *arg);
	void *arg;
};

#define PARTS_RAIL_FIRST 0x10u
#define PARTS_RAILS      16u

struct parts {
	struct hal_i2c bus;
	struct parts_rail rail[PARTS_RAILS]; /* at 0x10 + n */
	uint8_t thermometer_address;
	struct parts_thermometer thermometer;
	uint8_t eeprom_address;
	struct parts_eeprom eeprom;
	/* The n-th transfer from now fails (RIG_HW); 0: none. */
	unsigned fail_in;
	unsigned transfers;
};

/* All present, rails at 0 mV and nominal input, 25 degrees.
 *   eeprom  PARTS_EEPROM_BYTES of the caller's memory */
void parts_init(struct parts *p, uint8_t *eeprom);

#endif
