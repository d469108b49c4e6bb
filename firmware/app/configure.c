#include "firmware/app/configure.h"

#include <string.h>

#include "firmware/app/power.h"
#include "firmware/hal/watchdog.h"

#define SEEN_RIG (1u << 31)

/* Why a message of a configuration is refused. */
static const char *why(rig_status rc)
{
	switch (rc) {
	case RIG_INVALID:
		return "came twice";
	case RIG_RANGE:
		return "out of range";
	case RIG_BUSY:
		return "a slot has power";
	case RIG_STATE:
		return "out of turn, or of a slot in FAULT";
	case RIG_STALE:
		return "of an old generation";
	case RIG_CRC:
		return "checksum does not match";
	default:
		return "cannot be stored";
	}
}

/* detail: as in the Result. Returns rc. */
static rig_status say(struct app *app, const char *what, uint32_t detail,
		      rig_status rc)
{
	if (rc != RIG_OK)
		LOG(app, LOG_WARNING, "configuration refused: %s (%u) %s", what,
		    (unsigned)detail, why(rc));
	return rc;
}

/* What is stored, unless a firmware with other ranges has stored it; else the
 * board's defaults. */
static rig_status load(struct app *app, uint32_t *detail)
{
	rig_status rc;

	config_default(&app->config, &app->board->defaults, app->board->slots);
	rc = config_store_open(&app->store, &app->eeprom.storage, &app->config);
	if (rc == RIG_OK)
		rc = config_check(&app->config, detail);
	if (rc != RIG_OK)
		config_default(&app->config, &app->board->defaults,
			       app->board->slots);
	app->config_crc = config_image_crc(&app->config);
	return rc;
}

void configure_init(struct app *app)
{
	uint32_t detail = 0;
	rig_status rc = load(app, &detail);

	if (rc == RIG_OK)
		LOG(app, LOG_INFO, "configuration %u is in force",
		    (unsigned)app->config.generation);
	else if (rc == RIG_CRC)
		LOG(app, LOG_INFO,
		    "no configuration is stored: defaults are in force");
	else if (rc == RIG_RANGE)
		LOG(app, LOG_WARNING,
		    "field %u of the stored configuration is out of range: "
		    "defaults are in force",
		    (unsigned)detail);
	else
		LOG(app, LOG_ERROR,
		    "memory 0x%x does not answer: defaults are in force",
		    app->board->eeprom.address);
}

static bool has_power(const struct app *app)
{
	return power_first_live(app) != RIG_SLOTS_MAX;
}

static rig_status begin_stage(struct app *app, const ConfigBegin *begin)
{
	struct app_staging *st = &app->staging;
	uint32_t in_force = app->config.generation;
	rig_status rc;

	if (begin->generation <= in_force)
		return RIG_STALE;
	if (begin->slots > app->board->slots)
		return RIG_RANGE;
	if (has_power(app))
		return RIG_BUSY;
	hal_watchdog_feed(); /* writing may take a fifth of its time */
	app->config.generation = begin->generation;
	rc = config_store_stage(&app->store, &app->config);
	app->config.generation = in_force;
	st->generation = begin->generation;
	st->expected = begin->slots;
	st->seen = 0;
	st->open = rc == RIG_OK;
	return rc;
}

rig_status configure_begin(struct app *app, const ConfigBegin *begin)
{
	return say(app, "generation", begin->generation,
		   begin_stage(app, begin));
}

/* Guards that all messages of a staging share. */
static rig_status may_put(const struct app *app, uint32_t bit)
{
	if (!app->staging.open)
		return RIG_STATE;
	if (app->staging.seen & bit)
		return RIG_INVALID;
	return has_power(app) ? RIG_BUSY : RIG_OK;
}

static rig_status put(struct app *app, unsigned record, uint32_t bit,
		      const uint8_t *bytes)
{
	rig_status rc = config_store_put(&app->store, record, bytes);

	app->staging.seen |= bit;
	if (rc != RIG_OK)
		app->staging.open = false;
	return rc;
}

static rig_status put_rig(struct app *app, const RigConfig *rig)
{
	uint8_t bytes[CONFIG_RIG_BYTES];
	rig_status rc = may_put(app, SEEN_RIG);

	if (rc != RIG_OK)
		return rc;
	config_encode_rig(rig, bytes);
	return put(app, 0, SEEN_RIG, bytes);
}

rig_status configure_rig(struct app *app, const RigConfig *rig)
{
	return say(app, "limits of the rig", 0, put_rig(app, rig));
}

/* A latched fault is not to be argued away with new limits. */
static bool is_refused(const struct app *app, uint32_t slot,
		       const uint8_t *bytes)
{
	uint8_t in_force[CONFIG_SLOT_BYTES];

	config_encode_slot(&app->config.slot[slot], in_force);
	return !slot_may_configure(&app->slot[slot]) &&
	       memcmp(bytes, in_force, sizeof(in_force)) != 0;
}

static rig_status put_slot(struct app *app, const SlotConfig *slot)
{
	uint8_t bytes[CONFIG_SLOT_BYTES];
	rig_status rc;

	if (slot->slot >= app->board->slots)
		return RIG_RANGE;
	rc = may_put(app, 1u << slot->slot);
	if (rc != RIG_OK)
		return rc;
	config_encode_slot(slot, bytes);
	if (is_refused(app, slot->slot, bytes))
		return RIG_STATE;
	return put(app, slot->slot + 1, 1u << slot->slot, bytes);
}

rig_status configure_slot(struct app *app, const SlotConfig *slot)
{
	return say(app, "slot", slot->slot, put_slot(app, slot));
}

static uint32_t slots_seen(const struct app_staging *st)
{
	return (uint32_t)__builtin_popcount(st->seen & ~SEEN_RIG);
}

static rig_status may_commit(const struct app *app, const ConfigCommit *commit)
{
	const struct app_staging *st = &app->staging;

	if (!st->open || slots_seen(st) != st->expected)
		return RIG_STATE;
	if (commit->generation != st->generation)
		return RIG_STALE;
	return has_power(app) ? RIG_BUSY : RIG_OK;
}

/* There is no room for a second configuration: the staged one is read over
 * the one in force, which a failure brings back from the storage. No slot
 * looks at its limits meanwhile. */
static rig_status commit_staged(struct app *app, const ConfigCommit *commit,
				uint32_t *detail)
{
	rig_status rc = config_store_staged(&app->store, &app->config);
	uint32_t ignored;

	if (rc == RIG_OK && commit->crc != config_image_crc(&app->config))
		rc = RIG_CRC;
	if (rc == RIG_OK)
		rc = config_check(&app->config, detail);
	if (rc == RIG_OK)
		rc = config_store_commit(&app->store, &app->config);
	if (rc != RIG_OK && load(app, &ignored) != RIG_OK)
		LOG(app, LOG_INFO, "defaults are in force");
	return rc;
}

static rig_status put_in_force(struct app *app, const ConfigCommit *commit,
			       uint32_t *detail, uint64_t now_us)
{
	rig_status rc = may_commit(app, commit);

	if (rc != RIG_OK)
		return rc;
	hal_watchdog_feed();
	rc = commit_staged(app, commit, detail);
	if (rc != RIG_OK)
		return rc;
	app->config_crc = config_image_crc(&app->config);
	app->staging.open = false;
	/* The monitors take the new limits with their next set-up. */
	for (unsigned i = 0; i < app->board->slots; i++)
		app->monitor.slot[i].ready = false;
	app_report(app, EVENT_CONFIG, (int32_t)app->config.generation, now_us);
	return RIG_OK;
}

rig_status configure_commit(struct app *app, const ConfigCommit *commit,
			    uint32_t *detail, uint64_t now_us)
{
	rig_status rc = put_in_force(app, commit, detail, now_us);

	return say(app, "commit, field", *detail, rc);
}
