#include "firmware/core/slot.h"

#include <string.h>

/* How long a voltage must be wrong. Undervoltage waits for the shedding of
 * other slots to help; overvoltage destroys disks. */
#define UNDERVOLT_US 50000u
#define OVERVOLT_US  5000u

/* Of a disk on 5 V: no configuration field, data sheets agree. */
#define CLAIM_START_5V_MA 1000u
#define CLAIM_ON_5V_MA    700u

static void emit(struct slot *s, const struct event *what, uint64_t now_us)
{
	struct event e = *what;
	uint32_t number;

	e.at_us = now_us;
	e.slot = s->cfg.index;
	e.state = s->state;
	e.fault = e.fault ? e.fault : s->fault;
	e.vi = s->last;
	e.op_id = s->op_id;
	number = s->cfg.ops->event(s->cfg.arg, &e);
	if (e.kind == EVENT_FAULT && e.fault == s->fault)
		s->fault_event = number;
}

static void enter(struct slot *s, slot_state state, uint64_t now_us)
{
	struct event e = { .kind = EVENT_SLOT_STATE };

	if (state == SLOT_OFF)
		e.fall_us = s->fall_us;
	s->state = state;
	s->since_us = now_us;
	s->held_since_us = 0;
	s->bad_since_us = 0;
	emit(s, &e, now_us);
}

static void gate_set(struct slot *s, unsigned rail, bool on, uint64_t now_us)
{
	struct event e = { .kind = EVENT_GATE,
			   .value = (int32_t)((on ? 1u : 0u) | rail << 1) };

	if (s->gate[rail] == on)
		return;
	s->cfg.ops->gate(s->cfg.arg, s->cfg.index, rail, on);
	s->gate[rail] = on;
	s->gate_us[rail] = (uint32_t)now_us;
	emit(s, &e, now_us);
}

static void gates_off(struct slot *s, uint64_t now_us)
{
	bool were_on = slot_is_powered(s);

	/* The pins first, the bookkeeping after. */
	for (unsigned rail = 0; rail < RIG_RAILS; rail++)
		s->cfg.ops->gate(s->cfg.arg, s->cfg.index, rail, false);
	for (unsigned rail = 0; rail < RIG_RAILS; rail++)
		gate_set(s, rail, false, now_us);
	if (were_on) {
		s->off_us = now_us;
		s->fall_us = 0;
		memset(s->crossed_us, 0, sizeof(s->crossed_us));
	}
}

static bool is_over_current(slot_fault fault)
{
	return fault == FAULT_OC_FAST_5V || fault == FAULT_OC_FAST_12V ||
	       fault == FAULT_OC_I2T_12V;
}

void slot_trip(struct slot *s, slot_fault fault, uint64_t now_us)
{
	struct event e = { .kind = EVENT_FAULT, .fault = fault };

	gates_off(s, now_us);
	s->wanted_on = false;
	if (s->state == SLOT_FAULT)
		return;
	s->fault = fault;
	enter(s, SLOT_FAULT, now_us);
	emit(s, &e, now_us);
	if (is_over_current(fault) && trip_log_add(&s->trips, now_us)) {
		struct event lock = { .kind = EVENT_FAULT,
				      .fault = FAULT_LOCKED };

		s->locked = true;
		emit(s, &lock, now_us);
	}
}

void slot_init(struct slot *s, const struct slot_cfg *cfg, uint64_t now_us)
{
	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	s->state = SLOT_UNKNOWN;
	s->since_us = now_us;
	s->off_us = now_us;
	trip_init(&s->trip);
}

bool slot_is_powered(const struct slot *s)
{
	return s->gate[RAIL_5V] || s->gate[RAIL_12V];
}

bool slot_may_configure(const struct slot *s)
{
	return s->state == SLOT_OFF || s->state == SLOT_UNKNOWN;
}

/* 80 % of what the disk is rated for. */
static bool is_worn(const struct slot *s)
{
	uint64_t rated = s->cfg.limits->rated_cycles;

	return rated && (uint64_t)s->cycles * 10 >= rated * 8;
}

rig_status slot_check(const struct slot *s, bool on)
{
	if (!on)
		return RIG_OK;
	if (s->locked)
		return RIG_LOCKED;
	if (s->state == SLOT_FAULT)
		return RIG_FAULT;
	if (!s->wanted_on && is_worn(s))
		return RIG_STATE;
	return RIG_OK;
}

static void set_off(struct slot *s, uint64_t now_us)
{
	bool was_powered = slot_is_powered(s);

	gates_off(s, now_us);
	if (was_powered)
		enter(s, SLOT_FALLING, now_us);
	else if (s->state == SLOT_QUEUED || s->state == SLOT_PRECHECK)
		enter(s, SLOT_OFF, now_us);
}

rig_status slot_set(struct slot *s, bool on, uint64_t op_id, uint64_t now_us)
{
	rig_status rc = slot_check(s, on);

	if (rc != RIG_OK)
		return rc;
	if (s->wanted_on != on || slot_is_powered(s) != on)
		s->op_id = op_id;
	if (on && !s->wanted_on)
		s->order_us = now_us;
	s->wanted_on = on;
	if (!on)
		set_off(s, now_us);
	else if (s->state == SLOT_OFF)
		enter(s, SLOT_QUEUED, now_us);
	return RIG_OK;
}

uint32_t slot_min_off_left_ms(const struct slot *s, uint64_t now_us)
{
	uint64_t end_us =
		s->off_us + (uint64_t)s->cfg.limits->min_off_ms * 1000u;
	bool is_off = s->state == SLOT_OFF || s->state == SLOT_QUEUED;

	if (!is_off || now_us >= end_us)
		return 0;
	return (uint32_t)((end_us - now_us + 999u) / 1000u);
}

bool slot_is_ready(const struct slot *s, uint64_t now_us)
{
	return s->state == SLOT_QUEUED && slot_min_off_left_ms(s, now_us) == 0;
}

void slot_start(struct slot *s, uint64_t now_us)
{
	if (slot_is_ready(s, now_us))
		enter(s, SLOT_PRECHECK, now_us);
}

/* ---- going up ---- */

static void open_gate(struct slot *s, unsigned rail, uint64_t now_us)
{
	if (!s->powered) {
		trip_init(&s->trip);
		s->order_us = now_us;
	}
	s->powered = true;
	s->proven = false;
	trip_blank(&s->trip, now_us + s->cfg.limits->blank_ms * 1000u);
	gate_set(s, rail, true, now_us);
	enter(s, rail == RAIL_5V ? SLOT_RAMP5 : SLOT_RAMP12, now_us);
}

static bool are_low(const struct rail_sample *p)
{
	return p->mv[RAIL_5V] < SLOT_OFF_5V_MV &&
	       p->mv[RAIL_12V] < SLOT_OFF_12V_MV;
}

static void feed_precheck(struct slot *s, const struct rail_sample *p)
{
	const SlotConfig *c = s->cfg.limits;

	if (!are_low(p)) {
		slot_trip(s, FAULT_PRECHECK, p->at_us);
		return;
	}
	open_gate(s, c->v12_first && !c->no_12v ? RAIL_12V : RAIL_5V, p->at_us);
}

static void feed_ramp(struct slot *s, unsigned rail,
		      const struct rail_sample *p)
{
	const SlotConfig *c = s->cfg.limits;
	unsigned other = rail == RAIL_5V ? RAIL_12V : RAIL_5V;
	uint32_t age_us = (uint32_t)p->at_us - s->gate_us[rail];
	bool last = s->gate[other] || c->no_12v;

	if (p->mv[rail] * 10 < rail_nominal_mv(rail) * 9) {
		if (age_us >= c->ramp_timeout_ms * 1000u)
			slot_trip(s, FAULT_RAMP_TIMEOUT, p->at_us);
	} else if (last) {
		enter(s, SLOT_SPINUP, p->at_us);
	} else if (age_us >= c->skew_ms * 1000u) {
		open_gate(s, other, p->at_us);
	}
}

static bool is_calm(const struct slot *s, const struct rail_sample *p)
{
	const SlotConfig *c = s->cfg.limits;

	return c->no_12v ||
	       (int64_t)p->ma[RAIL_12V] * 10 < (int64_t)c->idle_12v_ma * 12;
}

/* How long *since has been set, which it is from now on. */
static uint32_t lasted_us(uint32_t *since, uint64_t now_us)
{
	if (!*since)
		*since = (uint32_t)now_us ? (uint32_t)now_us : UINT32_MAX;
	return (uint32_t)now_us - *since;
}

static void feed_spinup(struct slot *s, const struct rail_sample *p)
{
	bool calm = is_calm(s, p);

	if (!calm)
		s->held_since_us = 0;
	if ((calm && lasted_us(&s->held_since_us, p->at_us) >= SLOT_CALM_US) ||
	    p->at_us - s->since_us >= s->cfg.limits->spinup_max_ms * 1000ull)
		enter(s, SLOT_ON, p->at_us);
}

/* ---- watching ---- */

static bool is_under(const struct slot *s, const struct rail_sample *p)
{
	int32_t percent = s->state == SLOT_ON ? 95 : 90;

	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		if (s->gate[rail] &&
		    p->mv[rail] < rail_nominal_mv(rail) * percent / 100)
			return true;
	}
	return false;
}

static bool is_above(const struct slot *s, const struct rail_sample *p)
{
	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		if (s->gate[rail] &&
		    p->mv[rail] > rail_nominal_mv(rail) * 105 / 100)
			return true;
	}
	return false;
}

static void watch_voltage(struct slot *s, const struct rail_sample *p)
{
	bool above = is_above(s, p);
	uint32_t bad_us;

	if (!above && (s->input_sags || !is_under(s, p))) {
		s->bad_since_us = 0;
		return;
	}
	if (p->at_us - s->since_us < SLOT_VOLTAGE_WAIT_US)
		return;
	bad_us = lasted_us(&s->bad_since_us, p->at_us);
	if (above && bad_us >= OVERVOLT_US)
		slot_trip(s, FAULT_OVERVOLT, p->at_us);
	else if (!above && bad_us >= UNDERVOLT_US)
		slot_trip(s, FAULT_UNDERVOLT, p->at_us);
}

/* ---- going down ---- */

/* When the line between two samples crosses level, after off_us; not 0. */
static uint32_t crossing_us(const struct rail_sample *a,
			    const struct rail_sample *b, unsigned rail,
			    int32_t level, uint64_t off_us)
{
	uint64_t from_us = a->at_us > off_us ? a->at_us : off_us;
	uint64_t drop = (uint64_t)(a->mv[rail] - b->mv[rail]);
	uint64_t above = (uint64_t)(a->mv[rail] - level);
	uint64_t after_us = from_us - off_us;

	if (b->at_us > from_us)
		after_us += (b->at_us - from_us) * above / drop;
	return (uint32_t)(after_us ? after_us : 1);
}

static void note_fall(struct slot *s, const struct rail_sample *old,
		      const struct rail_sample *p)
{
	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		for (unsigned i = 0; i < 2; i++) {
			int32_t level = rail_nominal_mv(rail) *
					(i == 0 ? 90 : 10) / 100;

			if (old->mv[rail] >= level && p->mv[rail] < level)
				s->crossed_us[rail][i] = crossing_us(
					old, p, rail, level, s->off_us);
		}
	}
}

static uint32_t fall_time_us(const struct slot *s)
{
	uint32_t slower = 0;

	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		const uint32_t *at = s->crossed_us[rail];

		if (at[0] && at[1] > at[0] && at[1] - at[0] > slower)
			slower = at[1] - at[0];
	}
	return slower;
}

static void prove_off(struct slot *s, const struct rail_sample *p)
{
	for (unsigned rail = 0; rail < RIG_RAILS; rail++)
		s->residual_mv[rail] =
			p->mv[rail] > 0 ? (uint16_t)p->mv[rail] : 0;
	s->fall_us = fall_time_us(s);
	s->off_us = p->at_us;
	s->proven = true;
	if (s->powered)
		s->cycles++;
	s->powered = false;
	enter(s, SLOT_OFF, p->at_us);
	if (s->wanted_on)
		enter(s, SLOT_QUEUED, p->at_us);
}

static void feed_falling(struct slot *s, const struct rail_sample *old,
			 const struct rail_sample *p)
{
	note_fall(s, old, p);
	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		if (p->mv[rail] * 10 >= rail_nominal_mv(rail))
			return;
	}
	enter(s, SLOT_DISCHARGING, p->at_us);
}

static void feed_discharging(struct slot *s, const struct rail_sample *old,
			     const struct rail_sample *p)
{
	note_fall(s, old, p);
	if (!are_low(p)) {
		s->held_since_us = 0;
		return;
	}
	if (lasted_us(&s->held_since_us, p->at_us) >= SLOT_PROOF_US)
		prove_off(s, p);
}

/* ---- dispatch ---- */

static void feed_state(struct slot *s, const struct rail_sample *old,
		       const struct rail_sample *p)
{
	switch (s->state) {
	case SLOT_UNKNOWN:
		s->off_us = p->at_us;
		enter(s, SLOT_DISCHARGING, p->at_us);
		break;
	case SLOT_PRECHECK:
		feed_precheck(s, p);
		break;
	case SLOT_RAMP5:
		feed_ramp(s, RAIL_5V, p);
		break;
	case SLOT_RAMP12:
		feed_ramp(s, RAIL_12V, p);
		break;
	case SLOT_SPINUP:
		feed_spinup(s, p);
		break;
	case SLOT_FALLING:
		feed_falling(s, old, p);
		break;
	case SLOT_DISCHARGING:
		feed_discharging(s, old, p);
		break;
	default:
		break;
	}
}

void slot_feed(struct slot *s, const struct rail_sample *p)
{
	struct rail_sample old = s->last;
	slot_state before = s->state;
	slot_fault fault = FAULT_NONE;

	s->misses = 0;
	s->last = *p;
	if (slot_is_powered(s))
		fault = trip_feed(&s->trip, s->cfg.limits, p);
	if (fault != FAULT_NONE) {
		slot_trip(s, fault, p->at_us);
		return;
	}
	feed_state(s, &old, p);
	if (s->state == before && (before == SLOT_SPINUP || before == SLOT_ON))
		watch_voltage(s, p);
}

void slot_missed(struct slot *s, uint64_t now_us)
{
	if (s->misses < SLOT_MISSES_MAX)
		s->misses++;
	/* OFF was proven and nothing can have changed it but a broken switch:
	 * not a reason to latch a fault, but no longer shown as off. */
	if (s->misses < SLOT_MISSES_MAX || s->state == SLOT_FAULT ||
	    s->state == SLOT_UNKNOWN)
		return;
	if (s->state == SLOT_OFF) {
		s->off_us = now_us;
		enter(s, SLOT_UNKNOWN, now_us);
		return;
	}
	slot_trip(s, FAULT_SENSOR, now_us);
}

void slot_tick(struct slot *s, uint64_t now_us)
{
	bool falling = s->state == SLOT_FALLING || s->state == SLOT_DISCHARGING;

	if (falling && now_us - s->off_us >= SLOT_DISCHARGE_US)
		slot_trip(s, FAULT_NO_DISCHARGE, now_us);
	if (s->state == SLOT_OFF && s->wanted_on)
		enter(s, SLOT_QUEUED, now_us);
}

static bool serial_matches(const struct slot *s, const char *serial)
{
	const char *expected = s->cfg.limits->serial;

	if (!serial[0])
		return false;
	return !expected[0] || !strcmp(expected, serial);
}

rig_status slot_clear(struct slot *s, slot_fault fault, uint32_t event,
		      const char *serial, uint64_t now_us)
{
	struct event e = { .kind = EVENT_FAULT_CLEARED };

	if (s->state != SLOT_FAULT)
		return RIG_STATE;
	if (fault != s->fault || event != s->fault_event)
		return RIG_INVALID;
	if (s->locked && !serial_matches(s, serial))
		return RIG_LOCKED;
	if (s->locked)
		trip_log_forgive(&s->trips);
	s->locked = false;
	emit(s, &e, now_us);
	s->fault = FAULT_NONE;
	s->off_us = now_us;
	s->misses = 0;
	enter(s, SLOT_DISCHARGING, now_us);
	return RIG_OK;
}

/* ---- budget ---- */

static uint32_t larger(uint32_t a, int32_t measured)
{
	return measured > 0 && (uint32_t)measured > a ? (uint32_t)measured : a;
}

struct budget_claim slot_claim(const struct slot *s)
{
	const SlotConfig *c = s->cfg.limits;
	struct budget_claim claim = { { 0, 0 } };

	if (s->state == SLOT_ON) {
		claim.ma[RAIL_5V] = larger(CLAIM_ON_5V_MA, s->last.ma[RAIL_5V]);
		claim.ma[RAIL_12V] =
			larger(c->no_12v ? 0 : c->idle_12v_ma * 12 / 10,
			       s->last.ma[RAIL_12V]);
	} else if (slot_is_powered(s) || s->state == SLOT_PRECHECK ||
		   s->state == SLOT_QUEUED) {
		claim.ma[RAIL_5V] = CLAIM_START_5V_MA;
		claim.ma[RAIL_12V] = c->no_12v ? 0 : c->spinup_reserve_ma;
	}
	return claim;
}
