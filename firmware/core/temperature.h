/* core/temperature.h - the board's temperature: warn, then off. Pure. */
#ifndef CORE_TEMPERATURE_H
#define CORE_TEMPERATURE_H

#include "firmware/hal/types.h"

#define TEMPERATURE_WARN_MDEGC       70000
#define TEMPERATURE_OFF_MDEGC        85000
#define TEMPERATURE_HYSTERESIS_MDEGC 3000

enum temperature_level {
	TEMPERATURE_OK,
	TEMPERATURE_WARM,
	TEMPERATURE_HOT, /* everything off */
};

struct temperature {
	enum temperature_level level;
	int32_t mdegc; /* last reading */
	bool known;
};

/* A reading. Returns true if the level changed. A level is left downwards
 * only TEMPERATURE_HYSTERESIS_MDEGC below where it begins. */
bool temperature_feed(struct temperature *t, int32_t mdegc);

#endif
