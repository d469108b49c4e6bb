#include "firmware/core/budget.h"

bool budget_fits(const RigConfig *cfg, const struct budget_claim *claims,
		 size_t n)
{
	uint64_t ma_5v = 0;
	uint64_t ma_12v = 0;

	for (size_t i = 0; i < n; i++) {
		ma_5v += claims[i].ma[RAIL_5V];
		ma_12v += claims[i].ma[RAIL_12V];
	}
	return ma_5v <= cfg->budget_5v_ma && ma_12v <= cfg->budget_12v_ma &&
	       ma_5v * 5 + ma_12v * 12 <= cfg->budget_mw;
}
