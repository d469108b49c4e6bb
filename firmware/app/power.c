#include "firmware/app/power.h"

#include "firmware/app/retain.h"
#include "firmware/hal/activity.h"
#include "firmware/hal/gpio.h"

/* Time-driven transitions have no finer clock than this; what needs one goes
 * by samples. */
#define TURN_US 5000u

static void drive_gate(void *arg, unsigned slot, unsigned rail, bool on)
{
	const struct app *app = arg;

	hal_gpio_set(board_gate(app->board, slot, rail), on);
}

static void follow_state(struct app *app, unsigned slot, slot_state state)
{
	if (state == SLOT_FAULT)
		trace_freeze(&app->trace[slot], &app->trace_tail, slot);
	else if (app->trace[slot].frozen && state == SLOT_PRECHECK)
		trace_release(&app->trace[slot], &app->trace_tail, slot);
	/* The plan of sampling goes with the state. */
	app->monitor.slot[slot].due_us = 0;
	app->monitor.slot[slot].turn = 0;
}

static void say_fault(struct app *app, unsigned slot, slot_fault fault,
		      uint32_t number)
{
	static const char *const words[] = {
		[FAULT_NONE] = "?",
		[FAULT_OC_FAST_5V] = "over-current on 5 V",
		[FAULT_OC_FAST_12V] = "over-current on 12 V",
		[FAULT_OC_I2T_12V] = "12 V above its i2t limit",
		[FAULT_NO_DISCHARGE] = "a rail does not discharge",
		[FAULT_PRECHECK] = "voltage before a gate was open",
		[FAULT_RAMP_TIMEOUT] = "a rail does not rise",
		[FAULT_UNDERVOLT] = "undervoltage",
		[FAULT_OVERVOLT] = "overvoltage",
		[FAULT_OVERTEMP] = "overtemperature",
		[FAULT_SENSOR] = "its monitors do not answer",
		[FAULT_INPUT_SAG] = "input too low",
		[FAULT_LOCKED] = "locked after 3 trips",
	};

	LOG(app, LOG_ERROR, "slot %u: FAULT, %s (event %u)", slot, words[fault],
	    (unsigned)number);
}

static uint32_t on_slot_event(void *arg, const struct event *e)
{
	struct app *app = arg;
	uint32_t number;

	if (e->kind == EVENT_SLOT_STATE)
		follow_state(app, e->slot, e->state);
	number = events_add(app->events, e);
	if (e->kind == EVENT_FAULT)
		say_fault(app, e->slot, e->fault, number);
	return number;
}

static const struct slot_ops slot_ops = {
	.gate = drive_gate,
	.event = on_slot_event,
};

void power_init(struct app *app, uint64_t now_us)
{
	trace_tail_init(&app->trace_tail);
	schedule_init(&app->schedule);
	silence_init(&app->silence);
	for (unsigned i = 0; i < app->board->slots; i++) {
		struct slot_cfg cfg = { .limits = &app->config.slot[i],
					.ops = &slot_ops,
					.arg = app,
					.index = i };

		slot_init(&app->slot[i], &cfg, now_us);
		trace_init(&app->trace[i]);
	}
}

/* ---- the queue ---- */

/* Of the slots that only wait for budget the one that asked first; nobody
 * overtakes it, so nobody starves. */
static struct slot *queue_head(struct app *app, uint64_t now_us)
{
	struct slot *head = NULL;

	for (unsigned i = 0; i < app->board->slots; i++) {
		struct slot *s = &app->slot[i];

		if (slot_is_ready(s, now_us) &&
		    (!head || s->order_us < head->order_us))
			head = s;
	}
	return head;
}

static bool fits(const struct app *app, const struct slot *candidate)
{
	struct budget_claim claim[RIG_SLOTS_MAX];
	size_t n = 0;

	for (unsigned i = 0; i < app->board->slots; i++) {
		const struct slot *s = &app->slot[i];

		if (s == candidate || s->state != SLOT_QUEUED)
			claim[n++] = slot_claim(s);
	}
	return budget_fits(&app->config.rig, claim, n);
}

static void start_queued(struct app *app, uint64_t now_us)
{
	struct slot *head;

	if (silence_forbids_start(&app->silence) ||
	    app->temperature.level == TEMPERATURE_HOT ||
	    app->monitor.low_inputs)
		return;
	while ((head = queue_head(app, now_us)) && fits(app, head))
		slot_start(head, now_us);
}

/* ---- commands ---- */

rig_status power_set(struct app *app, uint32_t mask, bool on, uint64_t op_id,
		     uint64_t now_us, uint32_t *detail)
{
	rig_status rc = RIG_OK;

	if (!mask || mask & ~app_slots_mask(app))
		return RIG_RANGE;
	for (unsigned i = 0; i < app->board->slots; i++) {
		if (!(mask & 1u << i))
			continue;
		*detail = i;
		rc = slot_check(&app->slot[i], on);
		if (rc != RIG_OK)
			return rc;
	}
	for (unsigned i = 0; i < app->board->slots; i++) {
		if (mask & 1u << i)
			rc = slot_set(&app->slot[i], on, op_id, now_us);
		if (rc != RIG_OK)
			return rc;
	}
	*detail = 0;
	return RIG_OK;
}

void power_all_off(struct app *app, uint64_t op_id, uint64_t now_us)
{
	struct event e = { .kind = EVENT_ALL_OFF,
			   .at_us = now_us,
			   .op_id = op_id };

	/* All pins before any bookkeeping. */
	for (unsigned i = 0; i < app->board->slots * RIG_RAILS; i++)
		hal_gpio_set(app->board->gates[i], false);
	schedule_init(&app->schedule);
	app_event(app, &e);
	for (unsigned i = 0; i < app->board->slots; i++) {
		/* Off is never refused. */
		if (slot_set(&app->slot[i], false, op_id, now_us) != RIG_OK)
			continue;
	}
}

void power_trip_all(struct app *app, slot_fault fault, uint64_t now_us)
{
	for (unsigned i = 0; i < app->board->slots; i++) {
		if (slot_is_powered(&app->slot[i]))
			slot_trip(&app->slot[i], fault, now_us);
	}
}

/* ---- silence of the host ---- */

static void report_silence(struct app *app, const struct silence_verdict *v,
			   uint64_t now_us)
{
	int32_t silent_ms = (int32_t)v->silent_ms;

	if (v->late)
		app_report(app, EVENT_HOST_LATE, silent_ms, now_us);
	if (!v->lost)
		return;
	app_report(app, EVENT_HOST_LOST, silent_ms, now_us);
	/* Most of them have done their work and ended. */
	if (power_first_live(app) != RIG_SLOTS_MAX)
		LOG(app, LOG_WARNING,
		    "the host is silent for %d ms, and slots have power",
		    (int)silent_ms);
}

static void watch_silence(struct app *app, uint64_t now_us)
{
	struct silence_slot seen[RIG_SLOTS_MAX] = { { 0 } };
	struct silence_verdict v;
	uint32_t detail;

	for (unsigned i = 0; i < app->board->slots; i++) {
		seen[i].powered = slot_is_powered(&app->slot[i]);
		seen[i].active = hal_activity_is_active(i);
		seen[i].edges = hal_activity_edges(i);
	}
	v = silence_poll(&app->silence, &app->config.rig, seen,
			 app->board->slots, now_us);
	report_silence(app, &v, now_us);
	/* Off is never refused. */
	if (v.off_mask &&
	    power_set(app, v.off_mask, false, 0, now_us, &detail) != RIG_OK)
		power_all_off(app, 0, now_us);
}

/* ---- one turn ---- */

static void run_schedule(struct app *app, uint64_t now_us)
{
	struct schedule_entry e;
	uint32_t detail;

	while (schedule_take(&app->schedule, now_us, &e)) {
		/* A slot that has latched a fault meanwhile has said so by an
		 * event; the others do what was asked. */
		for (unsigned i = 0; i < app->board->slots; i++) {
			if (e.mask & 1u << i &&
			    power_set(app, 1u << i, e.on, e.op_id, now_us,
				      &detail) != RIG_OK)
				continue;
		}
	}
}

void power_run(struct app *app, uint64_t now_us)
{
	run_schedule(app, now_us);
	for (unsigned i = 0; i < app->board->slots; i++)
		slot_tick(&app->slot[i], now_us);
	watch_silence(app, now_us);
	start_queued(app, now_us);
	retain_run(app, now_us);
	app->checkins |= CHECKIN_SLOTS;
}

uint32_t power_fault_mask(const struct app *app)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < app->board->slots; i++) {
		if (app->slot[i].state == SLOT_FAULT)
			mask |= 1u << i;
	}
	return mask;
}

unsigned power_first_live(const struct app *app)
{
	for (unsigned i = 0; i < app->board->slots; i++) {
		const struct slot *s = &app->slot[i];

		if (s->state != SLOT_OFF && s->state != SLOT_FAULT &&
		    s->state != SLOT_UNKNOWN)
			return i;
	}
	return RIG_SLOTS_MAX;
}

uint64_t power_next_us(const struct app *app, uint64_t now_us)
{
	uint64_t next = schedule_next_us(&app->schedule);

	return next < now_us + TURN_US ? next : now_us + TURN_US;
}
