/* app/app.h - the rig as a whole: the one struct that all parts of app/ see.
 * The parts call each other through the functions declared in their own
 * headers; main.c runs the loop. */
#ifndef APP_APP_H
#define APP_APP_H

#include "firmware/app/board.h"
#include "firmware/core/config_store.h"
#include "firmware/core/events.h"
#include "firmware/core/logring.h"
#include "firmware/core/schedule.h"
#include "firmware/core/silence.h"
#include "firmware/core/slot.h"
#include "firmware/core/temperature.h"
#include "firmware/core/trace.h"
#include "firmware/hal/clock.h"
#include "proto/link/opcache.h"
#include "proto/link/session.h"

#define APP_WATCHDOG_MS 1000u
#define APP_WINDOW      4u
#define APP_PAYLOAD_MAX Result_size /* longest of Result and Event */
#define APP_TX_BYTES                                                           \
	(FRAME_WIRE_BYTES(APP_PAYLOAD_MAX) + FRAME_WIRE_BYTES(Telemetry_size))

/* Loops that must all have run before the watchdog is fed. */
enum app_checkin {
	CHECKIN_SLOTS = 1,
	CHECKIN_MONITOR = 2,
	CHECKIN_LINK = 4,
	CHECKIN_ALL = 7,
};

struct app_monitor_slot {
	uint64_t due_us;
	uint16_t turn;
	bool ready;  /* both parts are set up */
	bool silent; /* they do not answer, which the log says */
	uint8_t bad; /* address of the part that did not answer last */
};

struct app_monitor {
	struct app_monitor_slot slot[RIG_SLOTS_MAX];
	uint64_t temperature_due_us;
	uint64_t input_due_us;
	uint64_t shed_us;
	uint8_t input_turn;
	uint8_t low_inputs; /* readings in a row that were too low */
	uint8_t temperature_misses;
	bool thermometer_ready;
};

struct app_rail_window {
	int16_t mv_min;
	int16_t mv_max;
	int16_t ma_min;
	int16_t ma_max;
	int32_t mv_sum;
	int32_t ma_sum;
};

struct app_window {
	struct app_rail_window rail[RIG_RAILS];
	uint64_t energy_uj[RIG_RAILS];
	uint32_t start_us; /* low half */
	uint32_t last_us;  /* of the last sample, low half; 0: none */
	uint16_t samples;
};

struct app_telemetry {
	struct app_window slot[RIG_SLOTS_MAX];
	uint64_t due_us;    /* the next slot's window ends */
	uint32_t period_ms; /* 0: off */
	uint8_t turn;       /* slot that is next */
	uint32_t mask;
	uint32_t sequence;
	uint32_t dropped;
};

struct app_link {
	struct session session;
	struct session_packet packets[APP_WINDOW];
	uint8_t payloads[APP_WINDOW * APP_PAYLOAD_MAX];
	uint8_t tx[APP_TX_BYTES];
	struct opcache ops;
	uint32_t event_sent; /* number of the last one put in the window */
	uint32_t commands_executed;
	bool reset_wanted; /* once the result has left */
};

/* What is staged lies in the storage's spare slot. */
struct app_staging {
	uint32_t generation;
	uint32_t seen; /* bit n: slot n came; bit 31: the rig */
	uint32_t expected;
	bool open;
};

struct app {
	const struct board *board;
	const struct hal_i2c *bus;
	struct at24 eeprom;
	struct config_store store;
	struct config config; /* in force */
	uint32_t config_crc;
	struct app_staging staging;
	struct slot slot[RIG_SLOTS_MAX];
	struct trace trace[RIG_SLOTS_MAX];
	struct trace_tail trace_tail;
	struct events_ring *events;
	struct logring log;
	struct schedule schedule;
	struct silence silence;
	struct temperature temperature;
	struct app_monitor monitor;
	struct app_telemetry telemetry;
	struct app_link link;
	uint8_t restore_mask;
	uint8_t restore_saved;
	reset_cause reset;
	uint32_t boot_id;
	uint8_t checkins;
};

/* Bring everything up. The gates are off already.
 *   app  all zero */
void app_init(struct app *app, const struct board *board);

/* One turn of the main loop. Returns when the next one is due, in
 * microseconds of hal_clock_us(). */
uint64_t app_run(struct app *app);

/* Say why, to the engineer: LOG(app, LOG_WARNING, "part 0x%x is late", part).
 * logring_add() says what a format may have. A failure is logged once, where
 * it is handled. Task context. */
#define LOG(app, level, ...)                                                   \
	logring_add(&(app)->log, level, hal_clock_us(), __VA_ARGS__)

/* Append an event that no slot has made. */
uint32_t app_event(struct app *app, const struct event *e);

/* The same, of one that is of no slot and only has a value. */
void app_report(struct app *app, event_kind kind, int32_t value,
		uint64_t now_us);

static inline uint32_t app_slots_mask(const struct app *app)
{
	return (1u << app->board->slots) - 1u;
}

#endif
