#include "proto/link/delim.h"

#include <stdbool.h>
#include <stdlib.h>

#include "proto/link/tests/cmocka_all.h"

struct stream {
	uint8_t bytes[4096];
	size_t len;
};

static void add(struct stream *s, const void *p, size_t len)
{
	memcpy(s->bytes + s->len, p, len);
	s->len += len;
}

static void add_frame(struct stream *s, const char *text)
{
	uint8_t header[DELIM_HEADER_BYTES];

	delim_header(header, (const uint8_t *)text, strlen(text));
	add(s, header, sizeof(header));
	add(s, text, strlen(text));
}

/* Feed the stream step bytes at a time and note the payloads, one a line. */
static void decode_in_steps(struct delim *d, const struct stream *s,
			    size_t step, char *out)
{
	const uint8_t *payload;
	size_t at = 0;
	size_t len, room;

	out[0] = 0;
	while (at < s->len) {
		uint8_t *dst = delim_space(d, &room);
		size_t n = s->len - at < step ? s->len - at : step;

		n = n < room ? n : room;
		memcpy(dst, s->bytes + at, n);
		delim_fill(d, n);
		at += n;
		while (delim_next(d, &payload, &len) == DELIM_FRAME) {
			strncat(out, (const char *)payload, len);
			strcat(out, "\n");
		}
	}
}

static void expect(const struct stream *s, const char *want)
{
	uint8_t buf[4096];
	char got[4096];
	struct delim d;

	for (size_t step = 1; step < s->len + 1; step += step / 3 + 1) {
		delim_init(&d, buf, sizeof(buf));
		decode_in_steps(&d, s, step, got);
		assert_string_equal(got, want);
	}
}

static void frames_come_out_whatever_the_pieces(void **state)
{
	struct stream s = { .len = 0 };

	(void)state;
	add_frame(&s, "one");
	add_frame(&s, "");
	add_frame(&s, "three");
	expect(&s, "one\n\nthree\n");
}

static void a_banner_before_the_first_frame_is_skipped(void **state)
{
	struct stream s = { .len = 0 };

	(void)state;
	add(&s, "Welcome to BAYBAYBAY host BAYA!\r\n\0\xff", 35);
	add_frame(&s, "one");
	expect(&s, "one\n");
}

static void
half_a_frame_of_a_killed_peer_does_not_swallow_the_next(void **state)
{
	struct stream s = { .len = 0 };
	uint8_t header[DELIM_HEADER_BYTES] = "BAYA\0\0\x30\0abcd";

	(void)state;
	add_frame(&s, "one");
	add(&s, header, sizeof(header));
	add(&s, "part of three MiB", 17);
	add(&s, header, sizeof(header));
	add(&s, "BA", 2);
	add_frame(&s, "two");
	add_frame(&s, "three");
	expect(&s, "one\ntwo\nthree\n");
}

static void a_wrong_checksum_drops_one_frame_only(void **state)
{
	struct stream s = { .len = 0 };

	(void)state;
	add_frame(&s, "one");
	s.bytes[s.len - 1] ^= 1;
	add_frame(&s, "two");
	expect(&s, "two\n");
}

static void a_length_beyond_the_limit_is_not_believed(void **state)
{
	struct stream s = { .len = 0 };

	(void)state;
	add(&s, "BAYA\x01\0\x40\0abcd", 12);
	add_frame(&s, "two");
	expect(&s, "two\n");
}

static void a_frame_beyond_the_buffer_asks_for_room(void **state)
{
	static char text[1000];
	struct stream s = { .len = 0 };
	size_t cap = 64;
	uint8_t *buf = malloc(cap);
	struct delim d;
	const uint8_t *payload;
	size_t at = 0, len, room;
	bool done = false;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	add_frame(&s, text);
	delim_init(&d, buf, cap);
	while (!done) {
		uint8_t *dst = delim_space(&d, &room);
		size_t n = s.len - at < room ? s.len - at : room;

		memcpy(dst, s.bytes + at, n);
		at += n;
		delim_fill(&d, n);
		switch (delim_next(&d, &payload, &len)) {
		case DELIM_GROW:
			cap = delim_need(&d);
			assert_int_equal(cap, sizeof(text) - 1 + 12);
			buf = realloc(buf, cap);
			delim_grown(&d, buf, cap);
			break;
		case DELIM_FRAME:
			done = true;
			break;
		case DELIM_MORE:
			break;
		}
	}
	assert_int_equal(len, sizeof(text) - 1);
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_out_whatever_the_pieces),
		cmocka_unit_test(a_banner_before_the_first_frame_is_skipped),
		cmocka_unit_test(
			half_a_frame_of_a_killed_peer_does_not_swallow_the_next),
		cmocka_unit_test(a_wrong_checksum_drops_one_frame_only),
		cmocka_unit_test(a_length_beyond_the_limit_is_not_believed),
		cmocka_unit_test(a_frame_beyond_the_buffer_asks_for_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
