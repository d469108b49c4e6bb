/* What README.md says, as tables. */
#include "firmware/app/board.h"
#include "firmware/core/limits.h"

enum {
	PORT_A,
	PORT_B,
	PORT_C,
	PORT_D,
	PORT_E,
	PORT_F,
	PORT_G
};

#define SLOTS 8

/* 5 V, 12 V */
static const struct hal_pin gates[SLOTS * RIG_RAILS] = {
	{ PORT_D, 0 }, { PORT_C, 4 }, { PORT_D, 1 }, { PORT_C, 5 },
	{ PORT_D, 2 }, { PORT_C, 6 }, { PORT_D, 3 }, { PORT_C, 7 },
	{ PORT_D, 4 }, { PORT_B, 0 }, { PORT_D, 5 }, { PORT_B, 1 },
	{ PORT_D, 6 }, { PORT_B, 4 }, { PORT_D, 7 }, { PORT_B, 5 },
};

static const struct hal_pin activity[SLOTS] = {
	{ PORT_E, 0 }, { PORT_E, 1 }, { PORT_E, 2 }, { PORT_E, 3 },
	{ PORT_A, 6 }, { PORT_A, 7 }, { PORT_G, 0 }, { PORT_G, 1 },
};

#define SHUNT_UOHM 300

/* The 100 V range is the part's own default, and what QEMU's model encodes. */
#define SLOT(n)                                                                \
	{                                                                      \
		{                                                              \
			{ .address = 0x10 + 2 * (n),                           \
			  .shunt_uohm = SHUNT_UOHM },                          \
				{ .address = 0x11 + 2 * (n),                   \
				  .shunt_uohm = SHUNT_UOHM },                  \
		}                                                              \
	}

static const struct board_slot slots[SLOTS] = {
	SLOT(0), SLOT(1), SLOT(2), SLOT(3), SLOT(4), SLOT(5), SLOT(6), SLOT(7),
};

const struct board board = {
	.name = "lm3s6965evb",
	.revision = 1,
	.slots = SLOTS,
	.baud = 115200,
	.gates = gates,
	.activity = activity,
	.slot = slots,
	.thermometer = 0x48,
	.eeprom = { .address = 0x50, .size_bytes = 32768 },
	.defaults = {
		/* A 12 V, 14 A and 5 V, 10 A supply. */
		.rig = { .budget_12v_ma = 14000,
			 .budget_5v_ma = 10000,
			 .budget_mw = 200000,
			 LIMITS_HOST },
		.slot = { LIMITS_SLOT },
	},
};
