/* core/rail.h - what is known of the two rails of a slot. */
#ifndef CORE_RAIL_H
#define CORE_RAIL_H

#include "firmware/hal/types.h"

#define RAIL_5V_MV  5000
#define RAIL_12V_MV 12000

/* One reading of both rails of a slot. */
struct rail_sample {
	uint64_t at_us;
	int32_t mv[RIG_RAILS];
	int32_t ma[RIG_RAILS];
};

static inline int32_t rail_nominal_mv(unsigned rail)
{
	return rail == RAIL_5V ? RAIL_5V_MV : RAIL_12V_MV;
}

#endif
