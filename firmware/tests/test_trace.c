#include "firmware/core/trace.h"

#include "firmware/tests/test.h"

static void feed(struct trace *t, struct trace_tail *tail, unsigned slot,
		 unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		struct rail_sample s = { .at_us = 1000000 + i * 2000,
					 .mv = { 5000, 12000 },
					 .ma = { (int32_t)i * 20, 320 } };

		trace_feed(t, tail, slot, &s);
	}
}

static void it_keeps_64_samples_before_and_64_after_a_trip(void **state)
{
	struct trace t;
	struct trace_tail tail;
	struct trace_point p[128];

	(void)state;
	trace_init(&t);
	trace_tail_init(&tail);
	feed(&t, &tail, 3, 0, 100);
	trace_freeze(&t, &tail, 3);
	feed(&t, &tail, 3, 100, 100);
	assert_int_equal(trace_read(&t, &tail, 3, 0, p, 128), 64);
	assert_int_equal(p[0].ma_5v, 36);
	assert_int_equal(p[63].ma_5v, 99);
	assert_int_equal(p[63].ma_12v, 10);
	assert_int_equal(p[63].step, 20);
	assert_int_equal(trace_read(&t, &tail, 3, 64, p, 128), 64);
	assert_int_equal(p[0].ma_5v, 100);
	assert_int_equal(p[0].step, 20);
	assert_int_equal(p[63].ma_5v, 163);
	assert_int_equal(trace_read(&t, &tail, 3, 120, p, 128), 8);
	assert_int_equal(p[7].ma_5v, 163);
}

static void it_reads_few_samples_in_their_order(void **state)
{
	struct trace t;
	struct trace_tail tail;
	struct trace_point p[4];

	(void)state;
	trace_init(&t);
	trace_tail_init(&tail);
	feed(&t, &tail, 0, 1, 5);
	trace_freeze(&t, &tail, 0);
	assert_int_equal(trace_read(&t, &tail, 0, 3, p, 4), 2);
	assert_int_equal(p[0].ma_5v, 4);
	assert_int_equal(p[1].ma_5v, 5);
	assert_int_equal(trace_read(&t, &tail, 0, 64, p, 4), 0);
}

static void
a_second_trip_does_not_take_a_tail_that_is_being_filled(void **state)
{
	struct trace a;
	struct trace b;
	struct trace_tail tail;

	(void)state;
	trace_init(&a);
	trace_init(&b);
	trace_tail_init(&tail);
	trace_freeze(&a, &tail, 1);
	feed(&a, &tail, 1, 0, 10);
	trace_freeze(&b, &tail, 2);
	assert_int_equal(tail.slot, 1);
	feed(&a, &tail, 1, 10, 60);
	trace_freeze(&b, &tail, 2);
	assert_int_equal(tail.slot, 2);
	assert_int_equal(tail.count, 0);
}

static void released_it_runs_again(void **state)
{
	struct trace t;
	struct trace_tail tail;

	(void)state;
	trace_init(&t);
	trace_tail_init(&tail);
	trace_freeze(&t, &tail, 5);
	trace_release(&t, &tail, 5);
	assert_false(t.frozen);
	assert_int_equal(tail.slot, TRACE_NOBODY);
	feed(&t, &tail, 5, 0, 3);
	assert_int_equal(t.count, 3);
}

static void voltages_are_finest_around_nominal(void **state)
{
	(void)state;
	assert_int_equal(trace_volts(RAIL_5V, 0), 0);
	assert_int_equal(trace_volts(RAIL_5V, 300), 1);
	assert_int_equal(trace_volts(RAIL_12V, 2400), 2);
	assert_int_equal(trace_volts(RAIL_12V, 10000), 3);
	assert_int_equal(trace_volts(RAIL_5V, 4500), 4);
	assert_int_equal(trace_volts(RAIL_5V, 5000), 9);
	assert_int_equal(trace_volts(RAIL_12V, 13200), 14);
	assert_int_equal(trace_volts(RAIL_12V, 20000), 15);
	assert_int_equal(trace_volts(RAIL_5V, -20), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			it_keeps_64_samples_before_and_64_after_a_trip),
		cmocka_unit_test(it_reads_few_samples_in_their_order),
		cmocka_unit_test(
			a_second_trip_does_not_take_a_tail_that_is_being_filled),
		cmocka_unit_test(released_it_runs_again),
		cmocka_unit_test(voltages_are_finest_around_nominal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
