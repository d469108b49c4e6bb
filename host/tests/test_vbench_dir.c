/* The runtime directory of a virtual bench: who has it, and that it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bench/vbench.h"
#include "host/bench/vbench_dir.h"
#include "host/util/fs.h"

struct place {
	char top[64];
	char parent[96]; /* of the benches of a user */
	char run[128];
};

static bool there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void put(const struct place *p, const char *name)
{
	char path[FS_PATH_BYTES];

	assert_int_equal(fs_path(path, "%s/%s", p->run, name), 0);
	assert_int_equal(fs_write_atomic(path, "x", 1), 0);
}

static void one_bench_at_a_time(void **state)
{
	struct place *p = *state;
	struct vbench_dir d, other;
	struct err err = { 0 };

	assert_int_equal(vbench_dir_open(&d, p->run, &err), 0);
	assert_int_equal(vbench_dir_open(&other, p->run, &err), -EBUSY);
	assert_non_null(strstr(err.text, "already up"));
	assert_int_equal(vbench_dir_clear(p->run, 1), -ETIMEDOUT);
	vbench_dir_close(&d, false);
	assert_false(there(p->parent));
	assert_true(there(p->top));
	assert_int_equal(vbench_dir_open(&d, p->run, &err), 0);
	vbench_dir_close(&d, false);
}

static void a_killed_bench_is_cleared_away(void **state)
{
	struct place *p = *state;
	struct vbench_dir d;
	struct err err = { 0 };

	assert_int_equal(vbench_dir_open(&d, p->run, &err), 0);
	put(p, "bench.ctl");
	put(p, "bench.log");
	close(d.lock_fd);
	assert_int_equal(vbench_dir_clear(p->run, 1), 1);
	assert_false(there(p->parent));
	assert_int_equal(vbench_dir_clear(p->run, 1), 0);
}

/* As a supervisor leaves it between its lock and the directory. */
static void a_directory_without_its_lock_is_gone_when_cleared(void **state)
{
	struct place *p = *state;

	assert_int_equal(fs_mkdirs(p->run), 0);
	assert_int_equal(vbench_dir_clear(p->run, 1), 0);
	assert_false(there(p->run));
	assert_false(there(p->parent));
}

static void what_is_not_the_benchs_stays(void **state)
{
	struct place *p = *state;
	struct vbench_dir d;
	struct err err = { 0 };

	assert_int_equal(fs_mkdirs(p->run), 0);
	put(p, "mine.img");
	assert_int_equal(vbench_dir_clear(p->run, 1), 0);
	assert_int_equal(rmdir(p->run), -1);
	assert_int_equal(vbench_dir_open(&d, p->run, &err), 0);
	put(p, "bench.log");
	vbench_dir_close(&d, true);
	assert_int_equal(vbench_dir_clear(p->run, 1), 0);
	assert_int_equal(rmdir(p->run), -1);
}

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	*state = p;
	if (!p)
		return -1;
	(void)snprintf(p->top, sizeof(p->top), "/tmp/bay-vdir-XXXXXX");
	if (!mkdtemp(p->top))
		return -1;
	(void)snprintf(p->parent, sizeof(p->parent), "%s/bay-user", p->top);
	(void)snprintf(p->run, sizeof(p->run), "%s/lab", p->parent);
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	fs_remove_tree(p->top);
	free(p);
	return 0;
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_bench_at_a_time),
		TEST(a_killed_bench_is_cleared_away),
		TEST(a_directory_without_its_lock_is_gone_when_cleared),
		TEST(what_is_not_the_benchs_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
