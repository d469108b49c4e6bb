/* The kernel's counter files: all known widths, and what is not one. */
#include "host/sample/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static unsigned disk(const char *text, const char *name, uint64_t *c)
{
	return text_diskstats(text, strlen(text), name, c);
}

static void all_three_widths_of_diskstats_are_read(void **state)
{
	static const char text[] =
		"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
		"   8      16 sdb 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
		"   8      32 sdc 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n"
		" 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 "
		"17 18 19\n";
	uint64_t c[DISK_COUNTERS] = { 99 };

	(void)state;
	assert_int_equal(disk(text, "sda", c), 11);
	assert_int_equal(c[DISK_MS_WEIGHTED], 11);
	assert_int_equal(c[DISK_FLUSHES], 0);
	assert_int_equal(disk(text, "sdb", c), 15);
	assert_int_equal(c[DISK_MS_DISCARD], 15);
	assert_int_equal(disk(text, "sdc", c), 17);
	assert_int_equal(c[DISK_MS_FLUSH], 17);
	assert_int_equal(disk(text, "nvme0n1", c), 17);
}

static void a_name_is_not_the_start_of_another(void **state)
{
	static const char text[] = " 9 127 md127p1 9 9 9 9 9 9 9 9 9 9 9\n"
				   " 9 127 md127 1 2 3 4 5 6 7 8 9 10 11\n";
	uint64_t c[DISK_COUNTERS];

	(void)state;
	assert_int_equal(disk(text, "md127", c), 11);
	assert_int_equal(c[0], 1);
	assert_int_equal(disk(text, "md12", c), 0);
	assert_int_equal(disk(text, "sda", c), 0);
}

static void damaged_lines_are_no_counters(void **state)
{
	uint64_t c[DISK_COUNTERS];

	(void)state;
	assert_int_equal(disk("", "sda", c), 0);
	assert_int_equal(disk("8 0 sda", "sda", c), 0);
	assert_int_equal(disk("8 0 sda 1 2 3 x", "sda", c), 0);
	assert_int_equal(disk("x y sda 1 2 3", "sda", c), 0);
}

static void the_first_line_of_stat_is_all_cpus(void **state)
{
	static const char text[] = "cpu  10 20 30 40 50 60 70 80 90 100\n"
				   "cpu0 1 2 3 4\n";
	uint64_t cpu[CPU_FIELDS];

	(void)state;
	assert_int_equal(text_stat(text, strlen(text), cpu), 10);
	assert_int_equal(cpu[CPU_STEAL], 80);
	/* Cut where the buffer ended, after the first line. */
	assert_int_equal(text_stat(text, 37, cpu), 10);
	assert_int_equal(text_stat("cpu  1 2 3 4\n", 13, cpu), 4);
	assert_int_equal(cpu[CPU_STEAL], 0);
	assert_int_equal(text_stat("cpu0 1 2 3 4\n", 13, cpu), 0);
	assert_int_equal(text_stat("", 0, cpu), 0);
}

static void keys_are_found_once_and_read_by_line(void **state)
{
	static const char *const names[] = { "nr_written", "nr_dirty",
					     "no_such" };
	static const char first[] = "nr_free 5\nnr_dirty 7\nnr_dirtied 8\n"
				    "nr_written 9\n";
	static const char later[] = "nr_free 4\nnr_dirty 17\nnr_dirtied 18\n"
				    "nr_written 19\n";
	uint64_t v[3] = { 1, 1, 1 };
	struct text_keys k;

	(void)state;
	text_keys_find(&k, first, strlen(first), names, 3);
	assert_int_equal(k.count, 2);
	assert_true(text_keys_read(&k, later, strlen(later), v));
	assert_int_equal(v[0], 19);
	assert_int_equal(v[1], 17);
	assert_int_equal(v[2], 1);
	assert_false(text_keys_read(&k, later, 20, v));
}

static void a_number_that_is_cut_off_is_not_read(void **state)
{
	static const char *const names[] = { "nr_dirty" };
	static const char text[] = "nr_dirty 1234\nnr_more 1\n";
	const size_t line = strlen("nr_dirty 1234\n");
	uint64_t v = 1;
	struct text_keys k;

	(void)state;
	text_keys_find(&k, text, strlen(text), names, 1);
	assert_int_equal(text_keys_end(&k, text, strlen(text)), line);
	assert_int_equal(text_keys_end(&k, text, 5), 5);
	for (size_t len = 0; len < line; len++)
		assert_false(text_keys_read(&k, text, len, &v));
	assert_int_equal(v, 1);
	assert_true(text_keys_read(&k, text, line, &v));
	assert_int_equal(v, 1234);
}

static void meminfo_has_a_colon(void **state)
{
	static const char *const names[] = { "MemFree", "Dirty" };
	static const char text[] = "MemTotal:  100 kB\nMemFree:  42 kB\n"
				   "Dirty:     7 kB\n";
	uint64_t v[2] = { 0 };
	struct text_keys k;

	(void)state;
	text_keys_find(&k, text, strlen(text), names, 2);
	assert_true(text_keys_read(&k, text, strlen(text), v));
	assert_int_equal(v[0], 42);
	assert_int_equal(v[1], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_three_widths_of_diskstats_are_read),
		cmocka_unit_test(a_name_is_not_the_start_of_another),
		cmocka_unit_test(damaged_lines_are_no_counters),
		cmocka_unit_test(the_first_line_of_stat_is_all_cpus),
		cmocka_unit_test(keys_are_found_once_and_read_by_line),
		cmocka_unit_test(a_number_that_is_cut_off_is_not_read),
		cmocka_unit_test(meminfo_has_a_colon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
