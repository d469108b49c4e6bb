/* The stream on a named pipe, which hangs up as a virtio port does: poll and
 * read tell that the writer has left until another comes, and nothing when
 * both happen before anybody looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/agent/stream.h"

struct bed {
	char dir[40];
	char path[64];
	uv_loop_t loop;
	struct stream stream;
	int host;    /* writes to the port; -1: nobody is there */
	int answers; /* what the port has sent */
	unsigned hangups;
	char got[256]; /* payloads, each with a '.' */
};

static void on_frame(void *arg, const uint8_t *payload, size_t len)
{
	struct bed *b = arg;
	size_t at = strlen(b->got);

	assert_true(at + len + 2 < sizeof(b->got));
	memcpy(b->got + at, payload, len);
	memcpy(b->got + at + len, ".", 2);
}

static void on_closed(void *arg)
{
	struct bed *b = arg;

	b->hangups++;
}

static void host_comes(struct bed *b)
{
	b->host = open(b->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(b->host >= 0);
}

static void host_leaves(struct bed *b)
{
	close(b->host);
	b->host = -1;
}

static void look(struct bed *b)
{
	(void)uv_run(&b->loop, UV_RUN_NOWAIT);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	const struct stream_cbs cbs = { on_frame, on_closed, b };
	int back[2];
	int in;

	*state = b;
	(void)strcpy(b->dir, "/tmp/bay-test-stream-XXXXXX");
	if (!mkdtemp(b->dir))
		return -1;
	snprintf(b->path, sizeof(b->path), "%s/port", b->dir);
	if (mkfifo(b->path, 0600) < 0 || pipe2(back, O_CLOEXEC) < 0 ||
	    uv_loop_init(&b->loop) || stream_init(&b->stream, &b->loop, &cbs))
		return -1;
	b->answers = back[0];
	in = open(b->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(stream_open_port(&b->stream, in, back[1]), 0);
	assert_true(stream_is_away(&b->stream));
	host_comes(b);
	assert_true(stream_try_resume(&b->stream));
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	host_leaves(b);
	stream_free(&b->stream);
	(void)uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&b->loop), 0);
	close(b->answers);
	unlink(b->path);
	rmdir(b->dir);
	free(b);
	return 0;
}

/* A frame's bytes from..to-1. */
static void put_part(struct bed *b, const char *payload, size_t len,
		     size_t from, size_t to)
{
	uint8_t frame[DELIM_HEADER_BYTES + 64];

	delim_header(frame, (const uint8_t *)payload, len);
	memcpy(frame + DELIM_HEADER_BYTES, payload, len);
	assert_int_equal(write(b->host, frame + from, to - from), to - from);
}

static void put(struct bed *b, const char *text)
{
	size_t len = strlen(text);

	put_part(b, text, len, 0, DELIM_HEADER_BYTES + len);
}

static void a_hang_up_that_is_over_goes_unseen(void **state)
{
	struct bed *b = *state;

	put(b, "one");
	look(b);
	host_leaves(b);
	host_comes(b);
	put(b, "two");
	look(b);
	assert_string_equal(b->got, "one.two.");
	assert_int_equal(b->hangups, 0);
}

static void half_a_frame_of_a_host_that_left_is_skipped(void **state)
{
	struct bed *b = *state;

	put_part(b, "never finished", 14, 0, 20);
	look(b);
	host_leaves(b);
	look(b);
	assert_int_equal(b->hangups, 1);
	assert_true(stream_is_away(&b->stream));
	assert_false(stream_try_resume(&b->stream));
	host_comes(b);
	assert_true(stream_try_resume(&b->stream));
	put(b, "hello");
	look(b);
	assert_string_equal(b->got, "hello.");
}

/* The port tells of the hang-up when the next host's bytes are in it. */
static void a_late_hang_up_costs_the_next_host_nothing(void **state)
{
	struct bed *b = *state;

	host_leaves(b);
	host_comes(b);
	put_part(b, "hello", 5, 0, DELIM_HEADER_BYTES);
	look(b);
	host_leaves(b);
	look(b);
	assert_int_equal(b->hangups, 1);
	host_comes(b);
	assert_true(stream_try_resume(&b->stream));
	put_part(b, "hello", 5, DELIM_HEADER_BYTES, DELIM_HEADER_BYTES + 5);
	look(b);
	assert_string_equal(b->got, "hello.");
}

static void what_is_sent_meanwhile_is_kept(void **state)
{
	struct bed *b = *state;
	char frame[64];

	host_leaves(b);
	look(b);
	stream_send(&b->stream, (const uint8_t *)"answer", 6);
	look(b);
	assert_int_equal(stream_backlog(&b->stream), DELIM_HEADER_BYTES + 6);
	host_comes(b);
	assert_true(stream_try_resume(&b->stream));
	look(b);
	assert_int_equal(stream_backlog(&b->stream), 0);
	assert_int_equal(read(b->answers, frame, sizeof(frame)),
			 DELIM_HEADER_BYTES + 6);
	assert_memory_equal(frame + DELIM_HEADER_BYTES, "answer", 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_hang_up_that_is_over_goes_unseen),
		TEST(half_a_frame_of_a_host_that_left_is_skipped),
		TEST(a_late_hang_up_costs_the_next_host_nothing),
		TEST(what_is_sent_meanwhile_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
