/* port/family.h - what holds for every board on one family of MCUs: its pins,
 * those that the port takes for itself, and how the MCU is emulated. Native
 * code only (tests, the virtual bench): no image contains it.
 * Each port/FAMILY/family.c defines one `port_FAMILY`. */
#ifndef PORT_FAMILY_H
#define PORT_FAMILY_H

#include "firmware/hal/types.h"

#define PORT_FAMILY_PORTS_MAX 8u

struct port_reserved {
	struct hal_pin pin;
	const char *what; /* "UART0 receive" */
};

/* A machine of qemu-system-arm with this MCU. Its GPIO ports are PL061s. */
struct port_machine {
	const char *name;      /* of -M */
	const char *gpio_type; /* QOM type of a GPIO port */
	uint32_t (*gpio_base)(unsigned port);
	uint32_t gpio_data; /* offset: reads all pins of a port */
	uint32_t gpio_dir;  /* offset: 1 = output */
};

struct port_family {
	const char *name; /* the folder */
	unsigned ports;   /* at most PORT_FAMILY_PORTS_MAX */
	/* Bit n: pin n of this port comes out of the case. */
	uint8_t pins[PORT_FAMILY_PORTS_MAX];
	const struct port_reserved *reserved;
	size_t reserved_count;
	const struct port_machine *machine; /* NULL: not emulated */
};

#endif
