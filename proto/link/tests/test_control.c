#include "proto/link/control.h"

#include "proto/link/tests/cmocka_all.h"

static void every_kind_survives_the_wire(void **state)
{
	uint8_t wire[CONTROL_BYTES_MAX];

	(void)state;
	for (unsigned kind = 1; kind <= CONTROL_ALL_OFF_ACK; kind++) {
		struct control c = { .kind = (enum control_kind)kind };
		struct control back;
		size_t n = control_encode(&c, wire);

		assert_in_range(n, 1, CONTROL_BYTES_MAX);
		assert_true(control_decode(wire, n, &back));
		assert_int_equal(back.kind, kind);
		assert_false(control_decode(wire, n - 1, &back));
		wire[n] = 0xaa;
		assert_true(control_decode(wire, n + 1, &back));
	}
}

static void hello_ack_carries_all_fields(void **state)
{
	uint8_t wire[CONTROL_BYTES_MAX];
	struct control back;
	struct control c = {
		.kind = CONTROL_HELLO_ACK,
		.hello = { 3, 4, 2, 0xbeef, 0x1122334455667788u, 99 },
		.info = { .firmware = "1.2.3",
			  .board = "posix",
			  .board_revision = 300,
			  .unique_id = { 1, [15] = 16 },
			  .slots = 8,
			  .window = 4,
			  .max_frame = 492,
			  .features = 0x80000001u,
			  .reset_cause = 4,
			  .boot_id = 0xdeadbeefu,
			  .config_generation = 7,
			  .config_crc = 0xcafef00du,
			  .last_event = 123456,
			  .fault_mask = 0x81 },
	};
	size_t n = control_encode(&c, wire);

	(void)state;
	assert_true(control_decode(wire, n, &back));
	assert_int_equal(back.hello.major, 3);
	assert_int_equal(back.hello.session, 0xbeef);
	assert_int_equal(back.hello.schema, 0x1122334455667788u);
	assert_int_equal(back.hello.time_us, 99);
	assert_string_equal(back.info.firmware, "1.2.3");
	assert_string_equal(back.info.board, "posix");
	assert_memory_equal(back.info.unique_id, c.info.unique_id, 16);
	assert_int_equal(back.info.board_revision, 300);
	assert_int_equal(back.info.slots, 8);
	assert_int_equal(back.info.window, 4);
	assert_int_equal(back.info.max_frame, 492);
	assert_int_equal(back.info.features, 0x80000001u);
	assert_int_equal(back.info.reset_cause, 4);
	assert_int_equal(back.info.boot_id, 0xdeadbeefu);
	assert_int_equal(back.info.config_generation, 7);
	assert_int_equal(back.info.config_crc, 0xcafef00du);
	assert_int_equal(back.info.last_event, 123456);
	assert_int_equal(back.info.fault_mask, 0x81);
}

static void an_unterminated_text_comes_out_terminated(void **state)
{
	uint8_t wire[CONTROL_BYTES_MAX];
	struct control c = { .kind = CONTROL_HELLO_ACK };
	size_t n;

	(void)state;
	memset(c.info.firmware, 'x', sizeof(c.info.firmware));
	n = control_encode(&c, wire);
	assert_true(control_decode(wire, n, &c));
	assert_int_equal(strlen(c.info.firmware), CONTROL_TEXT_BYTES - 1);
}

static void unknown_kinds_are_refused(void **state)
{
	uint8_t wire[200] = { 0 };
	struct control c;

	(void)state;
	assert_false(control_decode(wire, 0, &c));
	assert_false(control_decode(wire, sizeof(wire), &c));
	wire[0] = CONTROL_ALL_OFF_ACK + 1;
	assert_false(control_decode(wire, sizeof(wire), &c));
	wire[0] = 255;
	assert_false(control_decode(wire, sizeof(wire), &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_survives_the_wire),
		cmocka_unit_test(hello_ack_carries_all_fields),
		cmocka_unit_test(an_unterminated_text_comes_out_terminated),
		cmocka_unit_test(unknown_kinds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
