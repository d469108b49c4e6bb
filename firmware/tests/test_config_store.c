#include "firmware/core/config_store.h"

#include "firmware/tests/test_limits.h"
#include "firmware/tests/test.h"

#define SLOTS 8u
#define BYTES 0x2000u

/* Storage that loses its power after cut_after bytes, leaving garbage in the
 * byte at the cut; or whose n-th call fails. */
struct flaky {
	struct hal_storage st;
	uint8_t bytes[BYTES];
	long cut_after;   /* -1: never */
	unsigned fail_in; /* 0: never */
	unsigned calls;
	bool dead;
};

static struct flaky f;

static bool call_fails(struct flaky *x)
{
	x->calls++;
	return x->dead || (x->fail_in && x->calls == x->fail_in);
}

static rig_status flaky_read(const struct hal_storage *st, uint32_t offset,
			     uint8_t *buf, size_t len)
{
	if (call_fails(st->arg))
		return RIG_HW;
	assert_true(offset + len <= BYTES);
	memcpy(buf, f.bytes + offset, len);
	return RIG_OK;
}

static rig_status flaky_write(const struct hal_storage *st, uint32_t offset,
			      const uint8_t *buf, size_t len)
{
	if (call_fails(st->arg))
		return RIG_HW;
	assert_true(offset + len <= BYTES);
	for (size_t i = 0; i < len; i++) {
		if (f.cut_after == 0) {
			f.bytes[offset + i] ^= 0x5a;
			f.dead = true;
			return RIG_HW;
		}
		if (f.cut_after > 0)
			f.cut_after--;
		f.bytes[offset + i] = buf[i];
	}
	return RIG_OK;
}

static const struct hal_storage_ops flaky_ops = {
	.read = flaky_read,
	.write = flaky_write,
};

static int fresh(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	memset(f.bytes, 0xff, sizeof(f.bytes));
	f.st.ops = &flaky_ops;
	f.st.size_bytes = BYTES;
	f.st.arg = &f;
	f.cut_after = -1;
	return 0;
}

static struct config numbered(uint32_t generation)
{
	struct config c;

	config_default(&c, &test_defaults, SLOTS);
	c.generation = generation;
	for (unsigned i = 0; i < SLOTS; i++) {
		c.slot[i].rated_cycles = generation * 1000 + i;
		memset(c.slot[i].serial, 'A' + (int)(generation % 26), 20);
	}
	return c;
}

static rig_status write_all(struct config_store *s, const struct config *c)
{
	rig_status rc = config_store_stage(s, c);
	struct config back = *c;

	if (rc == RIG_OK)
		rc = config_store_staged(s, &back);
	if (rc == RIG_OK)
		rc = config_store_commit(s, &back);
	return rc;
}

/* Open as a firmware that starts; returns the generation found. */
static uint32_t start(struct config_store *s)
{
	struct config c;
	struct config expected;
	rig_status rc;

	f.dead = false;
	f.cut_after = -1;
	f.fail_in = 0;
	config_default(&c, &test_defaults, SLOTS);
	rc = config_store_open(s, &f.st, &c);
	if (rc != RIG_OK) {
		assert_int_equal(rc, RIG_CRC);
		return 0;
	}
	/* Whole, and exactly what that generation was. */
	expected = numbered(c.generation);
	assert_int_equal(config_image_crc(&c), config_image_crc(&expected));
	return c.generation;
}

static void an_erased_part_holds_nothing(void **state)
{
	struct config_store s;

	(void)state;
	assert_int_equal(start(&s), 0);
	memset(f.bytes, 0, sizeof(f.bytes));
	assert_int_equal(start(&s), 0);
}

static void the_newest_generation_is_found(void **state)
{
	struct config_store s;

	(void)state;
	start(&s);
	for (uint32_t i = 1; i < 6; i++) {
		struct config c = numbered(i);

		assert_int_equal(write_all(&s, &c), RIG_OK);
		assert_int_equal(start(&s), i);
	}
}

static void a_staged_record_replaces_the_one_before(void **state)
{
	struct config_store s;
	struct config c = numbered(1);
	struct config back = c;
	uint8_t record[CONFIG_SLOT_BYTES];

	(void)state;
	start(&s);
	assert_int_equal(config_store_stage(&s, &c), RIG_OK);
	c.slot[3].trip_ms = 99;
	config_encode_slot(&c.slot[3], record);
	assert_int_equal(config_store_put(&s, 4, record), RIG_OK);
	assert_int_equal(config_store_staged(&s, &back), RIG_OK);
	assert_int_equal(back.slot[3].trip_ms, 99);
	assert_int_equal(config_image_crc(&back), config_image_crc(&c));
}

static void nothing_is_in_force_before_the_commit(void **state)
{
	struct config_store s;
	struct config c = numbered(1);

	(void)state;
	start(&s);
	assert_int_equal(write_all(&s, &c), RIG_OK);
	c = numbered(2);
	assert_int_equal(config_store_stage(&s, &c), RIG_OK);
	assert_int_equal(start(&s), 1);
}

/* One write of generation before + 1, cut after that many bytes. Returns the
 * generation that a start finds then.
 *   done  out: the write got to its end */
static uint32_t cut_write(uint32_t before, long cut, bool *done)
{
	struct config_store s;
	struct config c;
	uint32_t found;

	fresh(NULL);
	start(&s);
	for (uint32_t i = 1; i <= before; i++) {
		c = numbered(i);
		assert_int_equal(write_all(&s, &c), RIG_OK);
	}
	c = numbered(before + 1);
	f.cut_after = cut;
	*done = write_all(&s, &c) == RIG_OK;
	found = start(&s);
	/* And the part can be written again. */
	c = numbered(before + 2);
	assert_int_equal(write_all(&s, &c), RIG_OK);
	assert_int_equal(start(&s), before + 2);
	return found;
}

/* The promise of this module, at every byte of a whole write, over an erased
 * part, one, two and three configurations. */
static void a_cut_at_any_byte_leaves_the_old_or_the_new_one(void **state)
{
	(void)state;
	for (uint32_t before = 0; before < 4; before++) {
		bool done = false;
		uint32_t found = 0;

		for (long cut = 0; !done; cut++) {
			found = cut_write(before, cut, &done);
			/* New only once the last byte was there. */
			assert_int_equal(found, done ? before + 1 : before);
		}
	}
}

static void a_failure_of_any_call_leaves_the_old_or_the_new_one(void **state)
{
	bool done = false;

	(void)state;
	for (unsigned n = 1; !done; n++) {
		struct config_store s;
		struct config c = numbered(1);

		fresh(NULL);
		start(&s);
		assert_int_equal(write_all(&s, &c), RIG_OK);
		c = numbered(2);
		f.calls = 0;
		f.fail_in = n;
		done = write_all(&s, &c) == RIG_OK;
		assert_in_range(start(&s), 1, 2);
		if (done)
			assert_int_equal(start(&s), 2);
	}
}

static void a_flipped_bit_brings_the_older_one_back(void **state)
{
	struct config_store s;
	struct config c = numbered(1);

	(void)state;
	start(&s);
	assert_int_equal(write_all(&s, &c), RIG_OK);
	c = numbered(2);
	assert_int_equal(write_all(&s, &c), RIG_OK);
	for (uint32_t at = 0; at < 16 + 852 + 8; at++) {
		uint32_t base = s.in_force * CONFIG_STORE_SLOT_BYTES;

		f.bytes[base + at] ^= 0x04;
		assert_int_equal(start(&s), 1);
		f.bytes[base + at] ^= 0x04;
		assert_int_equal(start(&s), 2);
	}
}

static void a_part_that_does_not_answer_is_told_from_an_empty_one(void **state)
{
	struct config_store s;
	struct config c;

	(void)state;
	config_default(&c, &test_defaults, SLOTS);
	f.dead = true;
	assert_int_equal(config_store_open(&s, &f.st, &c), RIG_HW);
}

static void another_number_of_slots_is_not_taken(void **state)
{
	struct config_store s;
	struct config c = numbered(1);

	(void)state;
	start(&s);
	assert_int_equal(write_all(&s, &c), RIG_OK);
	config_default(&c, &test_defaults, 4);
	assert_int_equal(config_store_open(&s, &f.st, &c), RIG_CRC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_erased_part_holds_nothing, fresh),
		cmocka_unit_test_setup(the_newest_generation_is_found, fresh),
		cmocka_unit_test_setup(a_staged_record_replaces_the_one_before,
				       fresh),
		cmocka_unit_test_setup(nothing_is_in_force_before_the_commit,
				       fresh),
		cmocka_unit_test_setup(
			a_cut_at_any_byte_leaves_the_old_or_the_new_one, fresh),
		cmocka_unit_test_setup(
			a_failure_of_any_call_leaves_the_old_or_the_new_one,
			fresh),
		cmocka_unit_test_setup(a_flipped_bit_brings_the_older_one_back,
				       fresh),
		cmocka_unit_test_setup(
			a_part_that_does_not_answer_is_told_from_an_empty_one,
			fresh),
		cmocka_unit_test_setup(another_number_of_slots_is_not_taken,
				       fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
