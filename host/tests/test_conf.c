/* Files that no one would write: too large, too deep, not text, no file. Each
 * is refused with one line, and without much memory or time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/bench/bench.h"
#include "host/matrix/matrix.h"
#include "host/util/buf.h"

#define HEAD "experiment: e\nlayout: single\nworkload: dd-write\n"

static void assert_refused(const char *text, const char *what)
{
	struct matrix *m = NULL;
	struct err err = { 0 };

	if (matrix_parse("m.yaml", text, strlen(text), &m, &err) != -EINVAL)
		fail_msg("not refused: %s", what);
	assert_string_equal(err.text, what);
	assert_null(strchr(err.text, '\n'));
}

static void refuse_and_free(struct buf *b, const char *what)
{
	assert_refused(buf_str(b), what);
	buf_free(b);
}

/* Ten names, each ten times the one before. */
static void aliases_do_not_multiply_without_end(void **state)
{
	struct buf b = { 0 };
	unsigned i, k;

	(void)state;
	buf_printf(&b, HEAD "fs: &a0 [xfs]\n");
	for (i = 1; i < 10; i++) {
		buf_printf(&b, "fs%u: &a%u [*a%u", i, i, i - 1);
		for (k = 1; k < 10; k++)
			buf_printf(&b, ", *a%u", i - 1);
		buf_printf(&b, "]\n");
	}
	refuse_and_free(&b, "m.yaml:10: fs6[3][4][3][6][8][1]: grows too "
			    "large by aliases (*name); write the values out");
}

static void a_long_value_is_not_repeated_without_end(void **state)
{
	struct buf b = { 0 };
	unsigned i;

	(void)state;
	buf_printf(&b, HEAD "kernel: &a ");
	for (i = 0; i < 400000; i++)
		buf_append(&b, "x", 1);
	buf_printf(&b, "\nthresh:\n");
	for (i = 0; i < 100000; i++)
		buf_printf(&b, "- *a\n");
	refuse_and_free(&b, "m.yaml:5: thresh[10]: grows too large by aliases "
			    "(*name); write the values out");
}

static void nesting_has_an_end(void **state)
{
	struct buf b = { 0 };
	unsigned i;

	(void)state;
	buf_printf(&b, HEAD "x: ");
	for (i = 0; i < 1000; i++)
		buf_printf(&b, "[");
	for (i = 0; i < 1000; i++)
		buf_printf(&b, "]");
	refuse_and_free(&b, "m.yaml:4: x[0][0][0][0][0][0][0][0][0][0][0][0][0]"
			    "[0][0]: is nested too deeply");
}

static void keys_and_values_have_a_limit(void **state)
{
	struct buf b = { 0 };
	unsigned i;

	(void)state;
	buf_printf(&b, HEAD "params:\n");
	for (i = 0; i < 300; i++)
		buf_printf(&b, "  k%u: 1\n", i);
	refuse_and_free(&b, "m.yaml:261: this is key 257 of its mapping, too "
			    "many");
	buf_printf(&b, HEAD "params:\n");
	for (i = 0; i < 65; i++)
		buf_printf(&b, "  k%u: 1\n", i);
	refuse_and_free(&b, "m.yaml:4: params: has more than 64 entries");
	buf_printf(&b, HEAD "thresh:\n");
	for (i = 0; i < 257; i++)
		buf_printf(&b, " - %uM\n", i + 1);
	refuse_and_free(&b, "m.yaml:4: thresh: has more than 256 "
			    "entries");
}

static void zero_bytes_are_refused_at_their_line(void **state)
{
	static const char raw[] = "experiment: e\nlayout: si\0ngle\n";
	struct matrix *m = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(matrix_parse("m.yaml", raw, sizeof(raw) - 1, &m, &err),
			 -EINVAL);
	assert_string_equal(err.text,
			    "m.yaml:2: is not a YAML file of UTF-8 text");
	/* An escape that makes one would hide the rest of the text. */
	assert_refused(HEAD "fs: \"xfs\\0ext4\"\n",
		       "m.yaml:4: fs: has a zero byte");
	assert_refused(HEAD "\"fs\\0\": xfs\n",
		       "m.yaml:4: a key must be plain text");
}

/* ---- on disk ------------------------------------------------------------ */

static char dir[32], path[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/bay-conf-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/f.yaml", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

/* Of matrix and bench alike. */
static void assert_unreadable(const char *name, int code, const char *before,
			      const char *behind)
{
	struct matrix *m = NULL;
	struct bench *b = NULL;
	struct err err = { 0 };
	char what[256];

	snprintf(what, sizeof(what), "%s%s%s", before, name, behind);
	assert_int_equal(matrix_load(name, &m, &err), code);
	assert_string_equal(err.text, what);
	assert_int_equal(bench_load(name, &b, &err), code);
	assert_string_equal(err.text, what);
}

static void a_directory_is_no_file(void **state)
{
	(void)state;
	assert_unreadable(dir, -EISDIR, "cannot read ", ": Is a directory");
}

static void a_huge_file_is_not_read_to_its_end(void **state)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	close(fd);
	assert_unreadable(path, -EFBIG, "",
			  ": is larger than 1024 KiB; a bench or a matrix is "
			  "not, is it another file?");
	assert_unreadable("/dev/zero", -EFBIG, "",
			  ": is larger than 1024 KiB; a bench or a matrix is "
			  "not, is it another file?");
}

static void a_file_without_permission_is_named(void **state)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	if (access(path, R_OK) == 0)
		skip(); /* root may read all */
	assert_unreadable(path, -EACCES, "cannot read ", ": Permission denied");
}

static void a_program_is_not_yaml(void **state)
{
	static const char elf[16] = "\x7f"
				    "ELF\x02\x01\x01";
	FILE *f = fopen(path, "we");

	(void)state;
	assert_non_null(f);
	fwrite(elf, 1, sizeof(elf), f);
	fclose(f);
	assert_unreadable(path, -EINVAL, "",
			  ":1: is not a YAML file of UTF-8 text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aliases_do_not_multiply_without_end),
		cmocka_unit_test(a_long_value_is_not_repeated_without_end),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(keys_and_values_have_a_limit),
		cmocka_unit_test(zero_bytes_are_refused_at_their_line),
		cmocka_unit_test_setup_teardown(a_directory_is_no_file,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(
			a_huge_file_is_not_read_to_its_end, make_dir,
			remove_dir),
		cmocka_unit_test_setup_teardown(
			a_file_without_permission_is_named, make_dir,
			remove_dir),
		cmocka_unit_test_setup_teardown(a_program_is_not_yaml, make_dir,
						remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
