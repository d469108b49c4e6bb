#include "host/util/parse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void numbers_must_match_to_the_last_byte(void **state)
{
	static const char *const bad[] = { "",     " 1",  "1 ",  "+1", "-1",
					   "0x10", "1.0", "abc", "1a" };
	uint64_t v = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse_u64(bad[i], &v), -EINVAL);
	assert_int_equal(v, 7);
	assert_int_equal(parse_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(parse_u64("18446744073709551616", &v), -ERANGE);
}

static void ranges_are_inclusive(void **state)
{
	uint32_t v = 0;

	(void)state;
	assert_int_equal(parse_u32_range("1", 1, 50, &v), 0);
	assert_int_equal(parse_u32_range("50", 1, 50, &v), 0);
	assert_int_equal(v, 50);
	assert_int_equal(parse_u32_range("0", 1, 50, &v), -ERANGE);
	assert_int_equal(parse_u32_range("51", 1, 50, &v), -ERANGE);
}

static void signed_numbers_reach_both_ends(void **state)
{
	int64_t v = 0;

	(void)state;
	assert_int_equal(parse_i64("-9223372036854775808", &v), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(parse_i64("9223372036854775808", &v), -ERANGE);
	assert_int_equal(parse_i64("--1", &v), -EINVAL);
}

static void sizes_are_powers_of_1024(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_int_equal(parse_size("64k", &v), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(parse_size("100M", &v), 0);
	assert_int_equal(v, 104857600);
	assert_int_equal(parse_size("1GiB", &v), 0);
	assert_int_equal(v, 1073741824);
	assert_int_equal(parse_size("512B", &v), 0);
	assert_int_equal(v, 512);
	assert_int_equal(parse_size("1x", &v), -EINVAL);
	assert_int_equal(parse_size("k", &v), -EINVAL);
	assert_int_equal(parse_size("1kk", &v), -EINVAL);
	assert_int_equal(parse_size("99999999T", &v), -ERANGE);
}

static void doubles_are_finite(void **state)
{
	double v = 0;

	(void)state;
	assert_int_equal(parse_double("1.5", &v), 0);
	assert_true(v == 1.5);
	assert_int_equal(parse_double("inf", &v), -ERANGE);
	assert_int_equal(parse_double("", &v), -EINVAL);
	assert_int_equal(parse_double("1.5x", &v), -EINVAL);
}

static void kernel_tables_are_read_by_position(void **state)
{
	static const char line[] = "  12\t34 x";
	const char *p = line;
	const char *end = line + strlen(line);
	uint64_t v = 0;

	(void)state;
	assert_true(parse_next_u64(&p, end, &v));
	assert_int_equal(v, 12);
	assert_true(parse_next_u64(&p, end, &v));
	assert_int_equal(v, 34);
	assert_false(parse_next_u64(&p, end, &v));
}

static void trimming_and_copying_stay_inside(void **state)
{
	char text[] = " \t a b \n";
	char small[3];

	(void)state;
	assert_string_equal(str_trim(text), "a b");
	assert_false(str_copy(small, sizeof(small), "abc"));
	assert_string_equal(small, "ab");
	assert_true(str_copy(small, sizeof(small), "ab"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_must_match_to_the_last_byte),
		cmocka_unit_test(ranges_are_inclusive),
		cmocka_unit_test(signed_numbers_reach_both_ends),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(doubles_are_finite),
		cmocka_unit_test(kernel_tables_are_read_by_position),
		cmocka_unit_test(trimming_and_copying_stay_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
