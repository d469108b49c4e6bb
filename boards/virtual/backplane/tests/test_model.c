#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "boards/virtual/backplane/model.h"

#define MS 1000ull

static const struct bp_disk_state disk_on = {
	true, false, BP_DISK_ON, 10, { 450, 350 }
};
static const struct bp_disk_state disk_spinup = {
	true, false, BP_DISK_SPINUP, 10, { 700, 2100 }
};

/* Run in steps of 5 ms, as the process does. */
static void run_ms(struct bp_model *m, unsigned int ms)
{
	for (unsigned int i = 0; i < ms; i += 5)
		bp_model_advance(m, m->now_us + 5 * MS);
}

static void gates(struct bp_model *m, unsigned int slot, bool on)
{
	bp_model_gate(m, slot, BP_5V, on, m->now_us);
	bp_model_gate(m, slot, BP_12V, on, m->now_us);
}

static void bring_up(struct bp_model *m, unsigned int slot)
{
	gates(m, slot, true);
	run_ms(m, 50);
	bp_model_disk(m, slot, &disk_on);
	run_ms(m, 5);
	assert_true(bp_model_outputs(m, slot)->present);
}

static void plant(struct bp_model *m, unsigned int slot, const char *text)
{
	char err[128];
	struct bp_fault f = { .slot = slot };

	assert_int_equal(bp_fault_parse(&f, text, err, sizeof(err)), 0);
	assert_int_equal(bp_model_plant(m, &f), 0);
}

static void everything_is_off_at_first(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 0xff, 0);
	run_ms(&m, 100);
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		const struct bp_outputs *o = bp_model_outputs(&m, i);

		assert_int_equal(o->mv[BP_5V], 0);
		assert_int_equal(o->ma[BP_12V], 0);
		assert_int_equal(o->vin_mv[BP_12V], 12000);
		assert_false(o->disk_power);
		assert_false(o->present);
		assert_true(o->activity);
	}
	assert_false(bp_model_moving(&m));
}

static void disk_runs_only_on_both_rails(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bp_model_gate(&m, 0, BP_5V, true, 0);
	run_ms(&m, 50);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_5V], 5000);
	assert_false(bp_model_outputs(&m, 0)->disk_power);
	bp_model_gate(&m, 0, BP_12V, true, m.now_us);
	run_ms(&m, 50);
	assert_true(bp_model_outputs(&m, 0)->disk_power);
}

static void empty_slot_draws_nothing(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 0, 0);
	gates(&m, 0, true);
	run_ms(&m, 50);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 12000);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 0);
	assert_false(bp_model_outputs(&m, 0)->disk_power);
}

static void guest_sees_the_disk_once_it_has_spun_up(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	gates(&m, 0, true);
	run_ms(&m, 50);
	bp_model_disk(&m, 0, &disk_spinup);
	run_ms(&m, 50);
	assert_false(bp_model_outputs(&m, 0)->present);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 2100);
	bp_model_disk(&m, 0, &disk_on);
	run_ms(&m, 5);
	assert_true(bp_model_outputs(&m, 0)->present);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 350);
}

static void power_off_takes_the_disk_within_10_ms(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	gates(&m, 0, false);
	run_ms(&m, 10);
	assert_false(bp_model_outputs(&m, 0)->disk_power);
	assert_false(bp_model_outputs(&m, 0)->present);
}

/* tau 40 ms: 90 to 10 % takes ln 9 x 40 = 88 ms. */
static void rail_falls_with_its_time_constant(void **state)
{
	struct bp_model m;
	uint64_t t90 = 0;
	uint64_t t10 = 0;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	gates(&m, 0, false);
	while (!t10) {
		bp_model_advance(&m, m.now_us + MS);
		if (!t90 && bp_model_outputs(&m, 0)->mv[BP_5V] < 4500)
			t90 = m.now_us;
		if (bp_model_outputs(&m, 0)->mv[BP_5V] < 500)
			t10 = m.now_us;
	}
	assert_in_range(t10 - t90, 86 * MS, 90 * MS);
	run_ms(&m, 1000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_5V], 0);
	assert_false(bp_model_moving(&m));
}

static void
state_from_before_a_power_cut_does_not_bring_the_disk_back(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	gates(&m, 0, false);
	run_ms(&m, 100);
	gates(&m, 0, true);
	run_ms(&m, 100);
	assert_true(bp_model_outputs(&m, 0)->disk_power);
	assert_false(bp_model_outputs(&m, 0)->present);
	/* Nor is it idle as far as the firmware can tell. */
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 600);
}

static void mcu_reset_opens_every_gate(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 3, 0);
	bring_up(&m, 0);
	bring_up(&m, 1);
	bp_model_gates_off(&m, m.now_us);
	run_ms(&m, 1000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 0);
	assert_int_equal(bp_model_outputs(&m, 1)->mv[BP_5V], 0);
}

static void operations_show_as_a_pulse(void **state)
{
	struct bp_model m;
	struct bp_disk_state d = disk_on;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	d.ops++;
	bp_model_disk(&m, 0, &d);
	assert_true(bp_model_moving(&m));
	run_ms(&m, 5);
	assert_false(bp_model_outputs(&m, 0)->activity);
	run_ms(&m, 5);
	assert_true(bp_model_outputs(&m, 0)->activity);
	run_ms(&m, 5);
	assert_true(bp_model_outputs(&m, 0)->activity);
}

static void time_does_not_run_backwards(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 1000 * MS);
	gates(&m, 0, true);
	bp_model_advance(&m, 1100 * MS);
	bp_model_advance(&m, 5 * MS);
	assert_int_equal(m.now_us, 1100 * MS);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 12000);
}

static void load_warms_the_board(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	assert_int_equal(bp_model_board_mdegc(&m), 28000);
	bring_up(&m, 0);
	run_ms(&m, 120000);
	/* 5 V x 0.45 A + 12 V x 0.35 A = 6.45 W at 350 m degC each */
	assert_in_range(bp_model_board_mdegc(&m), 30150, 30260);
}

static void stuck_switch_keeps_the_rail_up(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "stuck-switch rail=12v");
	gates(&m, 0, false);
	run_ms(&m, 2000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 12000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_5V], 0);
	assert_int_equal(bp_model_clear(&m, 0, NULL), 1);
	run_ms(&m, 2000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 0);
}

static void open_switch_never_rises(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	plant(&m, 0, "open-switch rail=5v");
	gates(&m, 0, true);
	run_ms(&m, 1000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_5V], 0);
	assert_false(bp_model_outputs(&m, 0)->disk_power);
}

static void back_feed_holds_the_residue(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "back-feed rail=5v mv=1700");
	gates(&m, 0, false);
	run_ms(&m, 2000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_5V], 1700);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_5V], 0);
}

static void no_discharge_falls_too_slowly(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "no-discharge");
	gates(&m, 0, false);
	run_ms(&m, 5000);
	assert_true(bp_model_outputs(&m, 0)->mv[BP_12V] > 500);
	assert_true(bp_model_outputs(&m, 0)->mv[BP_5V] > 300);
}

static void over_current_adds_to_one_rail(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "over-current rail=5v ma=3000");
	run_ms(&m, 5);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_5V], 3450);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 350);
	gates(&m, 0, false);
	run_ms(&m, 5);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_5V], 0);
}

static void undervolt_and_sag_lower_the_rail(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 3, 0);
	bring_up(&m, 0);
	plant(&m, 0, "undervolt rail=5v mv=4200");
	plant(&m, BP_ALL_SLOTS, "input-sag percent=10");
	run_ms(&m, 1000);
	assert_in_range(bp_model_outputs(&m, 0)->mv[BP_5V], 4199, 4201);
	assert_in_range(bp_model_outputs(&m, 0)->mv[BP_12V], 10799, 10801);
	assert_int_equal(bp_model_outputs(&m, 1)->vin_mv[BP_12V], 10800);
}

static void dead_disk_is_gone_at_once_and_draws_nothing(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "dead-disk");
	run_ms(&m, 5);
	assert_false(bp_model_outputs(&m, 0)->present);
	assert_false(bp_model_outputs(&m, 0)->disk_power);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 0);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 12000);
}

static void cycle(struct bp_model *m, unsigned int slot)
{
	gates(m, slot, false);
	run_ms(m, 1000);
	gates(m, slot, true);
	run_ms(m, 100);
	bp_model_disk(m, slot, &disk_on);
	run_ms(m, 100);
}

static void no_spin_stalls_from_the_next_power_on(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "no-spin");
	run_ms(&m, 100);
	assert_true(bp_model_outputs(&m, 0)->present);
	cycle(&m, 0);
	assert_false(bp_model_outputs(&m, 0)->present);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 2400);
}

static void no_return_hides_the_disk_after_the_next_power_on(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "no-return");
	run_ms(&m, 100);
	assert_true(bp_model_outputs(&m, 0)->present);
	cycle(&m, 0);
	assert_false(bp_model_outputs(&m, 0)->present);
	assert_int_equal(bp_model_outputs(&m, 0)->ma[BP_12V], 350);
	bp_model_clear(&m, 0, NULL);
	run_ms(&m, 5);
	assert_true(bp_model_outputs(&m, 0)->present);
}

static void frozen_monitor_repeats_its_reading(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	bring_up(&m, 0);
	plant(&m, 0, "frozen-monitor");
	gates(&m, 0, false);
	run_ms(&m, 1000);
	assert_int_equal(bp_model_outputs(&m, 0)->mv[BP_12V], 12000);
	assert_false(bp_model_outputs(&m, 0)->disk_power);
}

static void hot_and_silent_are_faults_of_the_whole_rig(void **state)
{
	struct bp_model m;

	(void)state;
	bp_model_init(&m, 1, 0);
	assert_false(bp_model_silent(&m));
	plant(&m, BP_ALL_SLOTS, "hot mdegc=86000");
	plant(&m, BP_ALL_SLOTS, "silent-link");
	assert_int_equal(bp_model_board_mdegc(&m), 86000);
	assert_true(bp_model_silent(&m));
	assert_int_equal(bp_model_clear(&m, BP_ALL_SLOTS, bp_fault_find("hot")),
			 1);
	assert_int_equal(bp_model_board_mdegc(&m), 28000);
	assert_true(bp_model_silent(&m));
}

static void table_of_planted_faults_can_be_full(void **state)
{
	struct bp_model m;
	struct bp_fault f = { 0 };
	char err[128];
	unsigned int n = 0;

	(void)state;
	bp_model_init(&m, 1, 0);
	for (size_t k = 0; k < bp_fault_kind_count && n < BP_FAULTS_MAX; k++) {
		bp_fault_parse(&f, bp_fault_kinds[k].name, err, sizeof(err));
		for (f.slot = 0; f.slot < BP_SLOTS && n < BP_FAULTS_MAX;
		     f.slot++, n++)
			assert_int_equal(bp_model_plant(&m, &f), 0);
	}
	/* The same again takes no new place, another one finds none. */
	f = m.fault[3];
	assert_int_equal(bp_model_plant(&m, &f), 0);
	f.slot = BP_ALL_SLOTS;
	assert_int_equal(bp_model_plant(&m, &f), -ENOSPC);
	f.slot = BP_SLOTS;
	assert_int_equal(bp_model_plant(&m, &f), -EINVAL);
}

static void bad_fault_descriptions_are_refused_with_a_sentence(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *err;
	} rows[] = {
		{ "", -ENOENT, "no fault of that name: ''" },
		{ "gremlin", -ENOENT, "no fault of that name: 'gremlin'" },
		{ "no-spin rail=5v", -EINVAL,
		  "fault no-spin takes no rail '5v'" },
		{ "back-feed mv=lots", -EINVAL,
		  "mv of fault back-feed is not a number: 'lots'" },
		{ "back-feed mv=", -EINVAL,
		  "mv of fault back-feed is not a number: ''" },
		{ "back-feed mv=99999", -ERANGE,
		  "mv of fault back-feed is outside 1..12000" },
		{ "back-feed ma=1", -EINVAL,
		  "fault back-feed has no parameter 'ma'" },
		{ "back-feed now", -EINVAL,
		  "fault back-feed has no parameter 'now'" },
	};
	struct bp_fault f = { 0 };
	char err[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			bp_fault_parse(&f, rows[i].text, err, sizeof(err)),
			rows[i].rc);
		assert_string_equal(err, rows[i].err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_off_at_first),
		cmocka_unit_test(disk_runs_only_on_both_rails),
		cmocka_unit_test(empty_slot_draws_nothing),
		cmocka_unit_test(guest_sees_the_disk_once_it_has_spun_up),
		cmocka_unit_test(power_off_takes_the_disk_within_10_ms),
		cmocka_unit_test(rail_falls_with_its_time_constant),
		cmocka_unit_test(
			state_from_before_a_power_cut_does_not_bring_the_disk_back),
		cmocka_unit_test(mcu_reset_opens_every_gate),
		cmocka_unit_test(operations_show_as_a_pulse),
		cmocka_unit_test(time_does_not_run_backwards),
		cmocka_unit_test(load_warms_the_board),
		cmocka_unit_test(stuck_switch_keeps_the_rail_up),
		cmocka_unit_test(open_switch_never_rises),
		cmocka_unit_test(back_feed_holds_the_residue),
		cmocka_unit_test(no_discharge_falls_too_slowly),
		cmocka_unit_test(over_current_adds_to_one_rail),
		cmocka_unit_test(undervolt_and_sag_lower_the_rail),
		cmocka_unit_test(dead_disk_is_gone_at_once_and_draws_nothing),
		cmocka_unit_test(no_spin_stalls_from_the_next_power_on),
		cmocka_unit_test(
			no_return_hides_the_disk_after_the_next_power_on),
		cmocka_unit_test(frozen_monitor_repeats_its_reading),
		cmocka_unit_test(hot_and_silent_are_faults_of_the_whole_rig),
		cmocka_unit_test(table_of_planted_faults_can_be_full),
		cmocka_unit_test(
			bad_fault_descriptions_are_refused_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
