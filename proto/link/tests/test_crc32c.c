#include "proto/link/crc32c.h"

#include "proto/link/tests/cmocka_all.h"

static void gives_the_published_check_value(void **state)
{
	(void)state;
	assert_int_equal(crc32c("123456789", 9), 0xe3069283u);
	assert_int_equal(crc32c("", 0), 0);
}

/* The iSCSI examples of RFC 3720, appendix B.4. */
static void gives_the_values_of_the_iscsi_standard(void **state)
{
	uint8_t data[32];

	(void)state;
	memset(data, 0, sizeof(data));
	assert_int_equal(crc32c(data, 32), 0x8a9136aau);
	memset(data, 0xff, sizeof(data));
	assert_int_equal(crc32c(data, 32), 0x62a8ab43u);
	for (unsigned i = 0; i < 32; i++)
		data[i] = (uint8_t)i;
	assert_int_equal(crc32c(data, 32), 0x46dd794eu);
}

static void may_be_fed_in_pieces(void **state)
{
	uint32_t crc = crc32c_update(CRC32C_INIT, "1234", 4);

	(void)state;
	crc = crc32c_update(crc, "56789", 5);
	assert_int_equal(crc32c_final(crc), 0xe3069283u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_published_check_value),
		cmocka_unit_test(gives_the_values_of_the_iscsi_standard),
		cmocka_unit_test(may_be_fed_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
