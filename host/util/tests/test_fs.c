#include "host/util/fs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int make_folder(void **state)
{
	char *dir = strdup("/tmp/bay-test-fs-XXXXXX");

	*state = dir;
	return dir && mkdtemp(dir) ? 0 : -1;
}

static int drop_folder(void **state)
{
	int rc = fs_remove_tree(*state);

	free(*state);
	return rc;
}

static void an_atomic_write_replaces_the_whole_content(void **state)
{
	char path[FS_PATH_BYTES];
	char line[16];

	assert_int_equal(fs_path(path, "%s/a/b/f", (char *)*state), 0);
	assert_int_equal(fs_write_atomic(path, "x", 1), -ENOENT);
	path[strlen(path) - 2] = '\0';
	assert_int_equal(fs_mkdirs(path), 0);
	assert_int_equal(fs_mkdirs(path), 0);
	assert_int_equal(fs_path(path, "%s/a/b/f", (char *)*state), 0);
	assert_int_equal(fs_write_atomic(path, "long text\n", 10), 0);
	assert_int_equal(fs_write_atomic(path, " 42 \n9", 6), 0);
	assert_int_equal(fs_read_line(path, line, sizeof(line)), 0);
	assert_string_equal(line, "42");
	assert_int_equal(fs_unlink_sync(path), 0);
	assert_int_equal(fs_unlink_sync(path), 0);
	assert_false(fs_exists(path));
}

static void reading_is_bounded(void **state)
{
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	char small[4];
	uint64_t v = 0;

	assert_int_equal(fs_path(path, "%s/n", (char *)*state), 0);
	assert_int_equal(fs_write_atomic(path, "123456\n", 7), 0);
	assert_int_equal(fs_read(path, 6, &b), -EFBIG);
	assert_int_equal(fs_read_line(path, small, sizeof(small)), -EMSGSIZE);
	assert_int_equal(fs_read_u64(path, &v), 0);
	assert_int_equal(v, 123456);
	assert_int_equal(fs_write_text(path, "7"), 0);
	assert_int_equal(fs_read_u64(path, &v), 0);
	assert_int_equal(v, 7);
	buf_free(&b);
}

static void what_is_set_aside_overwrites_nothing(void **state)
{
	char path[FS_PATH_BYTES];
	char aside[FS_PATH_BYTES];
	char line[16];

	assert_int_equal(fs_path(path, "%s/s", (char *)*state), 0);
	assert_int_equal(fs_set_aside(path, aside), -ENOENT);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fs_write_atomic(path, i ? "b" : "a", 1), 0);
		assert_int_equal(fs_set_aside(path, aside), 0);
		assert_false(fs_exists(path));
	}
	assert_string_equal(aside + strlen(path), ".bad-2");
	assert_int_equal(fs_path(aside, "%s.bad", path), 0);
	assert_int_equal(fs_read_line(aside, line, sizeof(line)), 0);
	assert_string_equal(line, "a");
}

static void a_long_path_is_refused(void **state)
{
	char path[FS_PATH_BYTES];
	char name[2 * FS_PATH_BYTES];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(fs_path(path, "/%s", name), -ENAMETOOLONG);
	assert_string_equal(path, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_atomic_write_replaces_the_whole_content),
		cmocka_unit_test(reading_is_bounded),
		cmocka_unit_test(what_is_set_aside_overwrites_nothing),
		cmocka_unit_test(a_long_path_is_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
