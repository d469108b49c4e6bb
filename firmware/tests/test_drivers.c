/* Drivers on a fake bus: the bytes they put on it, and what the register
 * models of the parts make of them. */
#include "firmware/drivers/adm127x.h"
#include "firmware/drivers/at24.h"
#include "firmware/drivers/tmp105.h"
#include "firmware/port/posix/parts.h"

#include <stdio.h>

#include "firmware/tests/test.h"

/* Writes down each transfer as text before it goes to the parts:
 * "10: d3 00 / 2" is d3 00 written to 0x10, then two bytes read. */
struct tap {
	struct hal_i2c bus;
	struct parts parts;
	uint8_t eeprom[PARTS_EEPROM_BYTES];
	char text[4096];
	size_t len;
};

static struct tap tap;

static rig_status tapped(const struct hal_i2c *bus, uint8_t address,
			 const uint8_t *wr, size_t wr_len, uint8_t *rd,
			 size_t rd_len)
{
	struct tap *t = bus->arg;
	size_t room = sizeof(t->text) - t->len;

	if (room > 16 + 3 * wr_len) {
		t->len += (size_t)snprintf(t->text + t->len, room,
					   "%02x:", address);
		for (size_t i = 0; i < wr_len; i++)
			t->len += (size_t)sprintf(t->text + t->len, " %02x",
						  wr[i]);
		if (rd_len)
			t->len += (size_t)sprintf(t->text + t->len, " / %zu",
						  rd_len);
		t->len += (size_t)sprintf(t->text + t->len, "\n");
	}
	return hal_i2c_transfer(&t->parts.bus, address, wr, wr_len, rd, rd_len);
}

static const struct hal_i2c_ops tap_ops = { .transfer = tapped };

static int fresh(void **state)
{
	(void)state;
	memset(&tap, 0, sizeof(tap));
	parts_init(&tap.parts, tap.eeprom);
	tap.bus.ops = &tap_ops;
	tap.bus.arg = &tap;
	return 0;
}

static const struct adm127x_cfg rail = { .address = 0x11, .shunt_uohm = 300 };

static void the_monitor_is_stopped_configured_and_started(void **state)
{
	(void)state;
	assert_int_equal(adm127x_init(&rail, &tap.bus), RIG_OK);
	assert_string_equal(tap.text, "11: 9a / 11\n"
				      "11: d3 00\n"
				      "11: d4 37 01\n"
				      "11: d3 01\n");
	assert_int_equal(tap.parts.rail[1].pmon_config, 0x0137);
}

static void readings_are_one_word_each(void **state)
{
	int32_t v;

	(void)state;
	assert_int_equal(adm127x_read_vout(&rail, &tap.bus, &v), RIG_OK);
	assert_int_equal(adm127x_read_iout(&rail, &tap.bus, &v), RIG_OK);
	assert_int_equal(adm127x_read_vin(&rail, &tap.bus, &v), RIG_OK);
	assert_string_equal(tap.text, "11: 8b / 2\n11: 8c / 2\n11: 88 / 2\n");
}

/* Within one count of the part: 24.6 mV on the 100 V range, 14.8 mV on 60 V,
 * 50 mA at 0.3 milliohms. */
static void readings_are_right_to_one_count(void **state)
{
	struct adm127x_cfg cfg = rail;

	(void)state;
	for (unsigned range = 0; range < 2; range++) {
		cfg.range_60v = range;
		assert_int_equal(adm127x_init(&cfg, &tap.bus), RIG_OK);
		for (int32_t mv = 0; mv < 13000; mv += 7) {
			int32_t got;

			tap.parts.rail[1].vout_mv = mv;
			assert_int_equal(
				adm127x_read_vout(&cfg, &tap.bus, &got),
				RIG_OK);
			assert_true(abs(got - mv) <= (range ? 15 : 25));
		}
	}
	for (int32_t ma = -100; ma < 9000; ma += 13) {
		int32_t got;

		tap.parts.rail[1].iout_ma = ma;
		assert_int_equal(adm127x_read_iout(&cfg, &tap.bus, &got),
				 RIG_OK);
		assert_true(abs(got - ma) <= 51);
	}
}

static void the_warning_limit_is_encoded_like_a_current(void **state)
{
	(void)state;
	assert_int_equal(adm127x_set_warn(&rail, &tap.bus, 4500), RIG_OK);
	/* (0.1989 * 4500 + 20480) / 10 = 2137 */
	assert_int_equal(tap.parts.rail[1].oc_warn, 2137);
	assert_int_equal(adm127x_set_warn(&rail, &tap.bus, 10000000), RIG_OK);
	assert_int_equal(tap.parts.rail[1].oc_warn, 0xfff);
}

static void a_missing_part_is_busy_and_touches_nothing(void **state)
{
	int32_t v = 77;

	(void)state;
	tap.parts.rail[1].present = false;
	assert_int_equal(adm127x_init(&rail, &tap.bus), RIG_BUSY);
	assert_int_equal(adm127x_read_vout(&rail, &tap.bus, &v), RIG_BUSY);
	assert_int_equal(adm127x_read_iout(&rail, &tap.bus, &v), RIG_BUSY);
	assert_int_equal(v, 77);
}

static void another_part_at_the_address_is_refused(void **state)
{
	struct adm127x_cfg wrong = { .address = 0x48, .shunt_uohm = 300 };

	(void)state;
	assert_int_equal(adm127x_init(&wrong, &tap.bus), RIG_HW);
}

static void a_failure_of_any_transfer_is_passed_on(void **state)
{
	unsigned n;

	(void)state;
	for (n = 1;; n++) {
		tap.parts.fail_in = n;
		if (adm127x_init(&rail, &tap.bus) == RIG_OK)
			break;
	}
	assert_int_equal(n, 5);
}

/* ---- TMP105 ---- */

static void the_thermometer_is_set_to_twelve_bits_and_read(void **state)
{
	int32_t mdegc;

	(void)state;
	tap.parts.thermometer.mdegc = 31250;
	assert_int_equal(tmp105_init(0x48, &tap.bus), RIG_OK);
	assert_int_equal(tmp105_read(0x48, &tap.bus, &mdegc), RIG_OK);
	assert_string_equal(tap.text, "48: 01 60\n48: 00 / 2\n");
	assert_int_equal(mdegc, 31250);
}

static void temperatures_below_zero_are_right(void **state)
{
	(void)state;
	assert_int_equal(tmp105_init(0x48, &tap.bus), RIG_OK);
	for (int32_t t = -55000; t < 127000; t += 333) {
		int32_t got;

		tap.parts.thermometer.mdegc = t;
		assert_int_equal(tmp105_read(0x48, &tap.bus, &got), RIG_OK);
		assert_true(abs(got - t) <= 63);
	}
}

/* ---- 24C256 ---- */

static const struct at24_cfg eeprom_cfg = { .address = 0x50,
					    .size_bytes = 32768 };

static struct at24 open_eeprom(void)
{
	struct at24 a;

	at24_init(&a, &eeprom_cfg, &tap.bus);
	return a;
}

static void a_write_is_split_at_pages_and_polled(void **state)
{
	static const uint8_t data[] = { 1, 2, 3, 4 };
	struct at24 a = open_eeprom();

	(void)state;
	a.storage.arg = &a;
	tap.parts.eeprom.busy_polls = 1;
	assert_int_equal(hal_storage_write(&a.storage, 0x103e, data, 4),
			 RIG_OK);
	assert_string_equal(tap.text, "50: 10 3e 01 02\n"
				      "50: 10 3e\n"
				      "50: 10 3e\n"
				      "50: 10 40 03 04\n"
				      "50: 10 40\n"
				      "50: 10 40\n");
	assert_memory_equal(tap.eeprom + 0x103e, data, 4);
}

static void what_was_written_is_read(void **state)
{
	uint8_t data[500];
	uint8_t back[500];
	uint32_t seed = 3;
	struct at24 a = open_eeprom();

	(void)state;
	a.storage.arg = &a;
	for (unsigned n = 0; n < 200; n++) {
		uint32_t at = test_random(&seed) % (32768 - 500);
		size_t len = test_random(&seed) % 500;

		for (size_t i = 0; i < len; i++)
			data[i] = (uint8_t)test_random(&seed);
		assert_int_equal(hal_storage_write(&a.storage, at, data, len),
				 RIG_OK);
		if (!len)
			continue;
		assert_int_equal(hal_storage_read(&a.storage, at, back, len),
				 RIG_OK);
		assert_memory_equal(data, back, len);
	}
}

static void beyond_its_end_nothing_is_done(void **state)
{
	uint8_t byte = 0;
	struct at24 a = open_eeprom();

	(void)state;
	a.storage.arg = &a;
	assert_int_equal(hal_storage_write(&a.storage, 32768, &byte, 1),
			 RIG_RANGE);
	assert_int_equal(hal_storage_read(&a.storage, 32767, &byte, 2),
			 RIG_RANGE);
	assert_int_equal(hal_storage_read(&a.storage, UINT32_MAX, &byte, 1),
			 RIG_RANGE);
	assert_int_equal(tap.len, 0);
}

static void a_part_that_stays_busy_is_given_up(void **state)
{
	uint8_t byte = 0;
	struct at24 a = open_eeprom();

	(void)state;
	a.storage.arg = &a;
	tap.parts.eeprom.busy_polls = 100000;
	assert_int_equal(hal_storage_write(&a.storage, 0, &byte, 1), RIG_HW);
	assert_true(tap.parts.transfers <= AT24_POLLS_MAX + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			the_monitor_is_stopped_configured_and_started, fresh),
		cmocka_unit_test_setup(readings_are_one_word_each, fresh),
		cmocka_unit_test_setup(readings_are_right_to_one_count, fresh),
		cmocka_unit_test_setup(
			the_warning_limit_is_encoded_like_a_current, fresh),
		cmocka_unit_test_setup(
			a_missing_part_is_busy_and_touches_nothing, fresh),
		cmocka_unit_test_setup(another_part_at_the_address_is_refused,
				       fresh),
		cmocka_unit_test_setup(a_failure_of_any_transfer_is_passed_on,
				       fresh),
		cmocka_unit_test_setup(
			the_thermometer_is_set_to_twelve_bits_and_read, fresh),
		cmocka_unit_test_setup(temperatures_below_zero_are_right,
				       fresh),
		cmocka_unit_test_setup(a_write_is_split_at_pages_and_polled,
				       fresh),
		cmocka_unit_test_setup(what_was_written_is_read, fresh),
		cmocka_unit_test_setup(beyond_its_end_nothing_is_done, fresh),
		cmocka_unit_test_setup(a_part_that_stays_busy_is_given_up,
				       fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
