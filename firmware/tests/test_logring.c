#include "firmware/core/logring.h"

#include <stdio.h>

#include "firmware/tests/test.h"

static struct logring ring;

static int fresh(void **state)
{
	(void)state;
	memset(&ring, 0xa5, sizeof(ring));
	logring_init(&ring);
	return 0;
}

static void add_numbers(unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++)
		logring_add(&ring, LOG_INFO, i, "line %u", i);
}

static const char *text(void)
{
	static LogLine line;

	assert_true(logring_peek(&ring, &line));
	return line.text;
}

static void an_empty_ring_has_nothing_to_say(void **state)
{
	LogLine line;

	(void)state;
	assert_int_equal(logring_waiting(&ring), 0);
	assert_false(logring_peek(&ring, &line));
}

static void a_line_comes_out_as_printf_would_write_it(void **state)
{
	LogLine line;

	(void)state;
	logring_add(&ring, LOG_WARNING, 0x123456789abcull,
		    "slot %u: %s at %d mA", 3u, "tripped", -17);
	assert_true(logring_peek(&ring, &line));
	assert_string_equal(line.text, "slot 3: tripped at -17 mA");
	assert_int_equal(line.sequence, 1);
	assert_int_equal(line.dropped, 0);
	assert_int_equal(line.level, LOG_WARNING);
	assert_int_equal(line.at_us, 0x123456789abcull);
}

static void every_conversion_takes_its_extremes(void **state)
{
	(void)state;
	logring_add(&ring, LOG_INFO, 0, "%u %x %u", UINT32_MAX, UINT32_MAX, 0u);
	assert_string_equal(text(), "4294967295 ffffffff 0");
	logring_pop(&ring);
	logring_add(&ring, LOG_INFO, 0, "%d %d %d", INT32_MIN, INT32_MAX, 0);
	assert_string_equal(text(), "-2147483648 2147483647 0");
	logring_pop(&ring);
	logring_add(&ring, LOG_INFO, 0, "100 %% of %s%%", "x");
	assert_string_equal(text(), "100 % of x%");
}

static void a_long_line_is_cut_where_the_message_ends(void **state)
{
	char word[200];
	LogLine line;

	(void)state;
	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	logring_add(&ring, LOG_INFO, 0, "%s and %u", word, 1u);
	assert_true(logring_peek(&ring, &line));
	assert_int_equal(strlen(line.text), 120);
}

static void lines_come_in_order_and_once_in_a_session(void **state)
{
	char want[16];

	(void)state;
	add_numbers(1, 5);
	for (unsigned i = 1; i <= 5; i++) {
		assert_int_equal(logring_waiting(&ring), 6 - i);
		snprintf(want, sizeof(want), "line %u", i);
		assert_string_equal(text(), want);
		logring_pop(&ring);
	}
	assert_int_equal(logring_waiting(&ring), 0);
}

static void the_oldest_lines_give_way_and_are_counted(void **state)
{
	LogLine line;

	(void)state;
	add_numbers(1, LOGRING_ENTRIES + 7);
	assert_int_equal(logring_waiting(&ring), LOGRING_ENTRIES);
	assert_true(logring_peek(&ring, &line));
	assert_int_equal(line.sequence, 8);
	assert_int_equal(line.dropped, 7);
	assert_string_equal(line.text, "line 8");
}

static void a_line_that_a_host_got_is_not_counted(void **state)
{
	LogLine line;

	(void)state;
	add_numbers(1, 3);
	for (unsigned i = 0; i < 3; i++)
		logring_pop(&ring);
	add_numbers(4, LOGRING_ENTRIES + 4);
	assert_true(logring_peek(&ring, &line));
	assert_int_equal(line.sequence, 5);
	/* 4 alone: 1 to 3 were sent. */
	assert_int_equal(line.dropped, 1);
}

static void a_new_session_gets_what_is_still_there(void **state)
{
	LogLine line;

	(void)state;
	add_numbers(1, LOGRING_ENTRIES + 2);
	while (logring_waiting(&ring))
		logring_pop(&ring);
	logring_rewind(&ring);
	assert_int_equal(logring_waiting(&ring), LOGRING_ENTRIES);
	assert_true(logring_peek(&ring, &line));
	assert_int_equal(line.sequence, 3);
	/* Sending it again counts nothing. */
	add_numbers(1, 1);
	assert_true(logring_peek(&ring, &line));
	assert_int_equal(line.sequence, 4);
	assert_int_equal(line.dropped, 2);
}

static void a_session_that_does_not_ask_gets_only_new_lines(void **state)
{
	(void)state;
	add_numbers(1, 3);
	logring_skip(&ring);
	assert_int_equal(logring_waiting(&ring), 0);
	add_numbers(4, 4);
	assert_string_equal(text(), "line 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_empty_ring_has_nothing_to_say, fresh),
		cmocka_unit_test_setup(
			a_line_comes_out_as_printf_would_write_it, fresh),
		cmocka_unit_test_setup(every_conversion_takes_its_extremes,
				       fresh),
		cmocka_unit_test_setup(
			a_long_line_is_cut_where_the_message_ends, fresh),
		cmocka_unit_test_setup(
			lines_come_in_order_and_once_in_a_session, fresh),
		cmocka_unit_test_setup(
			the_oldest_lines_give_way_and_are_counted, fresh),
		cmocka_unit_test_setup(a_line_that_a_host_got_is_not_counted,
				       fresh),
		cmocka_unit_test_setup(a_new_session_gets_what_is_still_there,
				       fresh),
		cmocka_unit_test_setup(
			a_session_that_does_not_ask_gets_only_new_lines, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
