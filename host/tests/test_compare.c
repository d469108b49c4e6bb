/* The published comparison, printed again; and what it got wrong, not. */
#include "host/report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define ROWS 39

struct published {
	char name[128];
	double a, b;
	char percent[16];
};

/* Rows of one of the data files. */
static size_t read_rows(const char *file, struct published *row, size_t max)
{
	char path[512], line[256];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", BAY_TEST_DATA, file);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (n < max && fgets(line, sizeof(line), f)) {
		row[n].percent[0] = 0;
		assert_true(sscanf(line, "%127[^,],%lf,%lf,%15s", row[n].name,
				   &row[n].a, &row[n].b, row[n].percent) >= 3);
		n++;
	}
	fclose(f);
	return n;
}

static struct compare *published_rows(struct published *row, size_t *n)
{
	struct compare *c = compare_new("3.4.0-rc2", "3.4.0-rc2-prop8+");
	size_t i;

	assert_non_null(c);
	*n = read_rows("writeback-compare.csv", row, ROWS + 1);
	assert_int_equal(*n, ROWS);
	/* Backwards, so that the order of the print is the tool's own. */
	for (i = *n; i > 0; i--) {
		assert_int_equal(compare_add(c, COMPARE_A, row[i - 1].name,
					     "write_bw", "MB/s", row[i - 1].a),
				 0);
		assert_int_equal(compare_add(c, COMPARE_B, row[i - 1].name,
					     "write_bw", "MB/s", row[i - 1].b),
				 0);
	}
	assert_int_equal(compare_finish(c), 0);
	return c;
}

/* The published change lies where values that round to a and b can put it. */
static void assert_in_interval(const struct published *p)
{
	double low = 100 * ((p->b - 0.005) / (p->a + 0.005) - 1);
	double high = 100 * ((p->b + 0.005) / (p->a - 0.005) - 1);
	double said = strtod(p->percent, NULL);

	assert_true(said >= low - 0.05 && said <= high + 0.05);
}

static void rows_print_in_the_published_form(void **state)
{
	struct published row[ROWS + 1];
	struct buf out = { 0 };
	char want[256], *line, *save = NULL;
	struct compare *c;
	size_t n, i, other = 0;

	(void)state;
	c = published_rows(row, &n);
	assert_int_equal(compare_text(c, &out), 0);
	line = strtok_r(out.data, "\n", &save);
	assert_string_equal(line, "               3.4.0-rc2          "
				  "3.4.0-rc2-prop8+");
	line = strtok_r(NULL, "\n", &save);
	assert_string_equal(line, "------------------------  "
				  "------------------------");
	for (i = 0; i < n; i++) {
		line = strtok_r(NULL, "\n", &save);
		assert_non_null(line);
		snprintf(want, sizeof(want), "%24.2f  %10s%% %12.2f  %.100s-%s",
			 row[i].a, row[i].percent, row[i].b, row[i].name,
			 "3.4.0-rc2");
		assert_in_interval(&row[i]);
		if (strcmp(line, want) == 0)
			continue;
		/* All but the last digit of the change is the same. */
		other++;
		memset(line + 26, ' ', 11);
		memset(want + 26, ' ', 11);
		assert_string_equal(line, want);
	}
	/* Made from unrounded values, three rows differ by 0.1 %. */
	assert_int_equal(other, 3);
	buf_free(&out);
	compare_free(c);
}

static void totals_are_plain_sums_of_unrounded_values(void **state)
{
	struct published row[ROWS + 1], total[32];
	const struct compare_total *t;
	struct compare *c;
	size_t n;

	(void)state;
	c = published_rows(row, &n);
	assert_true(read_rows("writeback-totals.csv", total, 32) > 1);
	assert_string_equal(total[0].name, "write_bw");
	assert_int_equal(compare_metrics(c), 1);
	t = compare_metric(c, 0);
	assert_int_equal(t->n, ROWS);
	assert_true(fabs(t->value[COMPARE_A] - total[0].a) <= ROWS * 0.005);
	assert_true(fabs(t->value[COMPARE_B] - total[0].b) <= ROWS * 0.005);
	compare_free(c);
}

static void a_zero_leaves_the_change_blank(void **state)
{
	struct compare *c = compare_new("a", "b");
	struct buf out = { 0 };

	(void)state;
	compare_add(c, COMPARE_A, "x", "cpu_nice", "%", 0);
	compare_add(c, COMPARE_B, "x", "cpu_nice", "%", 0);
	compare_add(c, COMPARE_A, "x", "first_done", "s", 10);
	compare_add(c, COMPARE_B, "x", "first_done", "s", 10);
	assert_int_equal(compare_finish(c), 0);
	assert_int_equal(compare_text(c, &out), 0);
	assert_null(strstr(out.data, "first_done"));
	assert_non_null(strstr(out.data, "                    0.00            "
					 "          0.00  TOTAL cpu_nice"));
	buf_free(&out);
	compare_free(c);
}

static void a_row_without_partner_is_named_and_not_summed(void **state)
{
	struct compare *c = compare_new("old", "new");
	struct buf out = { 0 };

	(void)state;
	compare_add(c, COMPARE_A, "both", "write_bw", "MB/s", 10);
	compare_add(c, COMPARE_B, "both", "write_bw", "MB/s", 20);
	compare_add(c, COMPARE_B, "lonely", "write_bw", "MB/s", 99);
	assert_int_equal(compare_finish(c), 0);
	assert_int_equal(compare_unpaired(c), 1);
	assert_true(compare_metric(c, 0)->value[COMPARE_B] == 20);
	assert_int_equal(compare_text(c, &out), 0);
	assert_non_null(strstr(out.data, "only in new: lonely\n"));
	assert_non_null(strstr(out.data, "(N 1; "));
	buf_free(&out);
	compare_free(c);
}

/* A case that one side lacks has as many values without partner as metrics. */
static void a_case_without_partner_is_said_once(void **state)
{
	static const char *const metric[] = { "write_bw", "io_w", "cpu_user" };
	struct compare *c = compare_new("old", "new");
	struct buf out = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(metric) / sizeof(metric[0]); i++) {
		compare_add(c, COMPARE_A, "whole", metric[i], "", 10);
		compare_add(c, COMPARE_B, "alone", metric[i], "", 10);
		compare_add(c, COMPARE_A, "part", metric[i], "", 10);
	}
	compare_add(c, COMPARE_B, "whole", "write_bw", "", 10);
	compare_add(c, COMPARE_B, "part", "write_bw", "", 10);
	compare_add(c, COMPARE_B, "part", "io_w", "", 10);
	compare_add(c, COMPARE_B, "part", "cpu_idle", "", 10);
	assert_int_equal(compare_finish(c), 0);
	assert_int_equal(compare_unpaired(c), 7);
	assert_int_equal(compare_text(c, &out), 0);
	assert_string_equal(strstr(out.data, "\nonly in"),
			    "\nonly in new: alone\n"
			    "only in old: whole (io_w, cpu_user)\n"
			    "only in old: part (cpu_user)\n"
			    "only in new: part (cpu_idle)\n");
	buf_free(&out);
	compare_free(c);
}

static void a_tainted_run_is_new_once(void **state)
{
	struct compare *c = compare_new("old", "new");

	(void)state;
	assert_int_equal(compare_taint(c, "x-6.1 #1"), 1);
	assert_int_equal(compare_taint(c, "x-6.1 #10"), 1);
	assert_int_equal(compare_taint(c, "x-6.1 #1"), 0);
	assert_int_equal(compare_taint(c, "x-6.1 #2"), 1);
	assert_int_equal(compare_taint(c, "x-6.1 #10"), 0);
	compare_free(c);
}

static void runs_of_a_case_are_averaged(void **state)
{
	struct compare *c = compare_new("a", "b");
	const struct compare_row *r;

	(void)state;
	compare_add(c, COMPARE_A, "x", "write_bw", "MB/s", 10);
	compare_add(c, COMPARE_A, "x", "write_bw", "MB/s", 20);
	compare_add(c, COMPARE_B, "x", "write_bw", "MB/s", 12);
	assert_int_equal(
		compare_add(c, COMPARE_B, "x", "write_bw", "MB/s", NAN),
		-EINVAL);
	assert_int_equal(compare_finish(c), 0);
	r = compare_metric(c, 0)->row;
	assert_true(r->value[COMPARE_A] == 15 && r->runs[COMPARE_A] == 2);
	assert_true(r->value[COMPARE_B] == 12 && r->runs[COMPARE_B] == 1);
	assert_int_equal(compare_regressions(c, 19.9), 1);
	assert_int_equal(compare_regressions(c, 20.1), 0);
	compare_free(c);
}

static void only_the_kernel_differs_is_said_when_it_is_so(void **state)
{
	struct compare *c = compare_new("a", "b");
	struct buf out = { 0 };

	(void)state;
	compare_setting(c, COMPARE_A, "kernel.release", "6.1");
	compare_setting(c, COMPARE_B, "kernel.release", "6.12");
	compare_setting(c, COMPARE_A, "scheduler", "none");
	compare_setting(c, COMPARE_A, "scheduler", "mq-deadline");
	compare_setting(c, COMPARE_B, "scheduler", "mq-deadline");
	compare_setting(c, COMPARE_B, "scheduler", "none");
	assert_int_equal(compare_finish(c), 0);
	assert_int_equal(compare_text(c, &out), 0);
	assert_non_null(strstr(out.data, "only the kernel differs:\n"
					 "  kernel.release: 6.1 -> 6.12\n"));
	buf_clear(&out);
	compare_setting(c, COMPARE_B, "scheduler", "bfq");
	assert_int_equal(compare_text(c, &out), 0);
	assert_non_null(strstr(out.data, "settings that differ:\n"));
	assert_non_null(strstr(out.data, "scheduler: none | mq-deadline -> "));
	buf_free(&out);
	compare_free(c);
}

static void json_holds_the_same_numbers(void **state)
{
	struct published row[ROWS + 1];
	struct buf out = { 0 };
	struct compare *c;
	json_t *top, *m;
	size_t n;

	(void)state;
	c = published_rows(row, &n);
	assert_int_equal(compare_json(c, &out), 0);
	top = json_loads(out.data, 0, NULL);
	assert_non_null(top);
	m = json_array_get(json_object_get(top, "metrics"), 0);
	assert_int_equal(json_array_size(json_object_get(m, "rows")), ROWS);
	assert_true(json_real_value(json_object_get(json_object_get(m, "total"),
						    "a")) ==
		    compare_metric(c, 0)->value[COMPARE_A]);
	for (size_t i = 0; i < ROWS; i++) {
		json_t *r = json_array_get(json_object_get(m, "rows"), i);
		double a = json_real_value(json_object_get(r, "a"));
		double b = json_real_value(json_object_get(r, "b"));
		json_t *percent = json_object_get(r, "percent");

		assert_true(json_is_real(percent));
		assert_true(fabs(json_real_value(percent) - 100 * (b - a) / a) <
			    1e-9);
	}
	assert_true(json_is_real(
		json_object_get(json_object_get(m, "total"), "percent")));
	json_decref(top);
	buf_free(&out);
	compare_free(c);
}

/* Logs 0.1 and 0.3: mean 0.2, s = 0.141421, t(1, 0.975) = 12.7062, so the
 * half width is 12.7062 * 0.1. */
static void the_interval_of_a_ratio_is_students_on_logs(void **state)
{
	const double a[] = { 1, 1, 0 };
	const double b[] = { exp(0.1), exp(0.3), 5 };
	struct stats_ratio r = stats_ratio(a, b, 3, 0.95);

	(void)state;
	assert_int_equal(r.n, 2);
	assert_true(fabs(r.mean - exp(0.2)) < 1e-12);
	assert_true(fabs(log(r.low) - (0.2 - 1.27062)) < 1e-5);
	assert_true(fabs(log(r.high) - (0.2 + 1.27062)) < 1e-5);
	r = stats_ratio(a, b, 1, 0.95);
	assert_true(r.n == 1 && isnan(r.low) && isnan(r.high));
	r = stats_ratio(a, b, 0, 0.95);
	assert_true(r.n == 0 && isnan(r.mean));
}

static void spread_is_that_of_a_sample(void **state)
{
	const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

	(void)state;
	assert_true(stats_mean(v, 8) == 5);
	assert_true(fabs(stats_sigma(v, 8) - sqrt(32.0 / 7)) < 1e-12);
	assert_true(isnan(stats_sigma(v, 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_print_in_the_published_form),
		cmocka_unit_test(totals_are_plain_sums_of_unrounded_values),
		cmocka_unit_test(a_zero_leaves_the_change_blank),
		cmocka_unit_test(a_row_without_partner_is_named_and_not_summed),
		cmocka_unit_test(a_case_without_partner_is_said_once),
		cmocka_unit_test(a_tainted_run_is_new_once),
		cmocka_unit_test(runs_of_a_case_are_averaged),
		cmocka_unit_test(only_the_kernel_differs_is_said_when_it_is_so),
		cmocka_unit_test(json_holds_the_same_numbers),
		cmocka_unit_test(the_interval_of_a_ratio_is_students_on_logs),
		cmocka_unit_test(spread_is_that_of_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
