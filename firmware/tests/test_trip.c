#include "firmware/core/trip.h"

#include "firmware/tests/test_limits.h"
#include "firmware/tests/test.h"

#define STEP_US 2500u

struct run {
	struct trip t;
	uint64_t now_us;
};

static slot_fault feed(struct run *r, int32_t ma_5v, int32_t ma_12v,
		       uint32_t ms)
{
	slot_fault fault = FAULT_NONE;
	uint64_t end_us = r->now_us + ms * 1000ull;

	while (fault == FAULT_NONE && r->now_us < end_us) {
		struct rail_sample s = { .at_us = r->now_us,
					 .ma = { ma_5v, ma_12v } };

		fault = trip_feed(&r->t, &test_defaults.slot, &s);
		r->now_us += STEP_US;
	}
	return fault;
}

static struct run fresh(void)
{
	struct run r = { .now_us = 1000000 };

	trip_init(&r.t);
	return r;
}

static void at_the_limit_nothing_trips(void **state)
{
	struct run r = fresh();

	(void)state;
	assert_int_equal(feed(&r, 2500, 3000, 60000), FAULT_NONE);
}

static void five_volts_above_the_limit_trip_after_five_ms(void **state)
{
	struct run r = fresh();
	uint64_t start_us = r.now_us;

	(void)state;
	assert_int_equal(feed(&r, 2501, 0, 100), FAULT_OC_FAST_5V);
	assert_int_equal(r.now_us - start_us, 5000 + STEP_US);
}

static void twelve_volts_above_the_limit_trip(void **state)
{
	struct run r = fresh();

	(void)state;
	assert_int_equal(feed(&r, 0, 4501, 100), FAULT_OC_FAST_12V);
}

static void a_short_peak_does_not_trip(void **state)
{
	struct run r = fresh();

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(feed(&r, 0, 6000, 5), FAULT_NONE);
		assert_int_equal(feed(&r, 0, 100, 20), FAULT_NONE);
	}
}

static void blanking_hides_the_inrush_and_then_ends(void **state)
{
	struct run r = fresh();

	(void)state;
	trip_blank(&r.t, r.now_us + 20000);
	assert_int_equal(feed(&r, 0, 9000, 20), FAULT_NONE);
	assert_int_equal(feed(&r, 0, 9000, 20), FAULT_OC_FAST_12V);
}

static void blanking_does_not_come_back_when_the_clock_half_wraps(void **state)
{
	struct run r = fresh();

	(void)state;
	trip_blank(&r.t, r.now_us + 20000);
	assert_int_equal(feed(&r, 0, 100, 30), FAULT_NONE);
	r.now_us += 0x90000000ull;
	assert_int_equal(feed(&r, 0, 9000, 20), FAULT_OC_FAST_12V);
}

/* Returns the milliseconds until the i2t limit trips. */
static uint32_t heat_ms(int32_t ma)
{
	struct run r = fresh();
	uint64_t start_us = r.now_us;

	assert_int_equal(feed(&r, 0, ma, 60000), FAULT_OC_I2T_12V);
	return (uint32_t)((r.now_us - start_us) / 1000);
}

static void heat_trips_sooner_with_the_square_of_the_current(void **state)
{
	(void)state;
	assert_in_range(heat_ms(3010), 14800, 15010);
	assert_in_range(heat_ms(4243), 7480, 7520);
}

static void spinning_up_does_not_heat(void **state)
{
	struct run r = fresh();

	(void)state;
	assert_int_equal(feed(&r, 800, 2800, 20000), FAULT_NONE);
}

static void heat_is_forgotten_at_low_current(void **state)
{
	struct run r = fresh();

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(feed(&r, 0, 3500, 8000), FAULT_NONE);
		assert_int_equal(feed(&r, 0, 300, 20000), FAULT_NONE);
	}
}

static void three_trips_in_ten_minutes_lock(void **state)
{
	struct trip_log l = { 0 };

	(void)state;
	assert_false(trip_log_add(&l, 1000000));
	assert_false(trip_log_add(&l, 300000000));
	assert_true(trip_log_add(&l, 600000000));
}

static void three_trips_in_a_longer_time_do_not_lock(void **state)
{
	struct trip_log l = { 0 };

	(void)state;
	for (uint64_t i = 1; i < 20; i++)
		assert_false(trip_log_add(&l, i * 302000000));
}

static void forgiven_trips_do_not_count(void **state)
{
	struct trip_log l = { 0 };

	(void)state;
	trip_log_add(&l, 1000000);
	trip_log_add(&l, 2000000);
	trip_log_forgive(&l);
	assert_false(trip_log_add(&l, 3000000));
	assert_int_equal(l.count, 3);
}

static void a_reading_beyond_16_bits_is_held_at_their_end(void **state)
{
	(void)state;
	assert_int_equal(rail_narrow(-5), -5);
	assert_int_equal(rail_narrow(40000), INT16_MAX);
	assert_int_equal(rail_narrow(-40000), INT16_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_beyond_16_bits_is_held_at_their_end),
		cmocka_unit_test(at_the_limit_nothing_trips),
		cmocka_unit_test(five_volts_above_the_limit_trip_after_five_ms),
		cmocka_unit_test(twelve_volts_above_the_limit_trip),
		cmocka_unit_test(a_short_peak_does_not_trip),
		cmocka_unit_test(blanking_hides_the_inrush_and_then_ends),
		cmocka_unit_test(
			blanking_does_not_come_back_when_the_clock_half_wraps),
		cmocka_unit_test(
			heat_trips_sooner_with_the_square_of_the_current),
		cmocka_unit_test(spinning_up_does_not_heat),
		cmocka_unit_test(heat_is_forgotten_at_low_current),
		cmocka_unit_test(three_trips_in_ten_minutes_lock),
		cmocka_unit_test(three_trips_in_a_longer_time_do_not_lock),
		cmocka_unit_test(forgiven_trips_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
