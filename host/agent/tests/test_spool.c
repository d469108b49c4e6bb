/* The spool: whole results only, whatever call fails. */
#include "host/agent/spool.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int setup(void **state)
{
	char *dir = strdup("/tmp/bay-test-spool-XXXXXX");

	*state = dir;
	return dir && mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	int rc = fs_remove_tree(*state);

	free(*state);
	return rc;
}

/* The same operations, with one call that fails. */
struct faulty {
	unsigned calls;
	unsigned fail_at;
	int code;
	bool failed;
};

static bool faulty_hits(void *arg)
{
	struct faulty *f = arg;

	if (++f->calls != f->fail_at)
		return false;
	f->failed = true;
	return true;
}

static int faulty_create(void *arg, const char *path)
{
	return faulty_hits(arg) ? ((struct faulty *)arg)->code
				: spool_ops_files.create(NULL, path);
}

static int faulty_reserve(void *arg, int fd, uint64_t bytes)
{
	return faulty_hits(arg) ? ((struct faulty *)arg)->code
				: spool_ops_files.reserve(NULL, fd, bytes);
}

static int faulty_write(void *arg, int fd, const void *data, size_t len)
{
	if (!faulty_hits(arg))
		return spool_ops_files.write(NULL, fd, data, len);
	(void)spool_ops_files.write(NULL, fd, data, len / 2);
	return ((struct faulty *)arg)->code;
}

static int faulty_sync(void *arg, int fd, uint64_t len)
{
	return faulty_hits(arg) ? ((struct faulty *)arg)->code
				: spool_ops_files.sync(NULL, fd, len);
}

static int faulty_close(void *arg, int fd)
{
	int rc = spool_ops_files.close(NULL, fd);

	return faulty_hits(arg) ? ((struct faulty *)arg)->code : rc;
}

static int faulty_rename(void *arg, const char *from, const char *to)
{
	return faulty_hits(arg) ? ((struct faulty *)arg)->code
				: spool_ops_files.rename(NULL, from, to);
}

static int faulty_unlink(void *arg, const char *path)
{
	return faulty_hits(arg) ? ((struct faulty *)arg)->code
				: spool_ops_files.unlink(NULL, path);
}

static int faulty_read(void *arg, const char *path, size_t max, struct buf *out)
{
	return faulty_hits(arg) ? ((struct faulty *)arg)->code
				: spool_ops_files.read(NULL, path, max, out);
}

static int store(struct spool *s, const char *text)
{
	int rc = spool_reserve(s, NULL);

	return rc ? rc : spool_commit(s, text, strlen(text), NULL);
}

static void a_result_stays_until_it_is_acknowledged(void **state)
{
	struct arena arena = { 0 };
	struct spool_item *item;
	struct buf b = { 0 };
	struct spool s;
	size_t count;

	assert_int_equal(spool_open(&s, &spool_ops_files, *state, 7, NULL), 0);
	assert_int_equal(store(&s, "one"), 0);
	assert_int_equal(store(&s, "two"), 0);
	spool_close(&s);
	/* the next agent */
	assert_int_equal(spool_open(&s, &spool_ops_files, *state, 8, NULL), 0);
	assert_int_equal(store(&s, "three"), 0);
	assert_int_equal(spool_list(&s, &arena, &item, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(spool_get(&s, item[0].id, &b), 0);
	assert_string_equal(buf_str(&b), "one");
	for (size_t i = 0; i < count; i++)
		assert_int_equal(spool_ack(&s, item[i].id), 0);
	assert_int_equal(spool_ack(&s, item[0].id), 0);
	assert_int_equal(spool_count(&s), 0);
	assert_int_equal(spool_get(&s, item[0].id, &b), -ENOENT);
	buf_free(&b);
	arena_free(&arena);
	spool_close(&s);
}

static void names_from_outside_stay_in_the_folder(void **state)
{
	struct buf b = { 0 };
	struct spool s;

	assert_int_equal(spool_open(&s, &spool_ops_files, *state, 7, NULL), 0);
	assert_int_equal(spool_get(&s, "../../etc/passwd", &b), -ENOENT);
	assert_int_equal(spool_get(&s, "", &b), -ENOENT);
	assert_int_equal(spool_ack(&s, "../x"), 0);
	buf_free(&b);
	spool_close(&s);
}

static void a_damaged_result_is_told_from_a_whole_one(void **state)
{
	struct arena arena = { 0 };
	struct spool_item *item;
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	struct spool s;
	size_t count;

	assert_int_equal(spool_open(&s, &spool_ops_files, *state, 7, NULL), 0);
	assert_int_equal(store(&s, "payload"), 0);
	assert_int_equal(spool_list(&s, &arena, &item, &count), 0);
	assert_int_equal(
		fs_path(path, "%s/%s.cell", (char *)*state, item[0].id), 0);
	assert_int_equal(fs_read(path, 1000, &b), 0);
	b.data[b.len - 1] ^= 1;
	assert_int_equal(fs_write_atomic(path, b.data, b.len), 0);
	assert_int_equal(spool_get(&s, item[0].id, &b), -EBADMSG);
	assert_int_equal(fs_write_atomic(path, b.data, 5), 0);
	assert_int_equal(spool_get(&s, item[0].id, &b), -EBADMSG);
	buf_free(&b);
	arena_free(&arena);
	spool_close(&s);
}

static void a_full_disk_is_told_before_the_workload(void **state)
{
	struct faulty f = { .fail_at = 2, .code = -ENOSPC };
	struct spool_ops ops = { faulty_create, faulty_reserve, faulty_write,
				 faulty_sync,   faulty_close,   faulty_rename,
				 faulty_unlink, faulty_read,    &f };
	struct err err = { 0 };
	struct spool s;

	assert_int_equal(spool_open(&s, &ops, *state, 7, NULL), 0);
	assert_int_equal(spool_reserve(&s, &err), -ENOSPC);
	assert_non_null(strstr(err.text, *state));
	spool_close(&s);
}

/* Anomaly loop over reserve, commit, close: the result is there, whole, exactly
 * when commit said so, or nothing is. */
static void no_failing_call_leaves_half_a_result(void **state)
{
	bool failed = true;

	for (unsigned n = 1; failed; n++) {
		struct faulty f = { .fail_at = n, .code = -EIO };
		struct spool_ops ops = {
			faulty_create, faulty_reserve, faulty_write,
			faulty_sync,   faulty_close,   faulty_rename,
			faulty_unlink, faulty_read,    &f
		};
		struct arena arena = { 0 };
		struct spool_item *item;
		struct buf b = { 0 };
		struct spool s;
		size_t count;
		int rc;

		assert_int_equal(spool_open(&s, &ops, *state, n, NULL), 0);
		rc = store(&s, "whole");
		spool_close(&s);
		failed = f.failed;
		/* the next agent */
		assert_int_equal(spool_open(&s, &spool_ops_files, *state,
					    1000 + n, NULL),
				 0);
		assert_int_equal(spool_list(&s, &arena, &item, &count), 0);
		assert_int_equal(count, rc == 0);
		if (count) {
			assert_int_equal(spool_get(&s, item[0].id, &b), 0);
			assert_string_equal(buf_str(&b), "whole");
			assert_int_equal(spool_ack(&s, item[0].id), 0);
		}
		buf_free(&b);
		arena_free(&arena);
		spool_close(&s);
		assert_true(n < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_result_stays_until_it_is_acknowledged, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			names_from_outside_stay_in_the_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_damaged_result_is_told_from_a_whole_one, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_full_disk_is_told_before_the_workload, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			no_failing_call_leaves_half_a_result, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
