/* The LM3S6965 (data sheet DS-LM3S6965-18, 42 GPIOs). */
#include "firmware/port/family.h"
#include "firmware/port/lm3s/regs.h"

/* uart.c and i2c.c take the first ones; the probe needs JTAG. */
static const struct port_reserved reserved[] = {
	{ { 0, 0 }, "UART0 receive" }, { { 0, 1 }, "UART0 transmit" },
	{ { 1, 2 }, "I2C0 clock" },    { { 1, 3 }, "I2C0 data" },
	{ { 1, 7 }, "JTAG TRST" },     { { 2, 0 }, "JTAG TCK" },
	{ { 2, 1 }, "JTAG TMS" },      { { 2, 2 }, "JTAG TDI" },
	{ { 2, 3 }, "JTAG TDO" },
};

static const struct port_machine machine = {
	.name = "lm3s6965evb",
	.gpio_type = "pl061_luminary",
	.gpio_base = lm3s_gpio_base,
	.gpio_data = 0xff << 2,
	.gpio_dir = 0x400,
};

extern const struct port_family port_lm3s;
const struct port_family port_lm3s = {
	.name = "lm3s",
	.ports = LM3S_PORTS,
	.pins = { 0xff, 0xff, 0xff, 0xff, 0x0f, 0x0f, 0x03 },
	.reserved = reserved,
	.reserved_count = sizeof(reserved) / sizeof(reserved[0]),
	.machine = &machine,
};
