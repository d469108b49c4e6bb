#include "proto/link/cobs.h"

#include "proto/link/tests/cmocka_all.h"

static void expect_code(const char *plain, size_t len, const char *code,
			size_t code_len)
{
	uint8_t out[64];
	uint8_t back[64];
	size_t n;

	assert_int_equal(
		cobs_encode((const uint8_t *)plain, len, out, sizeof(out)),
		code_len);
	assert_memory_equal(out, code, code_len);
	assert_true(cobs_decode(out, code_len, back, sizeof(back), &n));
	assert_int_equal(n, len);
	assert_memory_equal(back, plain, len);
}

static void encodes_the_examples_of_the_paper(void **state)
{
	(void)state;
	expect_code("", 0, "\x01", 1);
	expect_code("\0", 1, "\x01\x01", 2);
	expect_code("\0\0", 2, "\x01\x01\x01", 3);
	expect_code("\0\x11\0", 3, "\x01\x02\x11\x01", 4);
	expect_code("\x11\x22\0\x33", 4, "\x03\x11\x22\x02\x33", 5);
	expect_code("\x11\0\0\0", 4, "\x02\x11\x01\x01\x01", 5);
}

static void expect_round_trip(const uint8_t *plain, size_t len)
{
	uint8_t code[COBS_MAX(1024)];
	uint8_t back[1024];
	size_t n = cobs_encode(plain, len, code, sizeof(code));
	size_t m;

	assert_in_range(n, len + 1, COBS_MAX(len));
	assert_null(memchr(code, 0, n));
	assert_true(cobs_decode(code, n, back, sizeof(back), &m));
	assert_int_equal(m, len);
	assert_memory_equal(back, plain, len);
	/* Too little room by one byte is noticed, both ways. */
	assert_int_equal(cobs_encode(plain, len, code, n - 1), 0);
	if (len) {
		n = cobs_encode(plain, len, code, sizeof(code));
		assert_false(cobs_decode(code, n, back, len - 1, &m));
	}
	assert_true(cobs_decode(code, n, code, n, &m));
	assert_memory_equal(code, plain, len);
}

static void lengths_around_a_full_block_round_trip(void **state)
{
	uint8_t plain[1024];

	(void)state;
	for (size_t len = 250; len < 520; len++) {
		memset(plain, 0x5a, len);
		expect_round_trip(plain, len);
		plain[len - 1] = 0;
		expect_round_trip(plain, len);
		plain[253] = 0;
		expect_round_trip(plain, len);
		memset(plain, 0, len);
		expect_round_trip(plain, len);
	}
}

static void a_full_last_block_costs_no_empty_one(void **state)
{
	uint8_t plain[254];
	uint8_t code[300];

	(void)state;
	memset(plain, 1, sizeof(plain));
	assert_int_equal(cobs_encode(plain, 254, code, sizeof(code)), 255);
	assert_int_equal(code[0], 0xff);
}

static void random_bytes_round_trip(void **state)
{
	uint8_t plain[600];
	uint32_t x = 12345;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		size_t len = x % sizeof(plain);

		for (size_t i = 0; i < len; i++) {
			x = x * 1664525u + 1013904223u;
			plain[i] = (x >> 24) & ((x >> 8) % 5 ? 0xff : 0);
		}
		expect_round_trip(plain, len);
		x = x * 1664525u + 1013904223u;
	}
}

static void broken_code_is_refused(void **state)
{
	uint8_t out[16];
	size_t n = 99;

	(void)state;
	assert_false(cobs_decode((const uint8_t *)"", 0, out, 16, &n));
	assert_false(cobs_decode((const uint8_t *)"\0", 1, out, 16, &n));
	assert_false(cobs_decode((const uint8_t *)"\x03\x11", 2, out, 16, &n));
	assert_false(
		cobs_decode((const uint8_t *)"\x03\x11\0", 3, out, 16, &n));
	assert_false(
		cobs_decode((const uint8_t *)"\x02\x11\0\x01", 4, out, 16, &n));
	assert_int_equal(n, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes_the_examples_of_the_paper),
		cmocka_unit_test(lengths_around_a_full_block_round_trip),
		cmocka_unit_test(a_full_last_block_costs_no_empty_one),
		cmocka_unit_test(random_bytes_round_trip),
		cmocka_unit_test(broken_code_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
