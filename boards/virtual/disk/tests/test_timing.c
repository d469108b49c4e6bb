/* boards/virtual/disk/tests/test_timing.c - the hard disk's clockwork. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boards/virtual/disk/rng.h"
#include "boards/virtual/disk/tests/drive.h"
#include "boards/virtual/disk/timing.h"

#define REV_NS  8333333ull
#define SAMPLES 20000u

static void zoned_cfg(struct vdisk_cfg *cfg)
{
	drive_cfg(cfg);
	cfg->size_bytes = 1000ull << 30;
	cfg->outer_rate = 220000000;
	cfg->inner_rate = 105000000;
}

static void assert_within(double value, double wanted, double share)
{
	if (value < wanted * (1 - share) || value > wanted * (1 + share))
		fail_msg("%g is not within %g %% of %g", value, share * 100,
			 wanted);
}

static void rate_of_each_zone_is_exact(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;

	(void)state;
	zoned_cfg(&cfg);
	timing_init(&t, &cfg, 0);
	for (unsigned z = 0; z < TIMING_ZONES; z++) {
		double wanted = 220e6 + z * (105e6 - 220e6) / 15;
		uint64_t n = 1ull << 30;
		uint64_t ns = timing_transfer_ns(&t, t.start_byte[z], n);

		assert_within((double)n * 1e9 / (double)ns, wanted, 0.001);
	}
}

static void sequential_pieces_add_up_to_the_whole(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;
	uint64_t sum = 0;

	(void)state;
	zoned_cfg(&cfg);
	timing_init(&t, &cfg, 12345);
	for (uint64_t at = 0; at < 4096 * 1000; at += 4096)
		sum += timing_transfer_ns(&t, at, 4096);
	assert_int_equal(sum, timing_transfer_ns(&t, 0, 4096 * 1000));
}

static void next_byte_on_time_needs_no_wait(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;
	uint64_t now;

	(void)state;
	zoned_cfg(&cfg);
	timing_init(&t, &cfg, 777);
	now = 5000 + timing_position_ns(&t, 0, 1 << 20, 5000);
	for (uint64_t at = 1 << 20; at < 100 << 20; at += 1 << 20) {
		assert_int_equal(timing_position_ns(&t, at, at, now), 0);
		now += timing_transfer_ns(&t, at, 1 << 20);
	}
}

static void a_late_next_byte_costs_the_rest_of_a_turn(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;
	uint64_t now;

	(void)state;
	zoned_cfg(&cfg);
	timing_init(&t, &cfg, 0);
	now = timing_position_ns(&t, 0, 4096, 0);
	assert_int_equal(timing_position_ns(&t, 4096, 4096, now + 1000),
			 REV_NS - 1000);
}

static void seek_follows_the_curve(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;
	uint64_t size;

	(void)state;
	drive_cfg(&cfg);
	size = cfg.size_bytes;
	timing_init(&t, &cfg, 0);
	assert_int_equal(timing_seek_ns(&t, 4096, 4096), 0);
	assert_within((double)timing_seek_ns(&t, 0, size / 3), 8.5e6, 0.001);
	assert_within((double)timing_seek_ns(&t, size, 0), 16e6, 0.001);
	assert_within((double)timing_seek_ns(&t, size / 2, size / 2 + 4096),
		      0.8e6, 0.15);
}

/* Expectations of power-fault.md: uniform pairs seek 8.1 ms on the average,
 * and half a turn comes on top. */
static void random_access_takes_the_expected_time(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;
	struct rng rng;
	uint64_t head = 0;
	uint64_t now = 0;
	uint64_t seek = 0;

	(void)state;
	drive_cfg(&cfg);
	timing_init(&t, &cfg, 0);
	rng_init(&rng, 1, "timing");
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t to =
			rng_below(&rng, RNG_CUT, cfg.size_bytes / 4096) * 4096;

		seek += timing_seek_ns(&t, head, to);
		now += timing_position_ns(&t, head, to, now);
		head = to;
	}
	assert_within((double)seek / SAMPLES, 8.1e6, 0.01);
	assert_within((double)now / SAMPLES, 8.1e6 + 4.17e6, 0.01);
}

static void rate_0_takes_no_time(void **state)
{
	struct vdisk_cfg cfg;
	struct timing t;

	(void)state;
	drive_cfg(&cfg);
	cfg.outer_rate = 0;
	cfg.inner_rate = 0;
	timing_init(&t, &cfg, 99);
	assert_int_equal(timing_position_ns(&t, 0, MIB, 17), 0);
	assert_int_equal(timing_transfer_ns(&t, 0, MIB), 0);
}

static void a_family_of_draws_shifts_no_other(void **state)
{
	struct rng a;
	struct rng b;

	(void)state;
	rng_init(&a, 7, "D");
	rng_init(&b, 7, "D");
	rng_draw(&b, RNG_LIE);
	assert_int_equal(rng_draw(&a, RNG_CUT), rng_draw(&b, RNG_CUT));
	assert_int_not_equal(rng_draw(&a, RNG_CUT), rng_draw(&a, RNG_CUT));
	rng_init(&b, 7, "E");
	assert_int_not_equal(rng_draw(&a, RNG_MOTOR), rng_draw(&b, RNG_MOTOR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_of_each_zone_is_exact),
		cmocka_unit_test(sequential_pieces_add_up_to_the_whole),
		cmocka_unit_test(next_byte_on_time_needs_no_wait),
		cmocka_unit_test(a_late_next_byte_costs_the_rest_of_a_turn),
		cmocka_unit_test(seek_follows_the_curve),
		cmocka_unit_test(random_access_takes_the_expected_time),
		cmocka_unit_test(rate_0_takes_no_time),
		cmocka_unit_test(a_family_of_draws_shifts_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
