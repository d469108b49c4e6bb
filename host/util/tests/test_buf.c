#include "host/util/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void an_empty_buffer_is_an_empty_string(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(buf_str(&b), "");
	buf_consume(&b, 0);
	buf_clear(&b);
	buf_free(&b);
}

static void content_survives_growth_and_consumption(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buf_printf(&b, "%03d,", i), 0);
	assert_int_equal(b.len, 4000);
	buf_consume(&b, 3996);
	assert_string_equal(buf_str(&b), "999,");
	assert_int_equal(buf_append(&b, "x", 1), 0);
	assert_string_equal(buf_str(&b), "999,x");
	buf_free(&b);
}

static void an_absurd_size_fails_and_changes_nothing(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(buf_append(&b, "ab", 2), 0);
	assert_true(buf_reserve(&b, SIZE_MAX - 1) < 0);
	assert_string_equal(buf_str(&b), "ab");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_is_an_empty_string),
		cmocka_unit_test(content_survives_growth_and_consumption),
		cmocka_unit_test(an_absurd_size_fails_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
