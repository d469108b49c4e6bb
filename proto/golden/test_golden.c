/* Both implementations read every golden message alike.
 * Usage: test-golden DIRECTORY */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/golden/codec.h"
#include "proto/link/frame.h"
#include "proto/link/tests/cmocka_all.h"

static const char *golden_dir;

static size_t load(const char *name, uint8_t *bytes)
{
	char path[512];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", golden_dir, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	len = fread(bytes, 1, CODEC_BYTES, f);
	fclose(f);
	return len;
}

static void expect_same(const char *name, const char *type)
{
	uint8_t want[CODEC_BYTES];
	uint8_t got[CODEC_BYTES];
	size_t len = load(name, want);

	assert_in_range(len, 0, FRAME_PAYLOAD_MAX);
	memset(got, 0xa5, sizeof(got));
	assert_int_equal(codec_nanopb(type, want, len, got), len);
	assert_memory_equal(got, want, len);
	memset(got, 0xa5, sizeof(got));
	assert_int_equal(codec_protobuf_c(type, want, len, got), len);
	assert_memory_equal(got, want, len);
}

static void both_give_every_golden_message_back(void **state)
{
	struct dirent *e;
	unsigned count = 0;
	DIR *d = opendir(golden_dir);

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		const char *dot = strrchr(e->d_name, '.');
		char type[16];

		if (!dot || strcmp(dot, ".bin") != 0 ||
		    sscanf(e->d_name, "%15[^-]", type) != 1 ||
		    !strcmp(type, "future"))
			continue;
		print_message("%s\n", e->d_name);
		expect_same(e->d_name, type);
		count++;
	}
	closedir(d);
	assert_in_range(count, 30, 1000);
}

static void both_pass_over_fields_of_the_future(void **state)
{
	uint8_t future[CODEC_BYTES];
	uint8_t want[CODEC_BYTES];
	uint8_t got[CODEC_BYTES];
	size_t n = load("future-command.bin", future);
	size_t len = load("command-slot-set-on.bin", want);

	(void)state;
	assert_int_equal(codec_nanopb("command", future, n, got), len);
	assert_memory_equal(got, want, len);
	assert_int_equal(codec_protobuf_c("command", future, n, got), len);
	assert_memory_equal(got, want, len);
}

/* Whatever is left of a message: no crash, and where both can read it, they
 * read the same. */
static void both_agree_on_what_is_cut_off(void **state)
{
	uint8_t whole[CODEC_BYTES];
	uint8_t a[CODEC_BYTES];
	uint8_t b[CODEC_BYTES];
	size_t len = load("result-slot-status.bin", whole);

	(void)state;
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = malloc(n + 1);
		size_t na, nb;

		memcpy(cut, whole, n);
		na = codec_nanopb("result", cut, n, a);
		nb = codec_protobuf_c("result", cut, n, b);
		free(cut);
		assert_int_equal(na, nb);
		if (na != CODEC_BAD)
			assert_memory_equal(a, b, na);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_give_every_golden_message_back),
		cmocka_unit_test(both_pass_over_fields_of_the_future),
		cmocka_unit_test(both_agree_on_what_is_cut_off),
	};

	if (argc != 2)
		return 2;
	golden_dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
