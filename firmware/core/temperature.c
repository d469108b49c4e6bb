#include "firmware/core/temperature.h"

static enum temperature_level level_at(int32_t mdegc)
{
	if (mdegc > TEMPERATURE_OFF_MDEGC)
		return TEMPERATURE_HOT;
	if (mdegc > TEMPERATURE_WARN_MDEGC)
		return TEMPERATURE_WARM;
	return TEMPERATURE_OK;
}

bool temperature_feed(struct temperature *t, int32_t mdegc)
{
	enum temperature_level before = t->level;
	enum temperature_level up = level_at(mdegc);
	enum temperature_level down =
		level_at(mdegc + TEMPERATURE_HYSTERESIS_MDEGC);

	t->mdegc = mdegc;
	t->known = true;
	if (up > before)
		t->level = up;
	else if (down < before)
		t->level = down;
	return t->level != before;
}
