#include "proto/link/frame.h"

#include "proto/link/tests/cmocka_all.h"

static size_t encode(uint8_t *wire, const uint8_t *payload, size_t len)
{
	struct frame f = {
		.major = 1,
		.flags = FRAME_ACK_REQ | FRAME_RETX,
		.channel = CHANNEL_EVENT,
		.session = 0x1234,
		.seq = 0xfffe,
		.ack = 7,
		.payload = payload,
		.len = len,
	};

	return frame_encode(&f, wire, FRAME_WIRE_MAX);
}

static void every_field_survives(void **state)
{
	uint8_t payload[FRAME_PAYLOAD_MAX];
	uint8_t wire[FRAME_WIRE_MAX];
	struct frame f;

	(void)state;
	for (size_t len = 0; len <= sizeof(payload); len++) {
		size_t n;

		memset(payload, (int)len & 0xff, len);
		n = encode(wire, payload, len);
		assert_in_range(n, len + 14, FRAME_WIRE_MAX - 1);
		assert_int_equal(wire[n - 1], 0);
		assert_int_equal(frame_decode(wire, n - 1, &f), FRAME_OK);
		assert_int_equal(f.major, 1);
		assert_int_equal(f.flags, FRAME_ACK_REQ | FRAME_RETX);
		assert_int_equal(f.channel, CHANNEL_EVENT);
		assert_int_equal(f.session, 0x1234);
		assert_int_equal(f.seq, 0xfffe);
		assert_int_equal(f.ack, 7);
		assert_int_equal(f.len, len);
		assert_memory_equal(f.payload, payload, len);
	}
}

static void the_layout_on_the_wire_is_fixed(void **state)
{
	static const uint8_t want[] = { 0x01 };
	uint8_t wire[FRAME_WIRE_MAX];
	static const uint8_t head[] = { 0x08, 0x13, 0x02, 0x34,
					0x12, 0xfe, 0xff, 0x07 };

	(void)state;
	assert_int_equal(encode(wire, want, 1), 15);
	assert_memory_equal(wire, head, sizeof(head));
}

static void too_long_a_payload_is_refused(void **state)
{
	uint8_t payload[FRAME_PAYLOAD_MAX + 1] = { 0 };
	uint8_t wire[2 * FRAME_WIRE_MAX];

	(void)state;
	assert_int_equal(encode(wire, payload, sizeof(payload)), 0);
}

/* The claim of design and docs: up to 5 flipped bits are always seen. */
static void flipped_bits_are_found(void **state)
{
	uint8_t payload[40] = { 1, 2, 3 };
	uint8_t good[FRAME_WIRE_MAX];
	uint8_t bad[FRAME_WIRE_MAX];
	uint32_t x = 1;
	struct frame f;
	size_t n = encode(good, payload, sizeof(payload)) - 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		memcpy(bad, good, n);
		for (unsigned i = 0; i <= round % 5; i++) {
			x = x * 1664525u + 1013904223u;
			bad[(x >> 8) % n] ^= (uint8_t)(1u << (x >> 29));
		}
		if (!memcmp(bad, good, n))
			continue;
		assert_int_not_equal(frame_decode(bad, n, &f), FRAME_OK);
	}
}

static unsigned split_all(struct frame_splitter *s, const uint8_t *p, size_t n,
			  unsigned *dropped)
{
	unsigned whole = 0;
	bool drop;

	for (size_t i = 0; i < n; i++) {
		whole += frame_split(s, p[i], &drop);
		*dropped += drop;
	}
	return whole;
}

static void
overlong_stretches_are_dropped_up_to_the_next_delimiter(void **state)
{
	struct frame_splitter s = { .len = 0 };
	uint8_t noise[2000];
	unsigned dropped = 0;

	(void)state;
	memset(noise, 7, sizeof(noise));
	noise[1998] = 0;
	assert_int_equal(split_all(&s, noise, 1999, &dropped), 0);
	assert_int_equal(dropped, 1);
	assert_int_equal(
		split_all(&s, (const uint8_t *)"ab\0\0\0c\0", 7, &dropped), 2);
	assert_int_equal(dropped, 1);
	assert_int_equal(s.len, 1);
	assert_int_equal(s.buf[0], 'c');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_survives),
		cmocka_unit_test(the_layout_on_the_wire_is_fixed),
		cmocka_unit_test(too_long_a_payload_is_refused),
		cmocka_unit_test(flipped_bits_are_found),
		cmocka_unit_test(
			overlong_stretches_are_dropped_up_to_the_next_delimiter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
