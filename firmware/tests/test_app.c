/* The whole rig against a host, in virtual time. */
#include "firmware/tests/sim.h"

#include "firmware/tests/test.h"

static int fresh(void **state)
{
	(void)state;
	sim_start();
	sim_connect();
	return 0;
}

static void all_proven_off(void)
{
	for (unsigned i = 0; i < 8; i++)
		sim_until(i, SLOT_OFF, 1000);
}

static unsigned gates_on(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 16; i++)
		n += sim.gate[i];
	return n;
}

/* ---- session and commands ---- */

static void hello_tells_who_is_there(void **state)
{
	const struct control_info *i = &sim.host.info;

	(void)state;
	assert_string_equal(i->board, "posix");
	assert_string_equal(i->firmware, BAY_VERSION);
	assert_int_equal(i->slots, 8);
	assert_int_equal(i->reset_cause, RESET_POWER);
	assert_int_equal(i->boot_id, 1);
	assert_int_equal(i->config_generation, 0);
	assert_true(i->last_event >= 1);
	assert_int_equal(i->fault_mask, 0);
}

static void info_says_the_same_as_hello(void **state)
{
	(void)state;
	assert_int_equal(sim_simple(Command_get_info_tag), RIG_OK);
	assert_string_equal(sim.host.result.body.info.board, "posix");
	assert_int_equal(sim.host.result.body.info.config_crc,
			 sim.host.info.config_crc);
}

static void what_was_not_measured_has_no_reading(void **state)
{
	const SlotStatus *st = sim_status(0);

	(void)state;
	assert_int_equal(st->state, SLOT_UNKNOWN);
	assert_false(st->has_v5 || st->has_v12);
	all_proven_off();
	st = sim_status(0);
	assert_true(st->has_v5 && st->has_v12);
}

static void a_slot_is_switched_on_and_off_with_proof(void **state)
{
	const SlotStatus *st;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_SPINUP, 6000);
	sim_until(0, SLOT_ON, 6000);
	st = sim_status(0);
	assert_in_range(st->v5.mv, 4950, 5050);
	assert_in_range(st->v12.mv, 11900, 12100);
	assert_in_range(st->v12.ma, 300, 400);
	assert_int_equal(sim_set(1, false), RIG_OK);
	assert_int_equal(gates_on(), 0);
	sim_until(0, SLOT_OFF, 1000);
	st = sim_status(0);
	assert_int_equal(st->cycles, 1);
	assert_in_range(st->fall_us, 60000, 120000);
	assert_true(st->residual_5v_mv < 300 && st->residual_12v_mv < 500);
	assert_in_range(st->min_off_left_ms, 4000, 5000);
}

static void a_repeated_command_is_done_once(void **state)
{
	Command c = Command_init_zero;
	uint64_t done_us;

	(void)state;
	all_proven_off();
	c.op_id = 77;
	c.which_body = Command_slot_set_tag;
	c.body.slot_set.mask = 1;
	c.body.slot_set.on = true;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	assert_int_equal(sim.host.result_flags & FRAME_DUP_RESULT, 0);
	done_us = sim.host.result.done_us;
	sim_until(0, SLOT_ON, 10000);
	assert_int_equal(sim_set(1, false), RIG_OK);
	sim_run_ms(10);
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	assert_int_equal(sim.host.result_flags & FRAME_DUP_RESULT,
			 FRAME_DUP_RESULT);
	assert_true(sim.host.result.done_us == done_us);
	assert_int_equal(gates_on(), 0);
	assert_false(sim.app.slot[0].wanted_on);
}

static void an_op_id_for_another_command_is_refused(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	c.op_id = 78;
	c.which_body = Command_all_off_tag;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	c.which_body = Command_slot_set_tag;
	c.body.slot_set.mask = 1;
	c.body.slot_set.on = true;
	assert_int_equal(sim_command(&c)->status, RIG_DUPLICATE);
	assert_false(sim.app.slot[0].wanted_on);
}

static void get_op_knows_the_last_commands_only(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	c.op_id = 79;
	c.which_body = Command_all_off_tag;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	c.op_id = 0;
	c.which_body = Command_get_op_tag;
	c.body.get_op.op_id = 79;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	assert_int_equal(sim.host.result.body.op.status, RIG_OK);
	c.body.get_op.op_id = 80;
	assert_int_equal(sim_command(&c)->status, RIG_UNKNOWN_OP);
}

static void nonsense_is_refused_and_nothing_is_done(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	assert_int_equal(sim_set(0, true), RIG_RANGE);
	assert_int_equal(sim_set(1u << 8, true), RIG_RANGE);
	assert_int_equal(sim_set(0xffffffff, true), RIG_RANGE);
	c.which_body = Command_get_status_tag;
	c.body.get_status.slot = 8;
	assert_int_equal(sim_command(&c)->status, RIG_RANGE);
	c.which_body = Command_telemetry_set_tag;
	c.body.telemetry_set.period_ms = 19;
	assert_int_equal(sim_command(&c)->status, RIG_RANGE);
	c.which_body = Command_arm_silence_tag;
	c.body.arm_silence.mask = 1;
	c.body.arm_silence.policy = (silence_policy)9;
	assert_int_equal(sim_command(&c)->status, RIG_RANGE);
	c.which_body = 0;
	assert_int_equal(sim_command(&c)->status, RIG_UNSUPPORTED);
}

static void one_slot_that_refuses_stops_the_whole_set(void **state)
{
	(void)state;
	all_proven_off();
	slot_trip(&sim.app.slot[3], FAULT_OVERTEMP, sim.now_us);
	assert_int_equal(sim_set(0x0f, true), RIG_FAULT);
	assert_int_equal(sim.host.result.detail, 3);
	for (unsigned i = 0; i < 8; i++)
		assert_false(sim.app.slot[i].wanted_on);
}

static void all_off_works_as_a_command_and_on_the_link(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(3, true), RIG_OK);
	sim_until(1, SLOT_ON, 20000);
	assert_int_equal(gates_on(), 4);
	assert_int_equal(sim_simple(Command_all_off_tag), RIG_OK);
	assert_int_equal(gates_on(), 0);
	sim_until(0, SLOT_OFF, 1000);
	sim_until(1, SLOT_OFF, 1000);
	assert_int_equal(sim_set(3, true), RIG_OK);
	sim_until(1, SLOT_ON, 20000);
	session_all_off(&sim.host.session, sim.now_us);
	sim_run_ms(100);
	assert_true(sim.host.all_off_done);
	assert_int_equal(gates_on(), 0);
}

static void an_edge_is_made_at_its_time(void **state)
{
	Command c = Command_init_zero;
	const Event *e;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	c.which_body = Command_slot_set_tag;
	c.body.slot_set.mask = 1;
	c.body.slot_set.at_us = sim.now_us + 1000;
	assert_int_equal(sim_command(&c)->status, RIG_TOO_LATE);
	c.body.slot_set.at_us = sim.now_us + 500000;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	sim_run_ms(400);
	assert_int_equal(gates_on(), 2);
	sim_run_ms(200);
	assert_int_equal(gates_on(), 0);
	e = sim_last_event(EVENT_GATE);
	assert_non_null(e);
	assert_in_range(e->at_us, c.body.slot_set.at_us,
			c.body.slot_set.at_us + 500);
	assert_true(e->op_id == sim.host.result.op_id);
}

/* ---- budget ---- */

static void spin_ups_are_staggered_under_the_budget(void **state)
{
	uint32_t spinning_most = 0;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(0xff, true), RIG_OK);
	for (unsigned n = 0; n < 4000; n++) {
		uint32_t spinning = 0;
		int32_t ma = 0;

		sim_run_ms(10);
		for (unsigned i = 0; i < 8; i++) {
			spinning += sim.app.slot[i].state == SLOT_SPINUP;
			ma += sim.parts.rail[2 * i + 1].iout_ma;
		}
		if (spinning > spinning_most)
			spinning_most = spinning;
		assert_true(ma <= 14000);
	}
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(sim.app.slot[i].state, SLOT_ON);
	assert_in_range(spinning_most, 2, 4);
}

static void the_queue_is_served_in_the_order_of_asking(void **state)
{
	(void)state;
	sim.app.config.rig.budget_12v_ma = 4500;
	all_proven_off();
	sim_run_ms(5000);
	assert_int_equal(sim_set(1u << 5, true), RIG_OK);
	sim_run_ms(20);
	assert_int_equal(sim_set(1u << 2, true), RIG_OK);
	sim_run_ms(20);
	assert_int_equal(sim_set(1u << 0, true), RIG_OK);
	sim_until(5, SLOT_SPINUP, 6000);
	sim_run_ms(1000);
	assert_int_equal(sim.app.slot[2].state, SLOT_QUEUED);
	sim_until(2, SLOT_SPINUP, 6000);
	sim_run_ms(1000);
	assert_int_equal(sim.app.slot[0].state, SLOT_QUEUED);
	sim_until(0, SLOT_ON, 12000);
}

/* ---- faults ---- */

static void over_current_trips_and_keeps_its_trace(void **state)
{
	Command c = Command_init_zero;
	const Event *e;
	const Trace *t = &sim.host.result.body.trace;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	sim_run_ms(500);
	sim.disk[0].ma[RAIL_12V] = 5000;
	assert_in_range(sim_until(0, SLOT_FAULT, 100), 5, 11);
	sim_run_ms(300);
	e = sim_last_event(EVENT_FAULT);
	assert_non_null(e);
	assert_int_equal(e->fault, FAULT_OC_FAST_12V);
	assert_in_range(e->ma_12v, 4940, 5060);
	assert_int_equal(sim_status(0)->fault_event, e->number);
	c.which_body = Command_trace_get_tag;
	c.body.trace_get.first = 32;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	assert_int_equal(t->points.size, 32 * 4);
	assert_int_equal(t->event, e->number);
	/* The last one before the trip has the current that tripped. */
	assert_in_range(t->points.bytes[31 * 4 + 2], 154, 158);
	assert_in_range(t->points.bytes[10 * 4 + 2], 9, 12);
	c.body.trace_get.first = 64;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	assert_int_equal(t->points.size, 32 * 4);
	assert_true((t->points.bytes[31 * 4 + 3] & 15) < 4);
	c.body.trace_get.slot = 1;
	assert_int_equal(sim_command(&c)->status, RIG_STATE);
}

static rig_status clear_fault(unsigned slot, const char *serial)
{
	Command c = Command_init_zero;

	c.which_body = Command_clear_fault_tag;
	c.body.clear_fault.slot = slot;
	c.body.clear_fault.fault = sim.app.slot[slot].fault;
	c.body.clear_fault.event = sim.app.slot[slot].fault_event;
	strcpy(c.body.clear_fault.serial, serial);
	return sim_command(&c)->status;
}

static void a_fault_is_cleared_by_its_event(void **state)
{
	(void)state;
	all_proven_off();
	sim.disk[2].back_feed = true;
	assert_int_equal(sim_set(4, true), RIG_OK);
	sim_until(2, SLOT_FAULT, 20000);
	assert_int_equal(sim.app.slot[2].fault, FAULT_PRECHECK);
	assert_int_equal(clear_fault(2, ""), RIG_OK);
	sim_until(2, SLOT_FAULT, 6000);
	assert_int_equal(sim.app.slot[2].fault, FAULT_NO_DISCHARGE);
	sim.disk[2].back_feed = false;
	assert_int_equal(clear_fault(2, ""), RIG_OK);
	sim_until(2, SLOT_OFF, 6000);
}

static void a_hot_board_switches_off_and_starts_nothing(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	sim.parts.thermometer.mdegc = 72000;
	sim_run_ms(1100);
	assert_int_equal(sim_last_event(EVENT_TEMPERATURE)->value, 72000);
	assert_int_equal(gates_on(), 2);
	sim.parts.thermometer.mdegc = 86000;
	sim_run_ms(600);
	assert_int_equal(gates_on(), 0);
	assert_int_equal(sim.app.slot[0].fault, FAULT_OVERTEMP);
	assert_int_equal(sim_set(2, true), RIG_OK);
	sim_run_ms(20000);
	assert_int_equal(sim.app.slot[1].state, SLOT_QUEUED);
	sim.parts.thermometer.mdegc = 40000;
	sim_until(1, SLOT_ON, 20000);
}

static void without_its_thermometer_nothing_stays_on(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	sim.parts.thermometer.present = false;
	sim_run_ms(4000);
	assert_int_equal(gates_on(), 0);
}

static void a_sagging_input_sheds_the_newest_slot_first(void **state)
{
	const Event *e;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	assert_int_equal(sim_set(2, true), RIG_OK);
	sim_until(1, SLOT_ON, 20000);
	sim.vin_percent = 85;
	sim_run_ms(60);
	assert_int_equal(sim.app.slot[0].state, SLOT_ON);
	assert_false(slot_is_powered(&sim.app.slot[1]));
	sim.vin_percent = 100;
	sim_run_ms(500);
	e = sim_last_event(EVENT_SHED);
	assert_non_null(e);
	assert_int_equal(e->slot, 1);
	assert_int_equal(sim.app.slot[0].state, SLOT_ON);
	/* And if that does not help, all of them. */
	sim.vin_percent = 80;
	sim_run_ms(300);
	assert_int_equal(gates_on(), 0);
}

static void a_monitor_that_dies_takes_its_slot_down_only(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(3, true), RIG_OK);
	sim_until(1, SLOT_ON, 20000);
	sim_until(0, SLOT_ON, 20000);
	sim.parts.rail[1].present = false;
	sim_run_ms(50);
	assert_int_equal(sim.app.slot[0].fault, FAULT_SENSOR);
	assert_int_equal(sim.app.slot[1].state, SLOT_ON);
}

/* ---- the host ---- */

static void arm(uint32_t mask, silence_policy policy)
{
	Command c = Command_init_zero;

	c.which_body = Command_arm_silence_tag;
	c.body.arm_silence.mask = mask;
	c.body.arm_silence.policy = policy;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
}

static void a_host_that_pings_is_never_late(void **state)
{
	(void)state;
	arm(0xff, SILENCE_OFF_NOW);
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_run_ms(60000);
	assert_int_equal(gates_on(), 2);
	assert_null(sim_last_event(EVENT_HOST_LATE));
}

static void a_silent_host_is_reported_when_it_is_back(void **state)
{
	(void)state;
	arm(1, SILENCE_OFF_NOW);
	all_proven_off();
	assert_int_equal(sim_set(3, true), RIG_OK);
	sim_until(1, SLOT_ON, 20000);
	sim_until(0, SLOT_ON, 20000);
	sim.host.silent = true;
	sim_run_ms(5200);
	/* Slot 0 goes off at once, slot 1 holds. */
	assert_int_equal(gates_on(), 2);
	assert_false(slot_is_powered(&sim.app.slot[0]));
	sim.host.silent = false;
	sim.host.up = false;
	sim_connect();
	sim_run_ms(500);
	assert_non_null(sim_last_event(EVENT_HOST_LATE));
	assert_non_null(sim_last_event(EVENT_HOST_LOST));
	assert_in_range(sim_last_event(EVENT_HOST_LOST)->value, 5000, 5010);
	assert_int_equal(sim.app.slot[1].state, SLOT_ON);
}

static void nothing_new_starts_without_the_host(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	assert_int_equal(sim.app.slot[0].state, SLOT_QUEUED);
	sim.app.config.slot[0].min_off_ms = 20000;
	sim.host.silent = true;
	sim_run_ms(40000);
	assert_int_equal(sim.app.slot[0].state, SLOT_QUEUED);
	sim.host.silent = false;
	sim.host.up = false;
	sim_connect();
	sim_until(0, SLOT_ON, 10000);
}

static void events_come_in_order_without_gaps_or_twice(void **state)
{
	(void)state;
	all_proven_off();
	for (unsigned n = 0; n < 5; n++) {
		assert_int_equal(sim_set(0xff, true), RIG_OK);
		sim_run_ms(30000);
		assert_int_equal(sim_set(0xff, false), RIG_OK);
		sim_run_ms(3000);
	}
	assert_true(sim.host.events > 300);
	for (uint32_t i = 0; i < sim.host.events; i++)
		assert_int_equal(sim.host.event[i].number, i + 1);
}

static void events_can_be_asked_for_again(void **state)
{
	Command c = Command_init_zero;
	uint32_t events;

	(void)state;
	all_proven_off();
	sim_run_ms(500);
	events = sim.host.events;
	c.which_body = Command_events_since_tag;
	c.body.events_since.number = events - 3;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	sim_run_ms(500);
	assert_int_equal(sim.host.events, events + 3);
	assert_int_equal(sim.host.event[events].number, events - 2);
}

static void telemetry_comes_from_each_slot_in_each_period(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	c.which_body = Command_telemetry_set_tag;
	c.body.telemetry_set.period_ms = 500;
	c.body.telemetry_set.mask = 0xff;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	sim_run_ms(10200);
	for (unsigned i = 0; i < 8; i++)
		assert_in_range(sim.host.telemetry[i], 18, 20);
	c.body.telemetry_set.mask = 1;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	sim_run_ms(1100);
	assert_int_equal(sim.host.last_telemetry.slot, 0);
	assert_in_range(sim.host.last_telemetry.v12.mv_mean, 11900, 12100);
	assert_in_range(sim.host.last_telemetry.v12.ma_mean, 300, 400);
	assert_in_range(sim.host.last_telemetry.length_us, 499000, 502000);
	assert_in_range(sim.host.last_telemetry.samples, 190, 202);
	/* 4.2 W for a while, and it grows. */
	assert_true(sim.host.last_telemetry.v12.energy_uj > 40000000);
	assert_int_equal(sim.host.last_telemetry.dropped, 0);
}

static void telemetry_that_does_not_fit_is_dropped_and_counted(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	all_proven_off();
	c.which_body = Command_telemetry_set_tag;
	c.body.telemetry_set.period_ms = 20;
	c.body.telemetry_set.mask = 0xff;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	sim_run_ms(5000);
	assert_true(sim.host.last_telemetry.dropped > 0);
	/* Commands still get through. */
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
}

/* ---- configuration ---- */

static rig_status begin(uint32_t generation, uint32_t slots)
{
	Command c = Command_init_zero;

	c.which_body = Command_config_begin_tag;
	c.body.config_begin.generation = generation;
	c.body.config_begin.slots = slots;
	return sim_command(&c)->status;
}

static rig_status put_slot(const SlotConfig *slot)
{
	Command c = Command_init_zero;

	c.which_body = Command_config_slot_tag;
	c.body.config_slot = *slot;
	return sim_command(&c)->status;
}

static rig_status commit(uint32_t generation, uint32_t crc)
{
	Command c = Command_init_zero;

	c.which_body = Command_config_commit_tag;
	c.body.config_commit.generation = generation;
	c.body.config_commit.crc = crc;
	return sim_command(&c)->status;
}

static void
a_configuration_is_in_force_after_the_commit_and_a_reset(void **state)
{
	struct config c = sim.app.config;
	uint32_t crc;

	(void)state;
	all_proven_off();
	c.slot[1].trip_12v_ma = 4000;
	strcpy(c.slot[1].serial, "BAYV0002");
	crc = config_image_crc(&c);
	assert_int_equal(begin(5, 1), RIG_OK);
	assert_int_equal(put_slot(&c.slot[1]), RIG_OK);
	assert_int_equal(sim.app.config.slot[1].trip_12v_ma, 4500);
	assert_int_equal(commit(5, crc + 1), RIG_CRC);
	assert_int_equal(sim.app.config.slot[1].trip_12v_ma, 4500);
	assert_int_equal(sim.app.config.generation, 0);
	assert_int_equal(commit(5, crc), RIG_OK);
	assert_int_equal(sim.app.config.slot[1].trip_12v_ma, 4000);
	sim_run_ms(100);
	assert_int_equal(sim_last_event(EVENT_CONFIG)->value, 5);
	sim_reset(RESET_EXTERNAL);
	assert_int_equal(sim.app.config.generation, 5);
	assert_string_equal(sim.app.config.slot[1].serial, "BAYV0002");
	assert_int_equal(sim.app.config_crc, crc);
}

static void a_bad_configuration_changes_nothing(void **state)
{
	struct config c = sim.app.config;
	uint32_t before = sim.app.config_crc;

	(void)state;
	all_proven_off();
	c.slot[0].min_off_ms = 10;
	assert_int_equal(put_slot(&c.slot[0]), RIG_STATE);
	assert_int_equal(begin(0, 1), RIG_STALE);
	assert_int_equal(begin(1, 9), RIG_RANGE);
	assert_int_equal(begin(1, 1), RIG_OK);
	assert_int_equal(commit(1, config_image_crc(&c)), RIG_STATE);
	assert_int_equal(put_slot(&c.slot[0]), RIG_OK);
	assert_int_equal(put_slot(&c.slot[0]), RIG_INVALID);
	assert_int_equal(commit(2, config_image_crc(&c)), RIG_STALE);
	assert_int_equal(commit(1, config_image_crc(&c)), RIG_RANGE);
	assert_int_equal(sim.host.result.detail, 103);
	assert_int_equal(config_image_crc(&sim.app.config), before);
	assert_int_equal(sim.app.config_crc, before);
}

static void nothing_is_configured_while_a_slot_has_power(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	assert_int_equal(begin(1, 1), RIG_BUSY);
	sim_until(0, SLOT_ON, 20000);
	assert_int_equal(begin(1, 1), RIG_BUSY);
}

static void a_fault_is_not_argued_away_with_new_limits(void **state)
{
	SlotConfig s = sim.app.config.slot[0];

	(void)state;
	all_proven_off();
	slot_trip(&sim.app.slot[0], FAULT_OVERTEMP, sim.now_us);
	assert_int_equal(begin(1, 1), RIG_OK);
	s.trip_ms = 100;
	assert_int_equal(put_slot(&s), RIG_STATE);
}

/* ---- resets ---- */

static void events_survive_a_watchdog_reset(void **state)
{
	uint32_t last;

	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	sim_run_ms(200);
	last = events_last(sim.app.events);
	sim_reset(RESET_WATCHDOG);
	assert_int_equal(gates_on(), 0);
	assert_int_equal(sim.app.slot[0].state, SLOT_UNKNOWN);
	sim.host.up = false;
	sim_connect();
	sim_run_ms(500);
	assert_int_equal(sim.host.info.reset_cause, RESET_WATCHDOG);
	assert_int_equal(sim.host.info.boot_id, 2);
	assert_int_equal(sim_last_event(EVENT_BOOT)->number, last + 1);
	assert_int_equal(sim_last_event(EVENT_BOOT)->value, RESET_WATCHDOG);
	sim_run_ms(20000);
	assert_int_equal(gates_on(), 0);
}

static void the_reset_command_needs_all_slots_off(void **state)
{
	(void)state;
	all_proven_off();
	assert_int_equal(sim_set(1, true), RIG_OK);
	assert_int_equal(sim_simple(Command_reset_tag), RIG_STATE);
	assert_int_equal(sim_set(1, false), RIG_OK);
	assert_int_equal(sim_simple(Command_reset_tag), RIG_OK);
	sim_run_ms(50);
	assert_int_equal(sim.resets, 1);
	assert_int_equal(sim.app.reset, RESET_SOFTWARE);
}

static void configure_restore(unsigned slot)
{
	struct config c = sim.app.config;

	c.slot[slot].restore = true;
	assert_int_equal(begin(1, 1), RIG_OK);
	assert_int_equal(put_slot(&c.slot[slot]), RIG_OK);
	assert_int_equal(commit(1, config_image_crc(&c)), RIG_OK);
}

static void only_a_loss_of_supply_brings_a_slot_back(void **state)
{
	(void)state;
	all_proven_off();
	configure_restore(0);
	assert_int_equal(sim_set(3, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	sim_until(1, SLOT_ON, 20000);
	sim_run_ms(100);
	sim_reset(RESET_WATCHDOG);
	sim_run_ms(20000);
	assert_int_equal(gates_on(), 0);
	/* The watchdog has ended it; what was on at the loss of supply is
	 * what counts. */
	sim.host.up = false;
	sim_connect();
	assert_int_equal(sim_set(3, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	sim_until(1, SLOT_ON, 20000);
	sim_run_ms(100);
	memset(sim.retained, 0x77, sizeof(sim.retained));
	sim_reset(RESET_POWER);
	sim_until(0, SLOT_ON, 20000);
	assert_int_equal(gates_on(), 2);
}

static void the_eeprom_may_be_missing(void **state)
{
	(void)state;
	sim.parts.eeprom.present = false;
	sim_reset(RESET_POWER);
	sim.host.up = false;
	sim_connect();
	all_proven_off();
	assert_int_equal(sim.app.boot_id, 1);
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 20000);
	assert_int_equal(sim_set(1, false), RIG_OK);
	sim_until(0, SLOT_OFF, 2000);
	assert_int_equal(begin(1, 1), RIG_STORAGE);
}

static void a_cut_of_the_eeprom_in_a_commit_leaves_a_configuration(void **state)
{
	bool done = false;

	for (long cut = 0; !done; cut += 7) {
		struct config c;

		fresh(state);
		all_proven_off();
		c = sim.app.config;
		c.slot[0].trip_ms = 9;
		c.generation = 1;
		sim.parts.eeprom.cut_after = cut;
		done = begin(1, 1) == RIG_OK &&
		       put_slot(&c.slot[0]) == RIG_OK &&
		       commit(1, config_image_crc(&c)) == RIG_OK;
		sim.parts.eeprom.cut_after = -1;
		sim.parts.eeprom.present = true;
		sim_reset(RESET_POWER);
		if (sim.app.config.generation) {
			assert_int_equal(sim.app.config.generation, 1);
			assert_int_equal(sim.app.config.slot[0].trip_ms, 9);
		} else {
			assert_false(done);
			assert_int_equal(sim.app.config.slot[0].trip_ms, 5);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hello_tells_who_is_there),
		TEST(info_says_the_same_as_hello),
		TEST(what_was_not_measured_has_no_reading),
		TEST(a_slot_is_switched_on_and_off_with_proof),
		TEST(a_repeated_command_is_done_once),
		TEST(an_op_id_for_another_command_is_refused),
		TEST(get_op_knows_the_last_commands_only),
		TEST(nonsense_is_refused_and_nothing_is_done),
		TEST(one_slot_that_refuses_stops_the_whole_set),
		TEST(all_off_works_as_a_command_and_on_the_link),
		TEST(an_edge_is_made_at_its_time),
		TEST(spin_ups_are_staggered_under_the_budget),
		TEST(the_queue_is_served_in_the_order_of_asking),
		TEST(over_current_trips_and_keeps_its_trace),
		TEST(a_fault_is_cleared_by_its_event),
		TEST(a_hot_board_switches_off_and_starts_nothing),
		TEST(without_its_thermometer_nothing_stays_on),
		TEST(a_sagging_input_sheds_the_newest_slot_first),
		TEST(a_monitor_that_dies_takes_its_slot_down_only),
		TEST(a_host_that_pings_is_never_late),
		TEST(a_silent_host_is_reported_when_it_is_back),
		TEST(nothing_new_starts_without_the_host),
		TEST(events_come_in_order_without_gaps_or_twice),
		TEST(events_can_be_asked_for_again),
		TEST(telemetry_comes_from_each_slot_in_each_period),
		TEST(telemetry_that_does_not_fit_is_dropped_and_counted),
		TEST(a_configuration_is_in_force_after_the_commit_and_a_reset),
		TEST(a_bad_configuration_changes_nothing),
		TEST(nothing_is_configured_while_a_slot_has_power),
		TEST(a_fault_is_not_argued_away_with_new_limits),
		TEST(events_survive_a_watchdog_reset),
		TEST(the_reset_command_needs_all_slots_off),
		TEST(only_a_loss_of_supply_brings_a_slot_back),
		TEST(the_eeprom_may_be_missing),
		TEST(a_cut_of_the_eeprom_in_a_commit_leaves_a_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
