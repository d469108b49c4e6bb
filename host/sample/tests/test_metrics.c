/* host/sample/tests/test_metrics.c - numbers out of series with known rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/sample/metrics.h"

#define HZ     10u
#define POINTS 100u
#define PAGE   4096u
/* Pages a sample at 30 MB/s. */
#define RATE 732u

static struct sample_point points[POINTS];

static const struct sample_series series = {
	.count = POINTS,
	.point = points,
};

static const struct metrics_window window = {
	.start_ns = 0,
	.first_done_ns = POINTS * 1000000000ull / HZ,
	.end_ns = POINTS * 1000000000ull / HZ,
	.page_bytes = PAGE,
};

/* Written pages in steps of `step` samples; nothing before sample `quiet`. */
static void fill(unsigned quiet, unsigned step)
{
	memset(points, 0, sizeof(points));
	for (unsigned i = 0; i < POINTS; i++) {
		unsigned done = i < quiet ? 0 : (i - quiet) / step * step;

		points[i].t_ns = i * 1000000000ull / HZ;
		points[i].vm[VM_NR_WRITTEN] = 5000 + (uint64_t)done * RATE;
	}
}

static double write_bw(void)
{
	struct metrics m = { .count = 0 };

	metrics_write_bw(&m, &series, &window);
	if (m.count == 0)
		return -1;
	assert_string_equal(m.metric[0].name, "write_bw");
	return m.metric[0].value;
}

static void assert_rate(double bw)
{
	double wanted = (double)RATE * HZ * PAGE / 1048576;

	if (bw < wanted * 0.9999 || bw > wanted * 1.0001)
		fail_msg("%g is not %g MB/s", bw, wanted);
}

static void a_smooth_series_gives_its_rate(void **state)
{
	(void)state;
	fill(0, 1);
	assert_rate(write_bw());
}

static void the_start_is_left_out(void **state)
{
	(void)state;
	fill(20, 1);
	assert_rate(write_bw());
}

static void
steps_of_three_seconds_give_the_rate_between_their_edges(void **state)
{
	(void)state;
	fill(5, 30);
	assert_rate(write_bw());
	fill(17, 23);
	assert_rate(write_bw());
}

/* The last edge comes early: of a step of eight samples only half, and at once.
 * All others lagged by three more than it, then, and the time between is 81. */
static void one_edge_that_lags_less_moves_the_rate_by_its_lag(void **state)
{
	double wanted = (double)RATE * HZ * PAGE / 1048576;
	double bw;

	(void)state;
	fill(0, 8);
	points[97].vm[VM_NR_WRITTEN] += 4ull * RATE;
	points[98].vm[VM_NR_WRITTEN] += 4ull * RATE;
	points[99].vm[VM_NR_WRITTEN] += 4ull * RATE;
	bw = write_bw();
	assert_true(bw > wanted && bw < wanted * (1.0 + 3.01 / 81.0));
}

/* Requests of two units end mixed for the first half: the edges there lag by up
 * to a second, later ones do not. A least-squares line is 5 % too steep. */
static void edges_that_lag_at_first_do_not_tilt_the_line(void **state)
{
	double wanted = (double)RATE * HZ * PAGE / 1048576;
	double bw;

	(void)state;
	fill(0, 4);
	for (unsigned i = 12; i < 50; i += 4) {
		unsigned lag = i % 16 == 0 ? 0 : 8;

		for (unsigned j = i; j < i + 4; j++)
			points[j].vm[VM_NR_WRITTEN] -= (uint64_t)lag * RATE;
	}
	bw = write_bw();
	assert_true(bw > wanted * 0.995 && bw < wanted * 1.005);
}

static bool is_steady(void)
{
	struct metrics m = { .count = 0 };

	metrics_write_bw(&m, &series, &window);
	assert_int_equal(m.checks, 1);
	assert_string_equal(m.check[0].name, "steady");
	return m.check[0].ok;
}

static void a_cell_that_stood_still_is_not_steady(void **state)
{
	(void)state;
	fill(0, 1);
	assert_true(is_steady());
	fill(5, 30);
	assert_true(is_steady());
	/* Three seconds of ten without a page. */
	fill(0, 1);
	for (unsigned i = 40; i < POINTS; i++)
		points[i].vm[VM_NR_WRITTEN] =
			5000 + (uint64_t)(i < 70 ? 40 : i - 30) * RATE;
	assert_false(is_steady());
}

static void a_series_without_writes_gives_no_rate(void **state)
{
	(void)state;
	fill(POINTS, 1);
	assert_true(write_bw() < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_smooth_series_gives_its_rate),
		cmocka_unit_test(the_start_is_left_out),
		cmocka_unit_test(
			steps_of_three_seconds_give_the_rate_between_their_edges),
		cmocka_unit_test(
			one_edge_that_lags_less_moves_the_rate_by_its_lag),
		cmocka_unit_test(edges_that_lag_at_first_do_not_tilt_the_line),
		cmocka_unit_test(a_cell_that_stood_still_is_not_steady),
		cmocka_unit_test(a_series_without_writes_gives_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
