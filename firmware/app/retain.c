#include "firmware/app/retain.h"

#include "firmware/app/power.h"
#include "proto/link/wire.h"

/* Two places for each word, written in turn, so that a cut leaves one. */
#define BOOT_AT      0x2000u
#define RESTORE_AT   0x2080u
#define PLACE_BYTES  0x40u
#define RECORD_BYTES 12u

/* sequence, value, and the inverse of their sum */
struct word {
	uint32_t sequence;
	uint32_t value;
};

static bool place_read(const struct hal_storage *st, uint32_t at,
		       struct word *w)
{
	uint8_t buf[RECORD_BYTES];

	if (hal_storage_read(st, at, buf, sizeof(buf)) != RIG_OK)
		return false;
	w->sequence = wire_get32(buf);
	w->value = wire_get32(buf + 4);
	return wire_get32(buf + 8) == ~(w->sequence + w->value);
}

/* The newer of the two places. */
static struct word word_read(const struct hal_storage *st, uint32_t at)
{
	struct word newest = { 0, 0 };

	for (unsigned i = 0; i < 2; i++) {
		struct word w;

		if (place_read(st, at + i * PLACE_BYTES, &w) &&
		    w.sequence > newest.sequence)
			newest = w;
	}
	return newest;
}

static rig_status word_write(const struct hal_storage *st, uint32_t at,
			     uint32_t value)
{
	uint32_t sequence = word_read(st, at).sequence + 1;
	uint8_t buf[RECORD_BYTES];

	wire_put32(buf, sequence);
	wire_put32(buf + 4, value);
	wire_put32(buf + 8, ~(sequence + value));
	return hal_storage_write(st, at + (sequence & 1u) * PLACE_BYTES, buf,
				 sizeof(buf));
}

void retain_init(struct app *app)
{
	const struct hal_storage *st = &app->eeprom.storage;

	app->boot_id = word_read(st, BOOT_AT).value + 1;
	if (word_write(st, BOOT_AT, app->boot_id) != RIG_OK)
		app->boot_id = 1;
	app->restore_saved = (uint8_t)word_read(st, RESTORE_AT).value;
	/* After a watchdog, a crash or an update nothing comes back. */
	if (app->reset != RESET_POWER && app->reset != RESET_BROWNOUT)
		return;
	for (unsigned i = 0; i < app->board->slots; i++) {
		if (app->config.slot[i].restore)
			app->restore_mask |= (uint8_t)(1u << i);
	}
	app->restore_mask &= app->restore_saved;
}

static uint8_t wanted_mask(const struct app *app)
{
	uint8_t mask = 0;

	for (unsigned i = 0; i < app->board->slots; i++) {
		if (app->config.slot[i].restore && app->slot[i].wanted_on)
			mask |= (uint8_t)(1u << i);
	}
	return mask;
}

/* A write takes 5 ms, in which nothing is sampled. */
static bool is_moving(const struct app *app)
{
	for (unsigned i = 0; i < app->board->slots; i++) {
		slot_state s = app->slot[i].state;

		if (s != SLOT_ON && s != SLOT_OFF && s != SLOT_FAULT)
			return true;
	}
	return false;
}

static void put_on_again(struct app *app, uint64_t now_us)
{
	for (unsigned i = 0; i < app->board->slots; i++) {
		uint32_t detail;

		if (!(app->restore_mask & 1u << i) ||
		    app->slot[i].state != SLOT_OFF)
			continue;
		app->restore_mask &= (uint8_t) ~(1u << i);
		/* A fault since then has made its own event. */
		if (power_set(app, 1u << i, true, 0, now_us, &detail) != RIG_OK)
			continue;
	}
}

void retain_run(struct app *app, uint64_t now_us)
{
	uint8_t wanted;

	if (app->restore_mask) {
		put_on_again(app, now_us);
		return;
	}
	wanted = wanted_mask(app);
	if (wanted == app->restore_saved || is_moving(app) ||
	    app->monitor.low_inputs)
		return;
	/* Not tried again before the next change: it wears the part. */
	app->restore_saved = wanted;
	if (word_write(&app->eeprom.storage, RESTORE_AT, wanted) != RIG_OK)
		LOG(app, LOG_ERROR,
		    "which slots are on could not be stored in 0x%x",
		    app->board->eeprom.address);
}
