#include "firmware/app/monitor.h"

#include "firmware/app/power.h"
#include "firmware/app/telemetry.h"
#include "firmware/drivers/tmp105.h"
#include "firmware/hal/clock.h"

/* From a monitor's set-up to its first conversion, generously. */
#define SETTLE_US 1000u

#define TEMPERATURE_US    500000u
#define TEMPERATURE_TRY   6u /* misses before it counts as hot: 3 s */
#define INPUT_US          10000u
#define INPUT_LOW_PERCENT 90
#define INPUT_LOW_COUNT   2u
#define SHED_US           100000u

/* How a state is sampled: every period, voltages and currents each in every
 * n-th turn. Two samples must fit trip_ms (5 ms) in what can trip; the rest
 * is as slow as it may be, for an emulated bus costs host time. */
struct plan {
	uint32_t period_us;
	uint8_t volts_every;
	uint8_t amperes_every;
};

static const struct plan plans[] = {
	[SLOT_UNKNOWN] = { 50000, 1, 1 }, [SLOT_OFF] = { 200000, 1, 2 },
	[SLOT_QUEUED] = { 100000, 1, 2 }, [SLOT_PRECHECK] = { 2000, 1, 1 },
	[SLOT_RAMP5] = { 2000, 1, 1 },    [SLOT_RAMP12] = { 2000, 1, 1 },
	[SLOT_SPINUP] = { 2500, 4, 1 },   [SLOT_ON] = { 2500, 8, 1 },
	[SLOT_FALLING] = { 2000, 1, 4 },  [SLOT_DISCHARGING] = { 10000, 1, 4 },
	[SLOT_FAULT] = { 100000, 1, 1 },
};

static const struct plan after_trip = { 2000, 1, 1 };

static const struct plan *plan_of(const struct app *app, unsigned slot)
{
	const struct trace_tail *tail = &app->trace_tail;

	if (app->slot[slot].state == SLOT_FAULT && tail->slot == slot &&
	    tail->count < TRACE_AFTER)
		return &after_trip;
	return &plans[app->slot[slot].state];
}

void monitor_init(struct app *app, uint64_t now_us)
{
	for (unsigned i = 0; i < app->board->slots; i++)
		app->monitor.slot[i].due_us = now_us;
	app->monitor.temperature_due_us = now_us;
	app->monitor.input_due_us = now_us + INPUT_US;
}

/* ---- rails ---- */

static bool set_up(struct app *app, unsigned slot)
{
	const struct board_slot *parts = &app->board->slot[slot];
	const SlotConfig *limits = &app->config.slot[slot];

	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		const struct adm127x_cfg *part = &parts->monitor[rail];
		uint32_t ma = rail == RAIL_5V ? limits->trip_5v_ma
					      : limits->trip_12v_ma;

		if (adm127x_init(part, app->bus) != RIG_OK ||
		    adm127x_set_warn(part, app->bus, ma) != RIG_OK) {
			app->monitor.slot[slot].bad = part->address;
			return false;
		}
	}
	return true;
}

/* What the plan skips in this turn stays as it is in *sample. */
static rig_status read_rails(struct app *app, unsigned slot,
			     const struct plan *plan,
			     struct rail_sample *sample)
{
	struct app_monitor_slot *m = &app->monitor.slot[slot];
	const struct adm127x_cfg *part = app->board->slot[slot].monitor;
	rig_status rc = RIG_OK;

	for (unsigned rail = 0; rail < RIG_RAILS && rc == RIG_OK; rail++) {
		int32_t ma = sample->ma[rail];
		int32_t mv = sample->mv[rail];

		if (m->turn % plan->amperes_every == 0)
			rc = adm127x_read_iout(&part[rail], app->bus, &ma);
		if (rc == RIG_OK && m->turn % plan->volts_every == 0)
			rc = adm127x_read_vout(&part[rail], app->bus, &mv);
		if (rc != RIG_OK)
			m->bad = part[rail].address;
		sample->ma[rail] = rail_narrow(ma);
		sample->mv[rail] = rail_narrow(mv);
	}
	m->turn++;
	return rc;
}

/* One line when the slot has been missed as often as counts, one when it is
 * back: a bus that flutters must not fill the log. */
static void missed(struct app *app, unsigned slot, uint64_t now_us)
{
	struct app_monitor_slot *m = &app->monitor.slot[slot];

	slot_missed(&app->slot[slot], now_us);
	if (m->silent || app->slot[slot].misses < SLOT_MISSES_MAX)
		return;
	m->silent = true;
	LOG(app, LOG_ERROR, "slot %u: monitor 0x%x does not answer", slot,
	    m->bad);
}

static void answered(struct app *app, unsigned slot)
{
	struct app_monitor_slot *m = &app->monitor.slot[slot];

	if (m->silent)
		LOG(app, LOG_INFO, "slot %u: monitor 0x%x answers again", slot,
		    m->bad);
	m->silent = false;
}

/* What a part holds before its first conversion was measured by nobody (an
 * emulated one has 12 V and 25 A then), so no reading in this turn. After a
 * reset nothing is urgent; in what has power, two samples must fit trip_ms. */
static void prepare_slot(struct app *app, unsigned slot)
{
	struct app_monitor_slot *m = &app->monitor.slot[slot];
	bool known = app->slot[slot].state != SLOT_UNKNOWN;
	uint64_t now_us;

	m->ready = set_up(app, slot);
	now_us = hal_clock_us();
	m->due_us =
		now_us +
		(m->ready && known ? SETTLE_US : plan_of(app, slot)->period_us);
	if (!m->ready)
		missed(app, slot, now_us);
}

static void sample_slot(struct app *app, unsigned slot)
{
	struct app_monitor_slot *m = &app->monitor.slot[slot];
	const struct plan *plan = plan_of(app, slot);
	struct rail_sample sample = app->slot[slot].last;
	rig_status rc = read_rails(app, slot, plan, &sample);

	sample.at_us = hal_clock_us();
	m->due_us = sample.at_us + plan->period_us;
	if (rc != RIG_OK) {
		m->ready = false; /* it may have lost its configuration */
		missed(app, slot, sample.at_us);
		return;
	}
	answered(app, slot);
	trace_feed(&app->trace[slot], &app->trace_tail, slot, &sample);
	telemetry_feed(app, slot, &sample);
	slot_feed(&app->slot[slot], &sample);
}

/* ---- input ---- */

static struct slot *newest_powered(struct app *app)
{
	struct slot *newest = NULL;

	for (unsigned i = 0; i < app->board->slots; i++) {
		struct slot *s = &app->slot[i];

		if (slot_is_powered(s) &&
		    (!newest || s->order_us > newest->order_us))
			newest = s;
	}
	return newest;
}

static void shed_newest(struct app *app, uint64_t now_us)
{
	struct slot *s = newest_powered(app);
	struct event e = { .kind = EVENT_SHED,
			   .at_us = now_us,
			   .fault = FAULT_INPUT_SAG };

	if (!s || now_us - app->monitor.shed_us < SHED_US)
		return;
	app->monitor.shed_us = now_us;
	e.slot = s->cfg.index;
	e.state = s->state;
	e.vi = s->last;
	app_event(app, &e);
	LOG(app, LOG_WARNING, "the input is low: slot %u is shed", e.slot);
	/* Off is never refused. */
	if (slot_set(s, false, 0, now_us) != RIG_OK)
		slot_trip(s, FAULT_INPUT_SAG, now_us);
}

static void judge_input(struct app *app, unsigned rail, int32_t mv,
			uint64_t now_us)
{
	struct app_monitor *m = &app->monitor;
	bool low = mv * 100 < rail_nominal_mv(rail) * INPUT_LOW_PERCENT;

	if (!low)
		m->low_inputs = 0;
	else if (m->low_inputs < INPUT_LOW_COUNT)
		m->low_inputs++;
	for (unsigned i = 0; i < app->board->slots; i++)
		app->slot[i].input_sags = m->low_inputs > 0;
	if (m->low_inputs >= INPUT_LOW_COUNT)
		shed_newest(app, now_us);
}

/* One input a turn, of the slots that have power; twice the same one if it
 * was low, so that a sag is confirmed and not averaged away. */
static void sample_input(struct app *app)
{
	struct app_monitor *m = &app->monitor;
	unsigned inputs = app->board->slots * RIG_RAILS;
	uint64_t now_us = hal_clock_us();
	int32_t mv;

	m->input_due_us = now_us + INPUT_US;
	for (unsigned i = 0; i < inputs; i++) {
		unsigned n = (m->input_turn + i) % inputs;
		unsigned slot = n / RIG_RAILS;
		unsigned rail = n % RIG_RAILS;

		if (!app->slot[slot].gate[rail])
			continue;
		if (adm127x_read_vin(&app->board->slot[slot].monitor[rail],
				     app->bus, &mv) != RIG_OK)
			return; /* the slot's own samples tell of it */
		judge_input(app, rail, mv, now_us);
		m->input_turn = (uint8_t)(m->low_inputs ? n : n + 1);
		return;
	}
	m->low_inputs = 0;
}

/* ---- temperature ---- */

static void report_temperature(struct app *app, uint64_t now_us)
{
	app_report(app, EVENT_TEMPERATURE, app->temperature.mdegc, now_us);
	LOG(app, LOG_WARNING, "the board has %d mdegC",
	    (int)app->temperature.mdegc);
	if (app->temperature.level == TEMPERATURE_HOT)
		power_trip_all(app, FAULT_OVERTEMP, now_us);
}

static rig_status read_temperature(struct app *app, int32_t *mdegc)
{
	struct app_monitor *m = &app->monitor;
	uint8_t address = app->board->thermometer;

	if (!m->thermometer_ready)
		m->thermometer_ready = tmp105_init(address, app->bus) == RIG_OK;
	if (!m->thermometer_ready)
		return RIG_HW;
	return tmp105_read(address, app->bus, mdegc);
}

static void sample_temperature(struct app *app)
{
	struct app_monitor *m = &app->monitor;
	int32_t mdegc = 0;
	rig_status rc = read_temperature(app, &mdegc);
	uint64_t now_us = hal_clock_us();

	m->temperature_due_us = now_us + TEMPERATURE_US;
	if (rc == RIG_OK) {
		if (m->temperature_misses == TEMPERATURE_TRY)
			LOG(app, LOG_INFO, "thermometer 0x%x answers again",
			    app->board->thermometer);
		m->temperature_misses = 0;
		if (temperature_feed(&app->temperature, mdegc))
			report_temperature(app, now_us);
		return;
	}
	m->thermometer_ready = false;
	if (m->temperature_misses < TEMPERATURE_TRY &&
	    ++m->temperature_misses == TEMPERATURE_TRY)
		LOG(app, LOG_ERROR,
		    "thermometer 0x%x does not answer: nothing stays on",
		    app->board->thermometer);
	/* Without a thermometer nobody would notice a fire. */
	if (m->temperature_misses == TEMPERATURE_TRY)
		power_trip_all(app, FAULT_OVERTEMP, now_us);
}

void monitor_run(struct app *app)
{
	for (unsigned i = 0; i < app->board->slots; i++) {
		if (app->monitor.slot[i].due_us > hal_clock_us())
			continue;
		if (app->monitor.slot[i].ready)
			sample_slot(app, i);
		else
			prepare_slot(app, i);
	}
	if (app->monitor.input_due_us <= hal_clock_us())
		sample_input(app);
	if (app->monitor.temperature_due_us <= hal_clock_us())
		sample_temperature(app);
	app->checkins |= CHECKIN_MONITOR;
}

uint64_t monitor_next_us(const struct app *app)
{
	uint64_t next = app->monitor.temperature_due_us;

	if (app->monitor.input_due_us < next)
		next = app->monitor.input_due_us;
	for (unsigned i = 0; i < app->board->slots; i++) {
		if (app->monitor.slot[i].due_us < next)
			next = app->monitor.slot[i].due_us;
	}
	return next;
}
