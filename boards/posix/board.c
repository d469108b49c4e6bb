/* The firmware as a process: pins are numbered as slots and rails are, parts
 * sit at the same addresses as on lm3s6965evb. */
#include "firmware/app/board.h"
#include "firmware/core/limits.h"

#define SLOTS 8

#define GATE(n)                                                                \
	{                                                                      \
		(n) / 8, (n) % 8                                               \
	}

static const struct hal_pin gates[SLOTS * RIG_RAILS] = {
	GATE(0),  GATE(1),  GATE(2),  GATE(3),  GATE(4),  GATE(5),
	GATE(6),  GATE(7),  GATE(8),  GATE(9),  GATE(10), GATE(11),
	GATE(12), GATE(13), GATE(14), GATE(15),
};

static const struct hal_pin activity[SLOTS] = {
	{ 2, 0 }, { 2, 1 }, { 2, 2 }, { 2, 3 },
	{ 2, 4 }, { 2, 5 }, { 2, 6 }, { 2, 7 },
};

#define SLOT(n)                                                                \
	{                                                                      \
		{                                                              \
			{ .address = 0x10 + 2 * (n), .shunt_uohm = 300 },      \
				{ .address = 0x11 + 2 * (n),                   \
				  .shunt_uohm = 300 },                         \
		}                                                              \
	}

static const struct board_slot slots[SLOTS] = {
	SLOT(0), SLOT(1), SLOT(2), SLOT(3), SLOT(4), SLOT(5), SLOT(6), SLOT(7),
};

const struct board board = {
	.name = "posix",
	.revision = 1,
	.slots = SLOTS,
	.baud = 115200,
	.gates = gates,
	.activity = activity,
	.slot = slots,
	.thermometer = 0x48,
	.eeprom = { .address = 0x50, .size_bytes = 32768 },
	.defaults = {
		.rig = { .budget_12v_ma = 14000,
			 .budget_5v_ma = 10000,
			 .budget_mw = 200000,
			 LIMITS_HOST },
		.slot = { LIMITS_SLOT },
	},
};
