#include "firmware/app/app.h"

#include "firmware/app/configure.h"
#include "firmware/app/link.h"
#include "firmware/app/monitor.h"
#include "firmware/app/power.h"
#include "firmware/app/retain.h"
#include "firmware/app/telemetry.h"
#include "firmware/hal/activity.h"
#include "firmware/hal/reset.h"
#include "firmware/hal/uart.h"
#include "firmware/hal/watchdog.h"

uint32_t app_event(struct app *app, const struct event *e)
{
	return events_add(app->events, e);
}

static void say_boot(struct app *app)
{
	static const char *const words[] = {
		[RESET_UNKNOWN] = "unknown",   [RESET_POWER] = "power on",
		[RESET_EXTERNAL] = "external", [RESET_BROWNOUT] = "brown-out",
		[RESET_WATCHDOG] = "watchdog", [RESET_SOFTWARE] = "asked for",
		[RESET_ASSERT] = "crash",
	};
	bool bad = app->reset == RESET_WATCHDOG || app->reset == RESET_ASSERT;

	LOG(app, bad ? LOG_WARNING : LOG_INFO,
	    "boot %u of firmware " BAY_VERSION ", reset: %s",
	    (unsigned)app->boot_id, words[app->reset]);
}

void app_report(struct app *app, event_kind kind, int32_t value,
		uint64_t now_us)
{
	struct event e = { .kind = kind, .at_us = now_us, .value = value };

	app_event(app, &e);
}

void app_init(struct app *app, const struct board *b)
{
	app->board = b;
	app->reset = hal_reset_cause();
	logring_init(&app->log);
	hal_watchdog_start(APP_WATCHDOG_MS);
	hal_uart_init(b->baud);
	hal_activity_init(b->activity, b->slots);
	app->bus = hal_i2c_init();
	at24_init(&app->eeprom, &b->eeprom, app->bus);
	configure_init(app);
	retain_init(app);
	app->events = hal_retained(sizeof(*app->events));
	say_boot(app);
	if (!events_open(app->events, app->boot_id) &&
	    app->reset != RESET_POWER)
		LOG(app, LOG_WARNING, "the events of before are lost");
	app_report(app, EVENT_BOOT, (int32_t)app->reset, hal_clock_us());
	power_init(app, hal_clock_us());
	monitor_init(app, hal_clock_us());
	link_init(app);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t app_run(struct app *app)
{
	uint64_t now_us;

	link_run(app, hal_clock_us());
	monitor_run(app);
	power_run(app, hal_clock_us());
	telemetry_run(app, hal_clock_us());
	if (app->checkins == CHECKIN_ALL) {
		app->checkins = 0;
		hal_watchdog_feed();
	}
	now_us = hal_clock_us();
	return sooner(
		sooner(link_next_us(app, now_us), monitor_next_us(app)),
		sooner(power_next_us(app, now_us), telemetry_next_us(app)));
}
