#include "boards/virtual/backplane/app.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "host/util/log.h"

/* While rails move, and while they do not. */
#define FAST_MS 5
#define SLOW_MS 25
#define LATE_MS 50
/* All of a rail's rise. */
#define RISE_MS 2

static uint64_t now_us(void)
{
	return uv_hrtime() / 1000;
}

/* A machine that is too busy bends the curves that the firmware sees. */
static void check_lateness(struct bp_app *app, uint64_t now)
{
	uint64_t gap_ms = (now - app->tick_us) / 1000;

	if (app->tick_us && gap_ms > SLOW_MS + LATE_MS)
		log_warnx("late: no turn for %u ms", (unsigned int)gap_ms);
	app->tick_us = now;
}

static void on_tick(uv_timer_t *t)
{
	struct bp_app *app = t->data;
	uint64_t now = now_us();

	check_lateness(app, now);
	bp_model_advance(&app->model, now);
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		const struct bp_outputs *out = bp_model_outputs(&app->model, i);

		if (!app->cfg.serial[i])
			continue;
		bp_disk_tick(&app->disk[i], out->disk_power, now);
		bp_guest_tick(&app->guest, i, out->present, now);
	}
	app->cfg.rig->refresh(app->rig, &app->model);
	bp_ctl_tick(&app->ctl, now);
	uv_timer_start(&app->tick, on_tick,
		       bp_model_moving(&app->model) ? FAST_MS : SLOW_MS, 0);
}

/* A rail has by then risen. */
void bp_app_tick_soon(struct bp_app *app)
{
	uv_timer_start(&app->tick, on_tick, RISE_MS, 0);
}

static void on_gate(void *arg, unsigned int slot, unsigned int rail, bool on)
{
	struct bp_app *app = arg;

	log_debug("slot %u: %s gate %s", slot, rail == BP_5V ? "5 V" : "12 V",
		  on ? "on" : "off");
	bp_model_gate(&app->model, slot, rail, on, now_us());
	bp_app_tick_soon(app);
}

static void on_gates_off(void *arg)
{
	struct bp_app *app = arg;

	bp_model_gates_off(&app->model, now_us());
	bp_app_tick_soon(app);
}

static void on_disk_state(void *arg, unsigned int slot,
			  const struct bp_disk_state *state)
{
	struct bp_app *app = arg;
	const struct bp_disk_state *old = &app->model.slot[slot].disk;
	bool news = old->power != state->power || old->known != state->known;

	bp_model_disk(&app->model, slot, state);
	if (news)
		bp_app_tick_soon(app);
}

static void app_close(struct bp_app *app)
{
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		if (app->cfg.serial[i])
			bp_disk_close(&app->disk[i]);
	}
	bp_guest_close(&app->guest);
	bp_ctl_close(&app->ctl);
	app->cfg.rig->close(app->rig);
	uv_close((uv_handle_t *)&app->tick, NULL);
	for (unsigned int i = 0; i < 2; i++)
		uv_close((uv_handle_t *)&app->signal[i], NULL);
}

static void on_signal(uv_signal_t *s, int signum)
{
	log_info("ends on signal %d", signum);
	uv_stop(s->loop);
}

static void signals_open(struct bp_app *app)
{
	static const int signals[] = { SIGINT, SIGTERM };

	for (unsigned int i = 0; i < 2; i++) {
		uv_signal_init(&app->loop, &app->signal[i]);
		uv_signal_start(&app->signal[i], on_signal, signals[i]);
	}
}

static void disks_open(struct bp_app *app)
{
	bp_guest_open(&app->guest, &app->loop, app->cfg.run);
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		if (!app->cfg.serial[i])
			continue;
		bp_disk_open(&app->disk[i], &app->loop, app->cfg.run, i,
			     app->cfg.serial[i], on_disk_state, app);
		bp_guest_add(&app->guest, i, app->cfg.serial[i]);
	}
}

static int rig_open(struct bp_app *app)
{
	struct bp_rig_cfg cfg = {
		.run = app->cfg.run,
		.board = app->cfg.board,
		.events = { .gate = on_gate,
			    .gates_off = on_gates_off,
			    .arg = app },
	};

	app->rig = app->cfg.rig->open(&app->loop, &cfg);
	return app->rig ? 0 : -errno;
}

static unsigned int used_slots(const struct bp_app_cfg *cfg)
{
	unsigned int mask = 0;

	for (unsigned int i = 0; i < BP_SLOTS; i++)
		mask |= (cfg->serial[i] ? 1u : 0u) << i;
	return mask;
}

static int app_open(struct bp_app *app)
{
	int rc = rig_open(app);

	if (rc) {
		log_warnx("cannot watch the rig in %s: %s", app->cfg.run,
			  strerror(-rc));
		return rc;
	}
	rc = bp_ctl_open(&app->ctl, app, app->cfg.run);
	if (rc) {
		log_warnx("cannot listen in %s: %s", app->cfg.run,
			  uv_strerror(rc));
		app->cfg.rig->close(app->rig);
		return rc;
	}
	signals_open(app);
	disks_open(app);
	uv_timer_init(&app->loop, &app->tick);
	app->tick.data = app;
	bp_app_tick_soon(app);
	return 0;
}

int bp_app_run(struct bp_app *app, const struct bp_app_cfg *cfg)
{
	int rc;

	memset(app, 0, sizeof(*app));
	app->cfg = *cfg;
	uv_loop_init(&app->loop);
	bp_model_init(&app->model, used_slots(cfg), now_us());
	rc = app_open(app);
	if (!rc) {
		uv_run(&app->loop, UV_RUN_DEFAULT);
		app_close(app);
	}
	uv_run(&app->loop, UV_RUN_DEFAULT);
	uv_loop_close(&app->loop);
	free(app->rig);
	return rc;
}
