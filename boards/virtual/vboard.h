/* boards/virtual/vboard.h - a board as the virtual bench sees it: how the
 * microcontroller is emulated, and what is wired to which of its pins and bus
 * addresses. Taken from the board's own tables, so nothing is said twice. */
#ifndef BOARDS_VIRTUAL_VBOARD_H
#define BOARDS_VIRTUAL_VBOARD_H

#include <stdint.h>

#include "host/util/err.h"

#define VBOARD_SLOTS 8
#define VBOARD_RAILS 2 /* 5 V, 12 V */
#define VBOARD_PORTS 8

struct vboard_pin {
	unsigned int port; /* A is 0 */
	unsigned int pin;  /* 0..7 */
};

struct vboard_slot {
	struct vboard_pin gate[VBOARD_RAILS];
	struct vboard_pin activity;
	uint8_t monitor[VBOARD_RAILS]; /* addresses of ADM1272 */
};

struct vboard {
	const char *name;
	/* QEMU's -M; NULL: not emulated, and nothing is known of the ports. */
	const char *machine;
	const char *gpio_type; /* QOM type of a port, a PL061 */
	unsigned int ports;
	uint32_t gpio_data[VBOARD_PORTS]; /* address: all pins of a port */
	uint32_t gpio_dir[VBOARD_PORTS];  /* address: 1 = output */
	unsigned int slots;
	struct vboard_slot slot[VBOARD_SLOTS];
	uint8_t thermometer; /* address of a TMP105 */
	uint8_t eeprom;      /* address of a 24C256 */
	uint32_t eeprom_bytes;
};

/* The board of boards/NAME.
 *   b  out: untouched on failure; its texts are constant
 * 0; -ENOENT with err: there is no such board. */
int vboard_find(struct vboard *b, const char *name, struct err *err);

#endif
