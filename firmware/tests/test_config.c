#include "firmware/core/config.h"

#include "firmware/tests/test_limits.h"
#include "firmware/tests/test.h"

static struct config defaults(void)
{
	struct config c;

	config_default(&c, &test_defaults, 8);
	return c;
}

static uint32_t wrong_field(const struct config *c)
{
	uint32_t detail = 0;

	return config_check(c, &detail) == RIG_OK ? 0 : detail;
}

static void the_defaults_are_valid(void **state)
{
	struct config c = defaults();

	(void)state;
	assert_int_equal(wrong_field(&c), 0);
	assert_int_equal(c.generation, 0);
	assert_int_equal(c.slot[7].slot, 7);
}

static void a_short_off_time_needs_the_brownout_profile(void **state)
{
	struct config c = defaults();

	(void)state;
	c.slot[2].min_off_ms = 4999;
	assert_int_equal(wrong_field(&c), 303);
	c.slot[2].brownout = true;
	assert_int_equal(wrong_field(&c), 0);
}

static void a_reserve_above_the_budget_would_wait_for_ever(void **state)
{
	struct config c = defaults();

	(void)state;
	c.slot[0].spinup_reserve_ma = 8001;
	assert_int_equal(wrong_field(&c), 105);
	c.slot[0].no_12v = true;
	assert_int_equal(wrong_field(&c), 0);
}

static void fields_out_of_range_are_named(void **state)
{
	struct config c = defaults();

	(void)state;
	c.slot[7].blank_ms = 21;
	assert_int_equal(wrong_field(&c), 813);
	c = defaults();
	c.slot[0].skew_ms = 1001;
	assert_int_equal(wrong_field(&c), 115);
	c = defaults();
	c.rig.budget_12v_ma = 60001;
	assert_int_equal(wrong_field(&c), 1);
	c = defaults();
	c.rig.host_lost_ms = 1400;
	assert_int_equal(wrong_field(&c), 5);
	c = defaults();
	c.slot[3].slot = 4;
	assert_int_equal(wrong_field(&c), 401);
	c = defaults();
	memset(c.slot[3].serial, 'x', sizeof(c.slot[3].serial));
	assert_int_equal(wrong_field(&c), 402);
}

static void records_fill_the_image_to_the_byte(void **state)
{
	struct config c = defaults();
	uint8_t buf[CONFIG_RECORD_BYTES];
	size_t sum = 0;

	(void)state;
	for (unsigned i = 0; i <= 8; i++)
		sum += config_encode(&c, i, buf);
	assert_int_equal(sum, config_image_bytes(8));
	assert_int_equal(sum, 20 + 8 * 104);
}

/* The host computes the same bytes from docs/protocol.md. */
static void the_image_is_little_endian_in_the_order_of_the_fields(void **state)
{
	struct config c = defaults();
	uint8_t buf[CONFIG_RECORD_BYTES];

	(void)state;
	c.rig.budget_12v_ma = 0x01020304;
	config_encode(&c, 0, buf);
	assert_memory_equal(buf, "\004\003\002\001", 4);
	strcpy(c.slot[1].serial, "AB");
	c.slot[1].rated_cycles = 0xdeadbeef;
	config_encode(&c, 2, buf);
	assert_memory_equal(buf, "\001\0\0\0AB\0\0", 8);
	assert_memory_equal(buf + 100, "\xef\xbe\xad\xde", 4);
}

static void bytes_behind_a_serial_do_not_change_the_crc(void **state)
{
	struct config c = defaults();
	uint32_t crc;

	(void)state;
	strcpy(c.slot[0].serial, "SERIAL");
	crc = config_image_crc(&c);
	c.slot[0].serial[20] = 'x';
	assert_int_equal(config_image_crc(&c), crc);
	c.slot[0].serial[5] = 'X';
	assert_int_not_equal(config_image_crc(&c), crc);
}

static void any_configuration_comes_back_from_its_records(void **state)
{
	uint32_t seed = 4711;
	uint8_t buf[CONFIG_RECORD_BYTES];
	uint8_t again[CONFIG_RECORD_BYTES];

	(void)state;
	for (unsigned n = 0; n < 2000; n++) {
		struct config c = defaults();
		struct config d = defaults();

		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = (uint8_t)test_random(&seed);
		config_decode(&c, 1 + n % 8, buf);
		config_encode(&c, 1 + n % 8, buf);
		config_decode(&d, 1 + n % 8, buf);
		config_encode(&d, 1 + n % 8, again);
		assert_memory_equal(buf, again, sizeof(buf));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_valid),
		cmocka_unit_test(a_short_off_time_needs_the_brownout_profile),
		cmocka_unit_test(
			a_reserve_above_the_budget_would_wait_for_ever),
		cmocka_unit_test(fields_out_of_range_are_named),
		cmocka_unit_test(records_fill_the_image_to_the_byte),
		cmocka_unit_test(
			the_image_is_little_endian_in_the_order_of_the_fields),
		cmocka_unit_test(bytes_behind_a_serial_do_not_change_the_crc),
		cmocka_unit_test(any_configuration_comes_back_from_its_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
