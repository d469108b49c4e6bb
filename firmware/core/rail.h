/* core/rail.h - what is known of the two rails of a slot. */
#ifndef CORE_RAIL_H
#define CORE_RAIL_H

#include "firmware/hal/types.h"

#define RAIL_5V_MV  5000
#define RAIL_12V_MV 12000

/* One reading of both rails of a slot. Three times of what a rail may have
 * fits 16 bits: rail_narrow() holds the rest at 32.767 V and A. */
struct rail_sample {
	uint64_t at_us;
	int16_t mv[RIG_RAILS];
	int16_t ma[RIG_RAILS];
};

static inline int16_t rail_narrow(int32_t v)
{
	if (v > INT16_MAX)
		return INT16_MAX;
	return v < INT16_MIN ? INT16_MIN : (int16_t)v;
}

static inline int32_t rail_nominal_mv(unsigned rail)
{
	return rail == RAIL_5V ? RAIL_5V_MV : RAIL_12V_MV;
}

#endif
