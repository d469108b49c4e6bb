#include "firmware/core/slot.h"

#include "firmware/tests/test.h"
#include "firmware/tests/test_limits.h"

#define STEP_US 2000u

/* A slot with its disk: rails that rise and fall as their gates say. */
struct bench {
	struct slot slot;
	SlotConfig limits;
	uint64_t now_us;
	int32_t mv[RIG_RAILS];
	int32_t ma[RIG_RAILS];
	int32_t rise_mv; /* a step, of 5 V; 12 V rises at 2.4 times that */
	int32_t fall_mv;
	int32_t floor_mv; /* back-feed */
	bool gate[RIG_RAILS];
	bool dead_sensor;
	uint32_t events;
	struct event log[2048];
};

static struct bench b;

static void drive(void *arg, unsigned slot, unsigned rail, bool on)
{
	(void)arg;
	assert_int_equal(slot, 3);
	b.gate[rail] = on;
}

static uint32_t note(void *arg, const struct event *e)
{
	(void)arg;
	b.log[b.events++ % 2048] = *e;
	return b.events;
}

static const struct slot_ops ops = { .gate = drive, .event = note };

static int fresh(void **state)
{
	struct slot_cfg cfg = { .limits = &b.limits, .ops = &ops, .index = 3 };

	(void)state;
	memset(&b, 0, sizeof(b));
	b.limits = test_defaults.slot;
	b.limits.slot = 3;
	b.now_us = 1000000;
	b.rise_mv = 1000;
	b.fall_mv = 100;
	b.ma[RAIL_5V] = 300;
	b.ma[RAIL_12V] = 350;
	slot_init(&b.slot, &cfg, b.now_us);
	return 0;
}

static void move_rail(unsigned rail)
{
	int32_t nominal = rail_nominal_mv(rail);
	int32_t scale = nominal / 1000;

	if (b.gate[rail])
		b.mv[rail] += b.rise_mv * scale / 5;
	else
		b.mv[rail] -= b.fall_mv * scale / 5;
	if (b.mv[rail] > nominal)
		b.mv[rail] = nominal;
	if (b.mv[rail] < b.floor_mv)
		b.mv[rail] = b.floor_mv;
}

static void step(void)
{
	struct rail_sample s;

	b.now_us += STEP_US;
	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		move_rail(rail);
		s.mv[rail] = b.mv[rail];
		s.ma[rail] = b.mv[rail] > 1000 ? b.ma[rail] : 0;
	}
	s.at_us = b.now_us;
	if (b.dead_sensor)
		slot_missed(&b.slot, b.now_us);
	else
		slot_feed(&b.slot, &s);
	slot_tick(&b.slot, b.now_us);
	if (slot_is_ready(&b.slot, b.now_us))
		slot_start(&b.slot, b.now_us);
}

static void run_ms(uint32_t ms)
{
	for (uint32_t i = 0; i < ms * 1000 / STEP_US; i++)
		step();
}

/* Returns the milliseconds it took. */
static uint32_t run_until(slot_state state, uint32_t limit_ms)
{
	uint64_t start_us = b.now_us;

	while (b.slot.state != state &&
	       b.now_us - start_us < limit_ms * 1000ull)
		step();
	assert_int_equal(b.slot.state, state);
	return (uint32_t)((b.now_us - start_us) / 1000);
}

static void set(bool on)
{
	assert_int_equal(slot_set(&b.slot, on, 42, b.now_us), RIG_OK);
}

static void switch_on(void)
{
	run_until(SLOT_OFF, 1000);
	set(true);
	run_until(SLOT_ON, 20000);
}

/* The states entered since event number first, in order. */
static void assert_states(uint32_t first, const slot_state *want, size_t n)
{
	size_t found = 0;

	for (uint32_t i = first; i < b.events; i++) {
		if (b.log[i].kind != EVENT_SLOT_STATE)
			continue;
		assert_true(found < n);
		assert_int_equal(b.log[i].state, want[found]);
		found++;
	}
	assert_int_equal(found, n);
}

static void after_reset_it_is_unknown_until_proven_off(void **state)
{
	const slot_state want[] = { SLOT_DISCHARGING, SLOT_OFF };

	(void)state;
	assert_int_equal(b.slot.state, SLOT_UNKNOWN);
	assert_in_range(run_until(SLOT_OFF, 1000), 100, 110);
	assert_states(0, want, 2);
	assert_int_equal(b.slot.cycles, 0);
}

static void it_goes_on_step_by_step(void **state)
{
	const slot_state want[] = { SLOT_DISCHARGING, SLOT_OFF,   SLOT_QUEUED,
				    SLOT_PRECHECK,    SLOT_RAMP5, SLOT_RAMP12,
				    SLOT_SPINUP,      SLOT_ON };

	(void)state;
	switch_on();
	assert_states(0, want, 8);
	assert_true(b.gate[RAIL_5V] && b.gate[RAIL_12V]);
	assert_int_equal(b.log[b.events - 1].op_id, 42);
	assert_int_equal(b.log[b.events - 1].slot, 3);
}

static void asking_twice_is_the_same_as_once(void **state)
{
	uint32_t events;

	(void)state;
	switch_on();
	events = b.events;
	assert_int_equal(slot_set(&b.slot, true, 43, b.now_us), RIG_OK);
	assert_int_equal(b.events, events);
	assert_int_equal(b.slot.op_id, 42);
}

static void the_order_and_skew_of_the_rails_is_the_profiles(void **state)
{
	uint64_t skew_us;

	(void)state;
	b.limits.v12_first = true;
	b.limits.skew_ms = 250;
	switch_on();
	skew_us = b.slot.gate_us[RAIL_5V] - b.slot.gate_us[RAIL_12V];
	assert_in_range(skew_us, 250000, 252000);
}

static void a_disk_without_12_v_gets_none(void **state)
{
	const slot_state want[] = { SLOT_QUEUED, SLOT_PRECHECK, SLOT_RAMP5,
				    SLOT_SPINUP, SLOT_ON };
	uint32_t first;

	(void)state;
	b.limits.no_12v = true;
	run_until(SLOT_OFF, 1000);
	first = b.events;
	switch_on();
	assert_states(first, want, 5);
	assert_false(b.gate[RAIL_12V]);
}

static void off_closes_the_gates_before_it_returns(void **state)
{
	(void)state;
	switch_on();
	set(false);
	assert_false(b.gate[RAIL_5V]);
	assert_false(b.gate[RAIL_12V]);
	assert_int_equal(b.slot.state, SLOT_FALLING);
}

static void off_is_proven_with_fall_time_and_residuals(void **state)
{
	const struct event *last;

	(void)state;
	b.floor_mv = 40;
	switch_on();
	set(false);
	run_until(SLOT_OFF, 1000);
	last = &b.log[b.events - 1];
	assert_int_equal(last->kind, EVENT_SLOT_STATE);
	/* 80 % of 5 V at 100 mV in 2 ms. */
	assert_in_range(last->fall_us, 79000, 82000);
	assert_int_equal(last->vi.mv[RAIL_5V], 40);
	assert_int_equal(b.slot.residual_mv[RAIL_12V], 40);
	assert_int_equal(b.slot.cycles, 1);
}

static void proof_takes_100_ms_below_the_threshold(void **state)
{
	uint32_t ms;

	(void)state;
	switch_on();
	set(false);
	run_until(SLOT_DISCHARGING, 1000);
	ms = run_until(SLOT_OFF, 1000);
	assert_in_range(ms, 100, 120);
}

static void a_rail_that_does_not_fall_is_no_discharge(void **state)
{
	uint32_t ms;

	(void)state;
	switch_on();
	b.floor_mv = 310; /* back-feed on 5 V */
	set(false);
	ms = run_until(SLOT_FAULT, 6000);
	assert_int_equal(b.slot.fault, FAULT_NO_DISCHARGE);
	assert_in_range(ms, 4990, 5010);
	assert_int_equal(b.slot.cycles, 0);
}

static void a_bounce_starts_the_proof_anew(void **state)
{
	(void)state;
	switch_on();
	set(false);
	run_until(SLOT_DISCHARGING, 1000);
	run_ms(80);
	b.mv[RAIL_12V] = 2000;
	run_ms(100);
	assert_int_equal(b.slot.state, SLOT_DISCHARGING);
	run_until(SLOT_OFF, 1000);
}

static void the_minimum_off_time_starts_with_the_proof(void **state)
{
	uint32_t ms;

	(void)state;
	switch_on();
	set(false);
	run_until(SLOT_OFF, 1000);
	assert_int_equal(slot_min_off_left_ms(&b.slot, b.now_us), 5000);
	set(true);
	assert_int_equal(b.slot.state, SLOT_QUEUED);
	ms = run_until(SLOT_PRECHECK, 6000);
	assert_in_range(ms, 4990, 5010);
}

static void on_while_it_still_falls_waits_for_the_proof(void **state)
{
	(void)state;
	switch_on();
	set(false);
	set(true);
	assert_int_equal(b.slot.state, SLOT_FALLING);
	assert_false(b.gate[RAIL_5V]);
	run_until(SLOT_ON, 20000);
	assert_int_equal(b.slot.cycles, 1);
}

static void off_takes_it_out_of_the_queue(void **state)
{
	(void)state;
	run_until(SLOT_OFF, 1000);
	set(true);
	assert_int_equal(b.slot.state, SLOT_QUEUED);
	set(false);
	assert_int_equal(b.slot.state, SLOT_OFF);
	run_ms(10000);
	assert_int_equal(b.slot.state, SLOT_OFF);
}

static void a_rail_with_voltage_before_its_gate_opens_is_refused(void **state)
{
	(void)state;
	run_until(SLOT_OFF, 1000);
	b.floor_mv = 600;
	set(true);
	run_until(SLOT_FAULT, 10000);
	assert_int_equal(b.slot.fault, FAULT_PRECHECK);
	assert_false(b.gate[RAIL_5V]);
}

static void a_rail_that_does_not_rise_times_out(void **state)
{
	(void)state;
	run_until(SLOT_OFF, 1000);
	b.rise_mv = 5;
	set(true);
	run_until(SLOT_RAMP5, 6000);
	assert_in_range(run_until(SLOT_FAULT, 1000), 198, 202);
	assert_int_equal(b.slot.fault, FAULT_RAMP_TIMEOUT);
	assert_false(b.gate[RAIL_5V]);
}

static void spinning_up_ends_one_second_after_the_current_calms(void **state)
{
	uint32_t ms;

	(void)state;
	b.ma[RAIL_12V] = 2400;
	run_until(SLOT_OFF, 1000);
	set(true);
	run_until(SLOT_SPINUP, 6000);
	run_ms(6000);
	assert_int_equal(b.slot.state, SLOT_SPINUP);
	assert_int_equal(slot_claim(&b.slot).ma[RAIL_12V], 3000);
	b.ma[RAIL_12V] = 590;
	ms = run_until(SLOT_ON, 2000);
	assert_in_range(ms, 1000, 1004);
	assert_int_equal(slot_claim(&b.slot).ma[RAIL_12V], 600);
}

static void spinning_up_ends_after_15_seconds_at_the_latest(void **state)
{
	(void)state;
	b.ma[RAIL_12V] = 2400;
	run_until(SLOT_OFF, 1000);
	set(true);
	run_until(SLOT_SPINUP, 6000);
	assert_in_range(run_until(SLOT_ON, 16000), 14998, 15002);
}

static void over_current_opens_both_gates_and_latches(void **state)
{
	uint32_t ms;
	uint32_t events;

	(void)state;
	switch_on();
	b.ma[RAIL_12V] = 4600;
	ms = run_until(SLOT_FAULT, 100);
	assert_in_range(ms, 5, 8);
	assert_int_equal(b.slot.fault, FAULT_OC_FAST_12V);
	assert_false(b.gate[RAIL_5V]);
	assert_false(b.gate[RAIL_12V]);
	assert_false(b.slot.wanted_on);
	assert_int_equal(b.log[b.slot.fault_event - 1].kind, EVENT_FAULT);
	assert_int_equal(b.log[b.slot.fault_event - 1].vi.ma[RAIL_12V], 4600);
	events = b.events;
	run_ms(60000);
	assert_int_equal(b.slot.state, SLOT_FAULT);
	assert_int_equal(b.events, events);
	assert_int_equal(slot_set(&b.slot, true, 1, b.now_us), RIG_FAULT);
	assert_int_equal(slot_set(&b.slot, false, 1, b.now_us), RIG_OK);
}

static void inrush_within_the_blanking_is_not_over_current(void **state)
{
	(void)state;
	run_until(SLOT_OFF, 1000);
	b.ma[RAIL_5V] = 8000;
	set(true);
	run_until(SLOT_RAMP5, 6000);
	run_ms(10);
	b.ma[RAIL_5V] = 300;
	run_until(SLOT_ON, 5000);
}

static rig_status clear(const char *serial)
{
	return slot_clear(&b.slot, b.slot.fault, b.slot.fault_event, serial,
			  b.now_us);
}

static void clearing_needs_the_fault_and_its_event(void **state)
{
	(void)state;
	switch_on();
	assert_int_equal(clear(""), RIG_STATE);
	b.ma[RAIL_5V] = 2600;
	run_until(SLOT_FAULT, 100);
	assert_int_equal(slot_clear(&b.slot, FAULT_OC_FAST_12V,
				    b.slot.fault_event, "", b.now_us),
			 RIG_INVALID);
	assert_int_equal(slot_clear(&b.slot, FAULT_OC_FAST_5V,
				    b.slot.fault_event - 1, "", b.now_us),
			 RIG_INVALID);
	assert_int_equal(clear(""), RIG_OK);
	assert_int_equal(b.slot.state, SLOT_DISCHARGING);
	run_until(SLOT_OFF, 1000);
	b.ma[RAIL_5V] = 300;
	set(true);
	run_until(SLOT_ON, 20000);
}

static void trip_once(void)
{
	switch_on();
	b.ma[RAIL_12V] = 5000;
	run_until(SLOT_FAULT, 100);
	b.ma[RAIL_12V] = 350;
}

static void three_trips_lock_until_cleared_with_the_serial(void **state)
{
	(void)state;
	strcpy(b.limits.serial, "WD-1234");
	for (unsigned i = 0; i < 2; i++) {
		trip_once();
		assert_int_equal(clear(""), RIG_OK);
	}
	trip_once();
	assert_true(b.slot.locked);
	assert_int_equal(b.log[b.events - 1].fault, FAULT_LOCKED);
	assert_int_equal(slot_check(&b.slot, true), RIG_LOCKED);
	assert_int_equal(clear(""), RIG_LOCKED);
	assert_int_equal(clear("WD-9999"), RIG_LOCKED);
	assert_int_equal(clear("WD-1234"), RIG_OK);
	assert_false(b.slot.locked);
	trip_once();
	assert_false(b.slot.locked);
}

static void undervoltage_is_a_fault_after_50_ms(void **state)
{
	(void)state;
	switch_on();
	run_ms(100);
	b.fall_mv = 0;
	b.gate[RAIL_12V] = false; /* the switch sticks; the rail sags */
	b.mv[RAIL_12V] = 11300;
	assert_in_range(run_until(SLOT_FAULT, 200), 48, 54);
	assert_int_equal(b.slot.fault, FAULT_UNDERVOLT);
}

static void undervoltage_of_the_input_is_not_the_slots_fault(void **state)
{
	(void)state;
	switch_on();
	run_ms(100);
	b.slot.input_sags = true;
	b.fall_mv = 0;
	b.gate[RAIL_12V] = false;
	b.mv[RAIL_12V] = 10000;
	run_ms(500);
	assert_int_equal(b.slot.state, SLOT_ON);
}

static void a_dead_sensor_is_a_fault_while_on(void **state)
{
	(void)state;
	switch_on();
	b.dead_sensor = true;
	run_until(SLOT_FAULT, 10);
	assert_int_equal(b.slot.fault, FAULT_SENSOR);
}

static void a_dead_sensor_makes_off_unknown_and_back(void **state)
{
	(void)state;
	run_until(SLOT_OFF, 1000);
	b.dead_sensor = true;
	run_until(SLOT_UNKNOWN, 10);
	run_ms(10000);
	b.dead_sensor = false;
	run_until(SLOT_OFF, 200);
}

static void a_worn_disk_is_not_started_again(void **state)
{
	(void)state;
	b.limits.rated_cycles = 5;
	for (unsigned i = 0; i < 4; i++) {
		switch_on();
		set(false);
		run_until(SLOT_OFF, 1000);
	}
	assert_int_equal(b.slot.cycles, 4);
	assert_int_equal(slot_set(&b.slot, true, 1, b.now_us), RIG_STATE);
}

static void check_invariants(void)
{
	bool powered = b.gate[RAIL_5V] || b.gate[RAIL_12V];

	assert_int_equal(b.gate[RAIL_5V], b.slot.gate[RAIL_5V]);
	assert_int_equal(b.gate[RAIL_12V], b.slot.gate[RAIL_12V]);
	switch (b.slot.state) {
	case SLOT_UNKNOWN:
	case SLOT_OFF:
	case SLOT_QUEUED:
	case SLOT_PRECHECK:
	case SLOT_FALLING:
	case SLOT_DISCHARGING:
	case SLOT_FAULT:
		assert_false(powered);
		break;
	case SLOT_RAMP5:
		assert_true(b.gate[RAIL_5V]);
		break;
	case SLOT_RAMP12:
		assert_true(b.gate[RAIL_12V]);
		break;
	default:
		assert_true(powered);
	}
	if (b.slot.state == SLOT_OFF)
		assert_true(b.slot.proven);
	if (powered)
		assert_false(b.slot.proven);
	if (b.slot.state == SLOT_FAULT)
		assert_int_not_equal(b.slot.fault, FAULT_NONE);
	else
		assert_int_equal(b.slot.fault, FAULT_NONE);
}

static void random_action(uint32_t r)
{
	rig_status rc = RIG_OK;

	switch (r % 12) {
	case 0:
	case 1:
	case 2:
		rc = slot_set(&b.slot, true, r, b.now_us);
		break;
	case 3:
	case 4:
		rc = slot_set(&b.slot, false, r, b.now_us);
		assert_int_equal(rc, RIG_OK);
		break;
	case 5:
		rc = clear("S");
		break;
	case 6:
		b.ma[(r >> 8) % 2] = (int32_t)(r >> 16) % 6000;
		break;
	case 7:
		b.dead_sensor = r >> 16 & 1;
		break;
	case 8:
		b.floor_mv = (r >> 16) % 3 ? 0 : 700;
		break;
	case 9:
		b.rise_mv = (r >> 16) % 4 ? 1000 : 2;
		break;
	case 10:
		b.slot.input_sags = r >> 16 & 1;
		break;
	default:
		slot_trip(&b.slot, FAULT_OVERTEMP, b.now_us);
	}
	assert_true(rc <= RIG_LOCKED);
}

static void end_of_troubles(void)
{
	b.ma[RAIL_5V] = 300;
	b.ma[RAIL_12V] = 350;
	b.dead_sensor = false;
	b.floor_mv = 0;
	b.rise_mv = 1000;
	b.slot.input_sags = false;
}

static void run_checked(uint32_t steps)
{
	while (steps--) {
		step();
		check_invariants();
	}
}

/* Whatever happens in whatever order: gates and states agree, off is proven,
 * and after the troubles end a slot can always be brought on again. */
static void no_sequence_breaks_the_rules(void **state)
{
	uint32_t seed = 20261130;

	for (unsigned i = 0; i < 60 * 150; i++) {
		if (i % 150 == 0)
			fresh(state);
		random_action(test_random(&seed));
		check_invariants();
		run_checked(test_random(&seed) % 400);
		if (i % 150 != 149)
			continue;
		end_of_troubles();
		set(false);
		run_ms(6000);
		if (b.slot.state == SLOT_FAULT)
			assert_int_equal(clear("S"), RIG_OK);
		switch_on();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			after_reset_it_is_unknown_until_proven_off, fresh),
		cmocka_unit_test_setup(it_goes_on_step_by_step, fresh),
		cmocka_unit_test_setup(asking_twice_is_the_same_as_once, fresh),
		cmocka_unit_test_setup(
			the_order_and_skew_of_the_rails_is_the_profiles, fresh),
		cmocka_unit_test_setup(a_disk_without_12_v_gets_none, fresh),
		cmocka_unit_test_setup(off_closes_the_gates_before_it_returns,
				       fresh),
		cmocka_unit_test_setup(
			off_is_proven_with_fall_time_and_residuals, fresh),
		cmocka_unit_test_setup(proof_takes_100_ms_below_the_threshold,
				       fresh),
		cmocka_unit_test_setup(
			a_rail_that_does_not_fall_is_no_discharge, fresh),
		cmocka_unit_test_setup(a_bounce_starts_the_proof_anew, fresh),
		cmocka_unit_test_setup(
			the_minimum_off_time_starts_with_the_proof, fresh),
		cmocka_unit_test_setup(
			on_while_it_still_falls_waits_for_the_proof, fresh),
		cmocka_unit_test_setup(off_takes_it_out_of_the_queue, fresh),
		cmocka_unit_test_setup(
			a_rail_with_voltage_before_its_gate_opens_is_refused,
			fresh),
		cmocka_unit_test_setup(a_rail_that_does_not_rise_times_out,
				       fresh),
		cmocka_unit_test_setup(
			spinning_up_ends_one_second_after_the_current_calms,
			fresh),
		cmocka_unit_test_setup(
			spinning_up_ends_after_15_seconds_at_the_latest, fresh),
		cmocka_unit_test_setup(
			over_current_opens_both_gates_and_latches, fresh),
		cmocka_unit_test_setup(
			inrush_within_the_blanking_is_not_over_current, fresh),
		cmocka_unit_test_setup(clearing_needs_the_fault_and_its_event,
				       fresh),
		cmocka_unit_test_setup(
			three_trips_lock_until_cleared_with_the_serial, fresh),
		cmocka_unit_test_setup(undervoltage_is_a_fault_after_50_ms,
				       fresh),
		cmocka_unit_test_setup(
			undervoltage_of_the_input_is_not_the_slots_fault,
			fresh),
		cmocka_unit_test_setup(a_dead_sensor_is_a_fault_while_on,
				       fresh),
		cmocka_unit_test_setup(a_dead_sensor_makes_off_unknown_and_back,
				       fresh),
		cmocka_unit_test_setup(a_worn_disk_is_not_started_again, fresh),
		cmocka_unit_test_setup(no_sequence_breaks_the_rules, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
