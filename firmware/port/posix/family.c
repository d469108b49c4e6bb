/* Pins of a process: numbers, none of them taken. */
#include "firmware/port/family.h"

extern const struct port_family port_posix;
const struct port_family port_posix = {
	.name = "posix",
	.ports = 3,
	.pins = { 0xff, 0xff, 0xff },
};
