/* app/board.h - what a board is: pins, parts and defaults, all of it data.
 * Each boards/NAME/board.c defines one `board`. */
#ifndef APP_BOARD_H
#define APP_BOARD_H

#include "firmware/core/config.h"
#include "firmware/drivers/adm127x.h"
#include "firmware/drivers/at24.h"

struct board_slot {
	struct adm127x_cfg monitor[RIG_RAILS];
};

struct board {
	const char *name; /* at most 31 bytes */
	uint16_t revision;
	uint8_t slots; /* 1..RIG_SLOTS_MAX */
	uint32_t baud;
	const struct hal_pin *gates;    /* [slot * RIG_RAILS + rail] */
	const struct hal_pin *activity; /* [slot] */
	const struct board_slot *slot;  /* [slot] */
	uint8_t thermometer;            /* TMP105's address */
	struct at24_cfg eeprom;
	struct config_defaults defaults;
};

extern const struct board board;

static inline struct hal_pin board_gate(const struct board *b, unsigned slot,
					unsigned rail)
{
	return b->gates[slot * RIG_RAILS + rail];
}

#endif
