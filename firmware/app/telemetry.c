#include "firmware/app/telemetry.h"

#include <string.h>

#include <pb_encode.h>

#include "firmware/hal/activity.h"

/* A gap longer than this is not integrated: nothing is known of it. */
#define GAP_MAX_US 1000000u

static void window_start(struct app_window *w, uint64_t now_us)
{
	memset(w->rail, 0, sizeof(w->rail));
	w->samples = 0;
	w->start_us = (uint32_t)now_us;
}

static void widen(int16_t *min, int16_t *max, bool first, int16_t v)
{
	if (first || v < *min)
		*min = v;
	if (first || v > *max)
		*max = v;
}

static void rail_feed(struct app_rail_window *r, bool first, int16_t mv,
		      int16_t ma)
{
	widen(&r->mv_min, &r->mv_max, first, mv);
	widen(&r->ma_min, &r->ma_max, first, ma);
	r->mv_sum += mv;
	r->ma_sum += ma;
}

static void energy_feed(struct app_window *w, bool powered,
			const struct rail_sample *s)
{
	uint32_t step_us = w->last_us ? (uint32_t)s->at_us - w->last_us : 0;

	w->last_us = (uint32_t)s->at_us;
	if (!powered || step_us > GAP_MAX_US)
		return;
	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		/* mV mA = uW */
		int64_t uw = (int64_t)s->mv[rail] * s->ma[rail];

		if (uw > 0)
			w->energy_uj[rail] += (uint64_t)uw * step_us / 1000000u;
	}
}

void telemetry_feed(struct app *app, unsigned slot, const struct rail_sample *s)
{
	struct app_window *w = &app->telemetry.slot[slot];

	if (app->slot[slot].state == SLOT_PRECHECK)
		memset(w->energy_uj, 0, sizeof(w->energy_uj));
	energy_feed(w, slot_is_powered(&app->slot[slot]), s);
	if (w->samples == UINT16_MAX)
		return;
	for (unsigned rail = 0; rail < RIG_RAILS; rail++)
		rail_feed(&w->rail[rail], w->samples == 0, s->mv[rail],
			  s->ma[rail]);
	w->samples++;
}

/* The slots take turns, so that their messages do not fill the transmitter
 * all at once. */
static uint64_t turn_us(const struct app *app)
{
	return app->telemetry.period_ms * 1000ull / app->board->slots;
}

void telemetry_set(struct app *app, uint32_t period_ms, uint32_t mask,
		   uint64_t now_us)
{
	app->telemetry.period_ms = period_ms;
	app->telemetry.mask = mask;
	app->telemetry.turn = 0;
	app->telemetry.due_us = now_us + period_ms * 1000ull;
	for (unsigned i = 0; i < app->board->slots; i++)
		window_start(&app->telemetry.slot[i],
			     now_us + i * turn_us(app));
}

static void fill_rail(RailWindow *out, const struct app_window *w,
		      unsigned rail)
{
	const struct app_rail_window *r = &w->rail[rail];

	out->mv_min = r->mv_min;
	out->mv_max = r->mv_max;
	out->ma_min = r->ma_min;
	out->ma_max = r->ma_max;
	out->energy_uj = w->energy_uj[rail];
	if (!w->samples)
		return;
	out->mv_mean = r->mv_sum / w->samples;
	out->ma_mean = r->ma_sum / w->samples;
}

static void fill(Telemetry *t, struct app *app, unsigned slot, uint64_t now_us)
{
	const struct app_window *w = &app->telemetry.slot[slot];

	t->sequence = ++app->telemetry.sequence;
	t->dropped = app->telemetry.dropped;
	t->length_us = (uint32_t)now_us - w->start_us;
	t->start_us = now_us - t->length_us;
	t->slot = slot;
	t->state = app->slot[slot].state;
	t->has_v5 = true;
	t->has_v12 = true;
	fill_rail(&t->v5, w, RAIL_5V);
	fill_rail(&t->v12, w, RAIL_12V);
	t->board_mdegc = app->temperature.mdegc;
	t->activity_edges = hal_activity_edges(slot);
	t->samples = w->samples;
}

static void send_window(struct app *app, unsigned slot, uint64_t now_us)
{
	Telemetry t = Telemetry_init_zero;
	uint8_t buf[Telemetry_size];
	pb_ostream_t out = pb_ostream_from_buffer(buf, sizeof(buf));

	fill(&t, app, slot, now_us);
	if (!pb_encode(&out, Telemetry_fields, &t) ||
	    session_send_unreliable(&app->link.session, CHANNEL_TELEMETRY, buf,
				    out.bytes_written, now_us) != SESSION_OK)
		app->telemetry.dropped++;
}

uint64_t telemetry_next_us(const struct app *app)
{
	const struct app_telemetry *t = &app->telemetry;

	return t->period_ms ? t->due_us : UINT64_MAX;
}

void telemetry_run(struct app *app, uint64_t now_us)
{
	struct app_telemetry *t = &app->telemetry;

	if (now_us < telemetry_next_us(app))
		return;
	if (t->mask & 1u << t->turn)
		send_window(app, t->turn, now_us);
	window_start(&t->slot[t->turn], now_us);
	t->turn = (uint8_t)((t->turn + 1u) % app->board->slots);
	t->due_us += turn_us(app);
	/* Never a burst to catch up. */
	if (t->due_us < now_us)
		t->due_us = now_us;
}
