#include "host/rig/timefit.h"

#include <math.h>

#include "proto/link/tests/cmocka_all.h"
#include "proto/link/tests/pair.h"

#define OFFSET_US 123456789.0
#define RATE      (1.0 + 40e-6)

static double rig_time(double host_us)
{
	return OFFSET_US + host_us * RATE;
}

/* One ping at a host time, with these delays on the way. */
static void ping(struct timefit *t, double at_us, double out_us, double back_us)
{
	struct control_stamps s = {
		.host_sent_us = (uint64_t)at_us,
		.rig_rx_us = (uint64_t)rig_time(at_us + out_us),
		.rig_tx_us = (uint64_t)rig_time(at_us + out_us + 30),
		.host_rx_us = (uint64_t)(at_us + out_us + 30 + back_us),
	};

	timefit_add(t, &s);
}

static void eight_samples_make_it_valid(void **state)
{
	struct timefit t;

	(void)state;
	timefit_init(&t, 0, 0);
	for (unsigned i = 0; i < 8; i++) {
		assert_false(timefit_is_valid(&t));
		ping(&t, 1e6 + i * 20e3, 100, 100);
	}
	assert_true(timefit_is_valid(&t));
	assert_true(fabs(timefit_to_rig_us(&t, 1.1e6) - rig_time(1.1e6)) < 10);
}

/* Most pings are delayed one way only, by up to 20 ms: the best quarter does
 * not notice. */
static void offset_and_rate_are_found_among_delayed_samples(void **state)
{
	struct rng rng = { 99 };
	struct timefit t;
	double host = 5e6, error;

	(void)state;
	timefit_init(&t, 0, 0);
	for (unsigned i = 0; i < 200; i++) {
		double late = i % 3 ? rng_next(&rng) % 20000 : 0;

		host += 980e3;
		ping(&t, host, 150 + late, 150 + rng_next(&rng) % 20);
	}
	assert_true(fabs(t.rate - RATE) < 2e-6);
	error = fabs(timefit_to_host_us(&t, rig_time(host + 1e6)) -
		     (host + 1e6));
	assert_true(error <= timefit_bound_us(&t, host + 1e6));
	assert_true(timefit_bound_us(&t, host + 1e6) < 250);
}

static void the_bound_grows_with_age(void **state)
{
	struct rng rng = { 5 };
	struct timefit t;
	double host = 0;

	(void)state;
	timefit_init(&t, 0, 0);
	for (unsigned i = 0; i < 64; i++) {
		host += 980e3;
		ping(&t, host, 100 + rng_next(&rng) % 50, 100);
	}
	assert_true(timefit_bound_us(&t, host + 3600e6) >
		    timefit_bound_us(&t, host));
}

/* 26 bytes out and 43 back at 115200 baud are known, so they are no error. */
static void known_byte_times_are_taken_off(void **state)
{
	double byte = 10e6 / 115200;
	struct timefit t;

	(void)state;
	timefit_init(&t, 26 * byte, 43 * byte);
	for (unsigned i = 0; i < 8; i++)
		ping(&t, 1e6 + i * 20e3, 26 * byte + 50, 43 * byte + 50);
	assert_true(fabs(timefit_to_rig_us(&t, 1.1e6) - rig_time(1.1e6)) < 10);
	assert_true(timefit_bound_us(&t, 1.1e6) < 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_samples_make_it_valid),
		cmocka_unit_test(
			offset_and_rate_are_found_among_delayed_samples),
		cmocka_unit_test(the_bound_grows_with_age),
		cmocka_unit_test(known_byte_times_are_taken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
