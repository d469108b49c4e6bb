/* core/budget.h - may one more slot start? Pure. */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include "firmware/core/rail.h"

/* What a slot may draw from the supply in its present state. */
struct budget_claim {
	uint32_t ma[RIG_RAILS];
};

/* Sum of n claims stays within cfg's 12 V, 5 V and watt limits. */
bool budget_fits(const RigConfig *cfg, const struct budget_claim *claims,
		 size_t n);

#endif
