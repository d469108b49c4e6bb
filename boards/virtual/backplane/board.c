#include "boards/virtual/backplane/rig.h"

#include <stddef.h>
#include <string.h>

enum {
	PORT_A,
	PORT_B,
	PORT_C,
	PORT_D,
	PORT_E,
	PORT_F,
	PORT_G
};

static const uint32_t lm3s_gpio_base[] = {
	0x40004000, 0x40005000, 0x40006000, 0x40007000,
	0x40024000, 0x40025000, 0x40026000,
};

/* boards/lm3s6965evb/README.md has the wiring. */
static const struct bp_board boards[] = {
	{
		.name = "lm3s6965evb",
		.gpio_type = "pl061_luminary",
		.gpio_base = lm3s_gpio_base,
		.gpio_ports = 7,
		.gpio_data = 0x3fc,
		.gpio_dir = 0x400,
		.gate = {
			{ { PORT_D, 0 }, { PORT_C, 4 } },
			{ { PORT_D, 1 }, { PORT_C, 5 } },
			{ { PORT_D, 2 }, { PORT_C, 6 } },
			{ { PORT_D, 3 }, { PORT_C, 7 } },
			{ { PORT_D, 4 }, { PORT_B, 0 } },
			{ { PORT_D, 5 }, { PORT_B, 1 } },
			{ { PORT_D, 6 }, { PORT_B, 4 } },
			{ { PORT_D, 7 }, { PORT_B, 5 } },
		},
		.activity = {
			{ PORT_E, 0 }, { PORT_E, 1 }, { PORT_E, 2 },
			{ PORT_E, 3 }, { PORT_A, 6 }, { PORT_A, 7 },
			{ PORT_G, 0 }, { PORT_G, 1 },
		},
	},
};

const struct bp_board *bp_board_find(const char *name)
{
	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
		if (!strcmp(boards[i].name, name))
			return &boards[i];
	}
	return NULL;
}
