#include "firmware/core/events.h"

#include "firmware/tests/test.h"

static struct events_ring ring;

static int fresh(void **state)
{
	(void)state;
	memset(&ring, 0xa5, sizeof(ring));
	assert_false(events_open(&ring, 7));
	return 0;
}

static uint32_t add(uint64_t op_id, int32_t value)
{
	struct event e = { .kind = EVENT_GATE,
			   .at_us = 0x123456789abcull,
			   .slot = 5,
			   .state = SLOT_DISCHARGING,
			   .fault = FAULT_LOCKED,
			   .value = value,
			   .vi = { .mv = { 4998, 11989 }, .ma = { 812, 2803 } },
			   .op_id = op_id };

	return events_add(&ring, &e);
}

static void random_memory_is_not_taken_for_events(void **state)
{
	struct event e;

	(void)state;
	assert_int_equal(events_last(&ring), 0);
	assert_false(events_after(&ring, 0, &e));
}

static void an_event_comes_out_as_it_went_in(void **state)
{
	struct event e;

	(void)state;
	assert_int_equal(add(0xfedcba9876543210ull, -85123), 1);
	assert_true(events_after(&ring, 0, &e));
	assert_int_equal(e.number, 1);
	assert_int_equal(e.kind, EVENT_GATE);
	assert_int_equal(e.at_us, 0x123456789abcull);
	assert_int_equal(e.slot, 5);
	assert_int_equal(e.state, SLOT_DISCHARGING);
	assert_int_equal(e.fault, FAULT_LOCKED);
	assert_int_equal(e.value, -85123);
	assert_int_equal(e.fall_us, 0);
	assert_int_equal(e.op_id, 0xfedcba9876543210ull);
	assert_int_equal(e.boot_id, 7);
	assert_in_range(e.vi.mv[RAIL_5V], 4994, 5002);
	assert_in_range(e.vi.mv[RAIL_12V], 11981, 11997);
	assert_in_range(e.vi.ma[RAIL_5V], 808, 816);
	assert_in_range(e.vi.ma[RAIL_12V], 2799, 2807);
	assert_false(events_after(&ring, 1, &e));
}

static void a_state_keeps_its_fall_time(void **state)
{
	struct event e = { .kind = EVENT_SLOT_STATE,
			   .state = SLOT_OFF,
			   .fall_us = 173865 };
	struct event out;

	(void)state;
	events_add(&ring, &e);
	assert_true(events_after(&ring, 0, &out));
	assert_int_equal(out.fall_us, 173865);
	assert_int_equal(out.value, 0);
}

static void a_record_has_no_padding(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct events_record), 19);
}

static void an_event_of_the_rig_keeps_its_whole_value(void **state)
{
	static const int32_t values[] = { 0, -1, INT32_MAX, INT32_MIN, 85123 };
	struct event e = { .kind = EVENT_CONFIG };
	struct event out;

	(void)state;
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		e.value = values[i];
		events_add(&ring, &e);
		assert_true(events_after(&ring, i, &out));
		assert_int_equal(out.value, values[i]);
		assert_int_equal(out.vi.mv[RAIL_5V], 0);
	}
}

static void a_fall_beyond_its_bits_is_held_at_their_end(void **state)
{
	struct event e = { .kind = EVENT_SLOT_STATE, .fall_us = 20000000 };
	struct event out;

	(void)state;
	events_add(&ring, &e);
	assert_true(events_after(&ring, 0, &out));
	assert_int_equal(out.fall_us, EVENTS_FALL_MAX_US);
}

static void events_survive_a_reset_and_numbers_go_on(void **state)
{
	struct event e;

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		add(i + 1, 0);
	events_ack(&ring, 290);
	assert_true(events_open(&ring, 8));
	assert_int_equal(events_last(&ring), 300);
	assert_int_equal(ring.acked, 290);
	assert_int_equal(add(0, 1), 301);
	assert_true(events_after(&ring, 300, &e));
	assert_int_equal(e.boot_id, 8);
	assert_true(events_after(&ring, 299, &e));
	assert_int_equal(e.boot_id, 7);
	assert_int_equal(e.op_id, 300);
}

static void a_reset_within_an_event_loses_only_that_event(void **state)
{
	struct event e;

	(void)state;
	add(1, 1);
	add(2, 2);
	/* Written, but the number was not counted up yet. */
	ring.next--;
	assert_true(events_open(&ring, 8));
	assert_int_equal(events_last(&ring), 1);
	assert_true(events_after(&ring, 0, &e));
	assert_int_equal(e.value, 1);
}

static void any_broken_byte_of_the_records_empties_the_ring(void **state)
{
	struct events_ring copy;
	uint8_t *bytes = (uint8_t *)copy.record;

	(void)state;
	for (unsigned i = 0; i < 256; i++)
		add(1, (int32_t)i);
	for (size_t i = 0; i < sizeof(copy.record); i++) {
		copy = ring;
		bytes[i] ^= 0x10;
		assert_false(events_open(&copy, 8));
		assert_int_equal(events_last(&copy), 0);
	}
}

static void another_layout_empties_the_ring(void **state)
{
	(void)state;
	add(1, 1);
	ring.size--;
	assert_false(events_open(&ring, 8));
}

static void what_was_overwritten_is_reported_once_with_its_count(void **state)
{
	struct event e;

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		add(1, (int32_t)i);
	assert_true(events_after(&ring, 10, &e));
	assert_int_equal(e.kind, EVENT_OVERFLOW);
	assert_int_equal(e.number, 44);
	assert_int_equal(e.value, 34);
	assert_true(events_after(&ring, 44, &e));
	assert_int_equal(e.kind, EVENT_GATE);
	assert_int_equal(e.number, 45);
	assert_int_equal(e.value, 44);
}

static void no_event_ever_names_a_command_that_was_not_its_own(void **state)
{
	struct event e;
	uint32_t seed = 1;
	uint64_t op[1000];
	uint64_t current = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		if (test_random(&seed) % 3 != 0)
			current = test_random(&seed) % 5
					  ? test_random(&seed) + 1ull
					  : 0;
		op[i] = current;
		add(current, (int32_t)i);
		for (uint32_t n = i > 255 ? i - 255 : 0; n < i; n++) {
			assert_true(events_after(&ring, n, &e));
			assert_int_equal(e.value, n);
			if (e.op_id)
				assert_int_equal(e.op_id, op[n]);
		}
	}
	/* And the last ones are not forgotten. */
	assert_true(events_after(&ring, 999, &e));
	assert_int_equal(e.op_id, op[999]);
}

static void an_ack_from_the_future_is_ignored(void **state)
{
	(void)state;
	add(1, 1);
	events_ack(&ring, 2);
	assert_int_equal(ring.acked, 0);
	events_ack(&ring, 1);
	assert_int_equal(ring.acked, 1);
	events_ack(&ring, 0);
	assert_int_equal(ring.acked, 1);
}

static void asking_from_the_end_of_numbers_gives_nothing(void **state)
{
	struct event e;

	(void)state;
	add(1, 1);
	assert_false(events_after(&ring, UINT32_MAX, &e));
	assert_false(events_after(&ring, UINT32_MAX - 1, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(random_memory_is_not_taken_for_events,
				       fresh),
		cmocka_unit_test_setup(an_event_comes_out_as_it_went_in, fresh),
		cmocka_unit_test_setup(a_state_keeps_its_fall_time, fresh),
		cmocka_unit_test(a_record_has_no_padding),
		cmocka_unit_test_setup(
			an_event_of_the_rig_keeps_its_whole_value, fresh),
		cmocka_unit_test_setup(
			a_fall_beyond_its_bits_is_held_at_their_end, fresh),
		cmocka_unit_test_setup(events_survive_a_reset_and_numbers_go_on,
				       fresh),
		cmocka_unit_test_setup(
			a_reset_within_an_event_loses_only_that_event, fresh),
		cmocka_unit_test_setup(
			any_broken_byte_of_the_records_empties_the_ring, fresh),
		cmocka_unit_test_setup(another_layout_empties_the_ring, fresh),
		cmocka_unit_test_setup(
			what_was_overwritten_is_reported_once_with_its_count,
			fresh),
		cmocka_unit_test_setup(
			no_event_ever_names_a_command_that_was_not_its_own,
			fresh),
		cmocka_unit_test_setup(an_ack_from_the_future_is_ignored,
				       fresh),
		cmocka_unit_test_setup(
			asking_from_the_end_of_numbers_gives_nothing, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
