/* The small pure parts: budget, schedule, silence, temperature. */
#include "firmware/core/budget.h"
#include "firmware/core/schedule.h"
#include "firmware/core/silence.h"
#include "firmware/core/temperature.h"
#include "firmware/core/timesync.h"

#include "firmware/tests/test.h"
#include "firmware/tests/test_limits.h"

#define MS 1000ull
#define S  1000000ull

static void a_budget_holds_for_amperes_and_watts(void **state)
{
	RigConfig cfg = { .budget_12v_ma = 6000,
			  .budget_5v_ma = 2000,
			  .budget_mw = 70000 };
	struct budget_claim c[2] = { { { 1000, 3000 } }, { { 1000, 3000 } } };

	(void)state;
	assert_false(budget_fits(&cfg, c, 2)); /* 82 W */
	cfg.budget_mw = 82000;
	assert_true(budget_fits(&cfg, c, 2));
	c[0].ma[RAIL_5V]++;
	assert_false(budget_fits(&cfg, c, 2));
	c[0].ma[RAIL_5V]--;
	c[1].ma[RAIL_12V]++;
	assert_false(budget_fits(&cfg, c, 2));
	assert_true(budget_fits(&cfg, c, 0));
}

static rig_status add(struct schedule *s, uint64_t at_us, uint64_t op_id)
{
	struct schedule_entry e = { .at_us = at_us, .op_id = op_id, .mask = 1 };

	return schedule_add(s, &e, 1 * S);
}

static void an_edge_in_the_past_or_at_once_is_too_late(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s);
	assert_int_equal(add(&s, 0, 1), RIG_TOO_LATE);
	assert_int_equal(add(&s, 1 * S + 1999, 1), RIG_TOO_LATE);
	assert_int_equal(add(&s, 1 * S + 2000, 1), RIG_OK);
}

static void edges_come_in_the_order_of_their_time(void **state)
{
	struct schedule s;
	struct schedule_entry e;

	(void)state;
	schedule_init(&s);
	assert_true(schedule_next_us(&s) == UINT64_MAX);
	assert_int_equal(add(&s, 5 * S, 5), RIG_OK);
	assert_int_equal(add(&s, 3 * S, 3), RIG_OK);
	assert_int_equal(add(&s, 4 * S, 4), RIG_OK);
	assert_int_equal(add(&s, 9 * S, 9), RIG_OK);
	assert_int_equal(add(&s, 8 * S, 8), RIG_NO_MEMORY);
	assert_true(schedule_next_us(&s) == 3 * S);
	assert_false(schedule_take(&s, 3 * S - 1, &e));
	assert_true(schedule_take(&s, 6 * S, &e));
	assert_int_equal(e.op_id, 3);
	assert_true(schedule_take(&s, 6 * S, &e));
	assert_int_equal(e.op_id, 4);
	assert_true(schedule_take(&s, 6 * S, &e));
	assert_int_equal(e.op_id, 5);
	assert_false(schedule_take(&s, 6 * S, &e));
}

/* ---- silence ---- */

struct quiet {
	struct silence s;
	struct silence_slot slot[8];
	uint64_t now_us;
	struct silence_verdict v;
};

static struct quiet lost(silence_policy policy)
{
	struct quiet q = { .now_us = 100 * S };

	silence_init(&q.s);
	silence_arm(&q.s, 0xff, policy);
	silence_heard(&q.s, q.now_us);
	q.slot[0].powered = true;
	q.slot[1].powered = true;
	return q;
}

/* Poll every 5 ms until a verdict says something; returns the time. */
static uint64_t poll_until_news(struct quiet *q, uint64_t limit_us)
{
	uint64_t end_us = q->now_us + limit_us;

	do {
		q->now_us += 5 * MS;
		q->v = silence_poll(&q->s, &test_defaults.rig, q->slot, 8,
				    q->now_us);
	} while (q->now_us < end_us && !q->v.late && !q->v.lost &&
		 !q->v.off_mask);
	return q->now_us - q->s.heard_us;
}

static void a_silent_host_is_late_then_lost(void **state)
{
	struct quiet q = lost(SILENCE_HOLD);
	uint64_t us;

	(void)state;
	us = poll_until_news(&q, 10 * S);
	assert_in_range(us, 1500 * MS, 1505 * MS);
	assert_true(q.v.late);
	assert_int_equal(q.v.silent_ms, us / 1000);
	us = poll_until_news(&q, 10 * S);
	assert_in_range(us, 5000 * MS, 5005 * MS);
	assert_true(q.v.lost);
	assert_true(silence_forbids_start(&q.s));
	silence_heard(&q.s, q.now_us);
	assert_false(silence_forbids_start(&q.s));
}

static void without_a_host_ever_nothing_happens(void **state)
{
	struct quiet q = lost(SILENCE_OFF_NOW);

	(void)state;
	silence_init(&q.s);
	poll_until_news(&q, 60 * S);
	assert_false(q.v.late || q.v.lost || q.v.off_mask);
}

static void hold_keeps_the_rails_for_15_minutes(void **state)
{
	struct quiet q = lost(SILENCE_HOLD);
	uint64_t us;

	(void)state;
	poll_until_news(&q, 10 * S);
	poll_until_news(&q, 10 * S);
	us = poll_until_news(&q, 1000 * S);
	assert_in_range(us, 905 * S, 906 * S);
	assert_int_equal(q.v.off_mask, 1);
}

static void safe_off_waits_for_two_quiet_seconds(void **state)
{
	struct quiet q = lost(SILENCE_SAFE_OFF);
	uint64_t us;

	(void)state;
	poll_until_news(&q, 10 * S);
	poll_until_news(&q, 10 * S);
	for (unsigned i = 0; i < 40; i++) {
		q.slot[0].edges++;
		q.slot[1].edges++;
		assert_false((poll_until_news(&q, 100 * MS), q.v.off_mask));
	}
	us = poll_until_news(&q, 10 * S);
	/* 5 s silent, 4 s of edges, 2 s quiet */
	assert_in_range(us, 10800 * MS, 11200 * MS);
	assert_int_equal(q.v.off_mask, 1);
	q.slot[0].powered = false;
	us = poll_until_news(&q, 1 * S) - us;
	assert_in_range(us, 100 * MS, 105 * MS);
	assert_int_equal(q.v.off_mask, 2);
}

static void safe_off_does_not_wait_longer_than_30_seconds(void **state)
{
	struct quiet q = lost(SILENCE_SAFE_OFF);
	uint64_t us;

	(void)state;
	q.slot[0].active = true;
	q.slot[1].active = true;
	poll_until_news(&q, 10 * S);
	poll_until_news(&q, 10 * S);
	us = poll_until_news(&q, 100 * S);
	assert_in_range(us, 35 * S, 35 * S + 20 * MS);
}

static void off_now_is_at_once_and_all(void **state)
{
	struct quiet q = lost(SILENCE_OFF_NOW);

	(void)state;
	poll_until_news(&q, 10 * S);
	poll_until_news(&q, 10 * S);
	assert_true(q.v.lost);
	assert_int_equal(q.v.off_mask, 3);
}

static void policies_are_armed_slot_by_slot(void **state)
{
	struct quiet q = lost(SILENCE_HOLD);

	(void)state;
	silence_arm(&q.s, 2, SILENCE_OFF_NOW);
	poll_until_news(&q, 10 * S);
	poll_until_news(&q, 10 * S);
	assert_int_equal(q.v.off_mask, 2);
}

/* ---- the rest ---- */

static void warm_and_hot_have_hysteresis(void **state)
{
	struct temperature t = { 0 };

	(void)state;
	assert_false(temperature_feed(&t, 70000));
	assert_true(temperature_feed(&t, 70100));
	assert_int_equal(t.level, TEMPERATURE_WARM);
	assert_false(temperature_feed(&t, 68000));
	assert_true(temperature_feed(&t, 85100));
	assert_int_equal(t.level, TEMPERATURE_HOT);
	assert_false(temperature_feed(&t, 83000));
	assert_true(temperature_feed(&t, 81000));
	assert_int_equal(t.level, TEMPERATURE_WARM);
	assert_true(temperature_feed(&t, 20000));
	assert_int_equal(t.level, TEMPERATURE_OK);
	assert_true(temperature_feed(&t, 90000));
	assert_int_equal(t.level, TEMPERATURE_HOT);
}

static void a_counter_that_wraps_becomes_a_clock_that_does_not(void **state)
{
	struct timesync t = { 0 };
	uint64_t last = 0;
	uint32_t count = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t now = timesync_extend(&t, count += 0x30000000u);

		assert_true(now == last + 0x30000000u);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_holds_for_amperes_and_watts),
		cmocka_unit_test(an_edge_in_the_past_or_at_once_is_too_late),
		cmocka_unit_test(edges_come_in_the_order_of_their_time),
		cmocka_unit_test(a_silent_host_is_late_then_lost),
		cmocka_unit_test(without_a_host_ever_nothing_happens),
		cmocka_unit_test(hold_keeps_the_rails_for_15_minutes),
		cmocka_unit_test(safe_off_waits_for_two_quiet_seconds),
		cmocka_unit_test(safe_off_does_not_wait_longer_than_30_seconds),
		cmocka_unit_test(off_now_is_at_once_and_all),
		cmocka_unit_test(policies_are_armed_slot_by_slot),
		cmocka_unit_test(warm_and_hot_have_hysteresis),
		cmocka_unit_test(
			a_counter_that_wraps_becomes_a_clock_that_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
