#include "firmware/app/configure.h"

#include <string.h>

#include "firmware/app/power.h"
#include "firmware/hal/watchdog.h"

#define SEEN_RIG (1u << 31)

void configure_init(struct app *app)
{
	uint32_t detail;
	rig_status rc;

	config_default(&app->config, &app->board->defaults, app->board->slots);
	rc = config_store_open(&app->store, &app->eeprom.storage, &app->config);
	/* Stored by a firmware with other ranges: not to be trusted. */
	if (rc != RIG_OK || config_check(&app->config, &detail) != RIG_OK)
		config_default(&app->config, &app->board->defaults,
			       app->board->slots);
	app->config_crc = config_image_crc(&app->config);
}

rig_status configure_begin(struct app *app, const ConfigBegin *begin)
{
	struct app_staging *st = &app->staging;

	if (begin->generation <= app->config.generation)
		return RIG_STALE;
	if (begin->slots > app->board->slots)
		return RIG_RANGE;
	st->config = app->config;
	st->config.generation = begin->generation;
	st->expected = begin->slots;
	st->seen = 0;
	st->open = true;
	return RIG_OK;
}

rig_status configure_rig(struct app *app, const RigConfig *rig)
{
	struct app_staging *st = &app->staging;

	if (!st->open)
		return RIG_STATE;
	if (st->seen & SEEN_RIG)
		return RIG_INVALID;
	st->seen |= SEEN_RIG;
	st->config.rig = *rig;
	return RIG_OK;
}

rig_status configure_slot(struct app *app, const SlotConfig *slot)
{
	struct app_staging *st = &app->staging;

	if (!st->open)
		return RIG_STATE;
	if (slot->slot >= app->board->slots)
		return RIG_RANGE;
	if (st->seen & 1u << slot->slot)
		return RIG_INVALID;
	st->seen |= 1u << slot->slot;
	st->config.slot[slot->slot] = *slot;
	return RIG_OK;
}

static uint32_t slots_seen(const struct app_staging *st)
{
	return (uint32_t)__builtin_popcount(st->seen & ~SEEN_RIG);
}

static bool changes(const struct app *app, unsigned slot)
{
	uint8_t now[CONFIG_RECORD_BYTES];
	uint8_t then[CONFIG_RECORD_BYTES];
	size_t len = config_encode(&app->config, slot + 1, now);

	config_encode(&app->staging.config, slot + 1, then);
	return memcmp(now, then, len) != 0;
}

/* Storing blocks the sampling, so nothing may have power; and a latched
 * fault is not to be argued away with new limits. */
static rig_status slots_permit(const struct app *app, uint32_t *detail)
{
	*detail = power_first_live(app);
	if (*detail != RIG_SLOTS_MAX)
		return RIG_BUSY;
	for (unsigned i = 0; i < app->board->slots; i++) {
		*detail = i;
		if (changes(app, i) && !slot_may_configure(&app->slot[i]))
			return RIG_STATE;
	}
	*detail = 0;
	return RIG_OK;
}

static rig_status staged_check(const struct app *app,
			       const ConfigCommit *commit, uint32_t *detail)
{
	const struct app_staging *st = &app->staging;

	if (!st->open || slots_seen(st) != st->expected)
		return RIG_STATE;
	if (commit->generation != st->config.generation)
		return RIG_STALE;
	if (commit->crc != config_image_crc(&st->config))
		return RIG_CRC;
	return config_check(&st->config, detail);
}

/* The monitors take the new limits with their next set-up. */
static void put_in_force(struct app *app, uint64_t now_us)
{
	struct event e = { .kind = EVENT_CONFIG,
			   .at_us = now_us,
			   .value = (int32_t)app->staging.config.generation };

	app->config = app->staging.config;
	app->config_crc = config_image_crc(&app->config);
	app->staging.open = false;
	for (unsigned i = 0; i < app->board->slots; i++)
		app->monitor.slot[i].ready = false;
	app_event(app, &e);
}

rig_status configure_commit(struct app *app, const ConfigCommit *commit,
			    uint32_t *detail, uint64_t now_us)
{
	rig_status rc = staged_check(app, commit, detail);

	if (rc == RIG_OK)
		rc = slots_permit(app, detail);
	if (rc != RIG_OK)
		return rc;
	hal_watchdog_feed(); /* the write may take a third of its time */
	rc = config_store_write(&app->store, &app->staging.config);
	if (rc != RIG_OK)
		return rc;
	put_in_force(app, now_us);
	return RIG_OK;
}
