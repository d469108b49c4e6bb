/* The journal: what it keeps, and what it keeps when writing fails or the
 * process dies at any point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/store/store.h"
#include "host/tests/fail_vfs.h"

#define BOOT "boot-1"

static char dir[64], path[96];

static void clean(void)
{
	static const char *const suffix[] = { "", "-wal", "-shm", "-journal" };
	char name[128];
	size_t i;

	for (i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffix[i]);
		unlink(name);
	}
}

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/bay-store-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/results.db", dir);
	fail_vfs_register();
	return 0;
}

static int drop_dir(void **state)
{
	(void)state;
	clean();
	return rmdir(dir);
}

static int fresh(void **state)
{
	(void)state;
	clean();
	fail_vfs_arm(0, FAIL_ONCE);
	return 0;
}

static struct store *open_store(void)
{
	struct store *s = NULL;
	struct err err = { 0 };

	if (store_open(path, STORE_WRITE, FAIL_VFS_NAME, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

/* ---- a plan of two cells and their results ------------------------------ */

#define CELLS 2

static Bay__Cell cells[CELLS];
static Bay__Cell *cell_list[CELLS];
static Bay__ArraySpec array = BAY__ARRAY_SPEC__INIT;
static Bay__FsSpec fs = BAY__FS_SPEC__INIT;
static Bay__WorkloadSpec workload = BAY__WORKLOAD_SPEC__INIT;

static Bay__Cell **plan(void)
{
	static char keys[CELLS][8], names[CELLS][32], exp[] = "e";
	unsigned i;

	for (i = 0; i < CELLS; i++) {
		bay__cell__init(&cells[i]);
		snprintf(keys[i], sizeof(keys[i]), "key%u", i);
		snprintf(names[i], sizeof(names[i]), "bay/single/xfs-%udd-1",
			 i);
		cells[i].key = keys[i];
		cells[i].case_name = names[i];
		cells[i].experiment = exp;
		cells[i].repeat = 1;
		cells[i].order = i;
		cells[i].array = &array;
		cells[i].fs = &fs;
		cells[i].workload = &workload;
		cell_list[i] = &cells[i];
	}
	return cell_list;
}

struct a_result {
	Bay__CellResult r;
	Bay__Metric metric, *metrics[1];
	Bay__Param env[2], *envs[2];
	Bay__PhaseTime phase, *phases[1];
};

static void make_result(struct a_result *a, const char *key, unsigned attempt)
{
	bay__cell_result__init(&a->r);
	bay__metric__init(&a->metric);
	bay__phase_time__init(&a->phase);
	bay__param__init(&a->env[0]);
	bay__param__init(&a->env[1]);
	a->r.key = (char *)key;
	a->r.attempt = attempt;
	a->r.state = BAY__CELL_STATE__CELL_DONE;
	a->r.kernel_release = (char *)"6.1.0";
	a->metric.name = (char *)"write_bw";
	a->metric.value = 42.5;
	a->metric.unit = (char *)"MB/s";
	a->metrics[0] = &a->metric;
	a->r.metric = a->metrics;
	a->r.n_metric = 1;
	a->env[0].name = (char *)"vm.swappiness";
	a->env[0].value = (char *)"60";
	a->env[1].name = (char *)"mount";
	a->env[1].value = (char *)"noatime";
	a->envs[0] = &a->env[0];
	a->envs[1] = &a->env[1];
	a->r.environment = a->envs;
	a->r.n_environment = 2;
	a->phase.phase = (char *)"mkfs";
	a->phase.seconds = 2;
	a->phases[0] = &a->phase;
	a->r.phase = a->phases;
	a->r.n_phase = 1;
}

static int count_result(void *arg, const struct store_row *r)
{
	unsigned *n = arg;

	*n += r->result != 0;
	return 0;
}

static int count_metric(void *arg, const struct store_metric *m)
{
	unsigned *n = arg;

	assert_string_equal(m->name, "write_bw");
	++*n;
	return 0;
}

/* Whatever the journal holds: bring all cells to their end, as a resumed run
 * does. */
static int drive(const char *vfs, struct err *err)
{
	struct store *s = NULL;
	struct a_result a;
	unsigned n, i, attempt;
	bool kept;
	int ret;

	ret = store_open(path, STORE_WRITE, vfs, &s, err);
	if (ret < 0)
		return ret;
	ret = store_plan(s, "e", "bench", "text", plan(), CELLS, err);
	if (ret == 0)
		ret = store_recover(s, BOOT, &n, err);
	for (i = 0; i < CELLS && ret == 0; i++) {
		struct store_cell c = { 0 };

		ret = store_cell(s, cells[i].key, &c, err);
		if (ret < 0 || c.state == BAY__CELL_STATE__CELL_DONE)
			continue;
		ret = store_begin(s, cells[i].key, BOOT, &attempt, err);
		if (ret == 0 && i == 1 && attempt == 1)
			ret = store_fail(
				s, cells[i].key, attempt,
				&(struct store_failure){
					.state = BAY__CELL_STATE__CELL_FAILED,
					.why = "odd" },
				NULL, err);
		if (ret == 0 && i == 1 && attempt == 1)
			ret = store_begin(s, cells[i].key, BOOT, &attempt, err);
		make_result(&a, cells[i].key, attempt);
		if (ret == 0)
			ret = store_result(s, &a.r, &kept, err);
	}
	store_close(s);
	return ret;
}

static void assert_complete(void)
{
	struct store *s = open_store();
	struct store_counts c;
	struct err err = { 0 };
	unsigned results = 0, metrics = 0;

	assert_int_equal(store_count(s, "e", &c, &err), 0);
	assert_int_equal(c.done, CELLS);
	assert_int_equal(c.planned + c.running + c.failed + c.quarantined, 0);
	assert_int_equal(store_rows(s, count_result, &results, &err), 0);
	assert_int_equal(results, CELLS);
	assert_int_equal(store_metrics(s, count_metric, &metrics, &err), 0);
	assert_int_equal(metrics, CELLS);
	store_close(s);
}

/* ---- tests -------------------------------------------------------------- */

static void a_run_is_kept_whole(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
	assert_complete();
	/* Once more changes nothing. */
	assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
	assert_complete();
}

static void every_failing_write_leaves_a_journal_to_resume(void **state)
{
	struct err err = { 0 };
	unsigned n;
	int ret;

	(void)state;
	for (n = 1;; n++) {
		clean();
		fail_vfs_arm(n, FAIL_ONCE);
		ret = drive(FAIL_VFS_NAME, &err);
		if (!fail_vfs_fired())
			break;
		fail_vfs_arm(0, FAIL_ONCE);
		assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
		assert_complete();
	}
	assert_int_equal(ret, 0);
	assert_true(n > 20);
}

static void a_full_disk_is_named_and_loses_nothing(void **state)
{
	struct err err = { 0 };
	unsigned n, told = 0;
	int ret;

	(void)state;
	for (n = 1;; n++) {
		clean();
		fail_vfs_arm(n, FAIL_FULL);
		ret = drive(FAIL_VFS_NAME, &err);
		if (!fail_vfs_fired())
			break;
		if (ret == -ENOSPC) {
			told++;
			assert_non_null(strstr(err.text, "no space left"));
		}
		fail_vfs_arm(0, FAIL_ONCE);
		assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
		assert_complete();
	}
	assert_int_equal(ret, 0);
	assert_true(told > 10);
}

static void death_at_any_point_leaves_a_journal_to_resume(void **state)
{
	struct err err = { 0 };
	unsigned n;
	int status;

	(void)state;
	for (n = 1;; n++) {
		pid_t pid;

		clean();
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			fail_vfs_arm(n, FAIL_DEATH);
			_exit(drive(FAIL_VFS_NAME, &err) ? 1 : 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) != FAIL_DEATH_CODE)
			break;
		assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
		assert_complete();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(n > 20);
}

static void a_result_told_twice_is_kept_once(void **state)
{
	struct store *s = open_store();
	struct err err = { 0 };
	struct a_result a;
	unsigned attempt;
	bool kept;

	(void)state;
	assert_int_equal(store_plan(s, "e", "b", "t", plan(), CELLS, &err), 0);
	assert_int_equal(store_begin(s, "key0", BOOT, &attempt, &err), 0);
	make_result(&a, "key0", attempt);
	assert_int_equal(store_result(s, &a.r, &kept, &err), 0);
	assert_true(kept);
	assert_int_equal(store_result(s, &a.r, &kept, &err), 0);
	assert_false(kept);
	a.r.attempt = 7;
	assert_int_equal(store_result(s, &a.r, &kept, &err), 0);
	assert_false(kept);
	a.r.key = (char *)"other";
	assert_int_equal(store_result(s, &a.r, &kept, &err), -ENOENT);
	store_close(s);
}

static void the_second_failure_quarantines(void **state)
{
	struct store *s = open_store();
	struct err err = { 0 };
	Bay__CellState end;
	unsigned attempt;

	(void)state;
	assert_int_equal(store_plan(s, "e", "b", "t", plan(), CELLS, &err), 0);
	assert_int_equal(store_begin(s, "key0", BOOT, &attempt, &err), 0);
	assert_int_equal(
		store_fail(s, "key0", attempt,
			   &(struct store_failure){
				   .state = BAY__CELL_STATE__CELL_FAILED,
				   .why = "one" },
			   &end, &err),
		0);
	assert_int_equal(end, BAY__CELL_STATE__CELL_PLANNED);
	/* Broken off by Ctrl-C: does not count. */
	assert_int_equal(store_begin(s, "key0", BOOT, &attempt, &err), 0);
	assert_int_equal(
		store_fail(s, "key0", attempt,
			   &(struct store_failure){
				   .state = BAY__CELL_STATE__CELL_PLANNED,
				   .why = "ctrl-c" },
			   &end, &err),
		0);
	assert_int_equal(end, BAY__CELL_STATE__CELL_PLANNED);
	assert_int_equal(store_begin(s, "key0", BOOT, &attempt, &err), 0);
	assert_int_equal(attempt, 3);
	assert_int_equal(store_fail(s, "key0", attempt,
				    &(struct store_failure){
					    .state = BAY__CELL_STATE__CELL_HUNG,
					    .why = "two" },
				    &end, &err),
			 0);
	assert_int_equal(end, BAY__CELL_STATE__CELL_QUARANTINED);
	store_close(s);
}

static void a_disk_that_is_away_neither_counts_nor_is_tried_again(void **state)
{
	const struct store_failure away = {
		.state = BAY__CELL_STATE__CELL_FAILED,
		.disk_away = true,
		.why = "S2 did not come",
	};
	struct store *s = open_store();
	struct err err = { 0 };
	Bay__CellState end;
	unsigned attempt, i;

	(void)state;
	assert_int_equal(store_plan(s, "e", "b", "t", plan(), CELLS, &err), 0);
	for (i = 0; i < STORE_ATTEMPTS_MAX + 1; i++) {
		assert_int_equal(store_begin(s, "key0", BOOT, &attempt, &err),
				 0);
		assert_int_equal(
			store_fail(s, "key0", attempt, &away, &end, &err), 0);
		assert_int_equal(end, BAY__CELL_STATE__CELL_FAILED);
	}
	store_close(s);
}

static void fail_once(struct store *s, const char *key, Bay__CellState want)
{
	struct err err = { 0 };
	Bay__CellState end;
	unsigned attempt;

	assert_int_equal(store_begin(s, key, BOOT, &attempt, &err), 0);
	assert_int_equal(
		store_fail(s, key, attempt,
			   &(struct store_failure){
				   .state = BAY__CELL_STATE__CELL_FAILED,
				   .why = "no" },
			   &end, &err),
		0);
	assert_int_equal(end, want);
}

static void a_quarantined_cell_is_retried_with_its_attempts_anew(void **state)
{
	struct store *s = open_store();
	struct store_counts counts;
	struct err err = { 0 };
	unsigned n;

	(void)state;
	assert_int_equal(store_plan(s, "e", "b", "t", plan(), CELLS, &err), 0);
	fail_once(s, "key0", BAY__CELL_STATE__CELL_PLANNED);
	fail_once(s, "key0", BAY__CELL_STATE__CELL_QUARANTINED);
	fail_once(s, "key1", BAY__CELL_STATE__CELL_PLANNED);
	assert_int_equal(store_retry(s, "another", &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(store_retry(s, "e", &n, &err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(store_count(s, "e", &counts, &err), 0);
	assert_int_equal(counts.planned, CELLS);
	fail_once(s, "key0", BAY__CELL_STATE__CELL_PLANNED);
	fail_once(s, "key0", BAY__CELL_STATE__CELL_QUARANTINED);
	/* What was not in quarantine keeps its failures. */
	fail_once(s, "key1", BAY__CELL_STATE__CELL_QUARANTINED);
	store_close(s);
}

static void a_cell_that_kills_the_machine_twice_is_quarantined(void **state)
{
	struct store *s = open_store();
	struct store_cell c;
	struct err err = { 0 };
	unsigned attempt, n;

	(void)state;
	assert_int_equal(store_plan(s, "e", "b", "t", plan(), CELLS, &err), 0);
	assert_int_equal(store_begin(s, "key0", "boot-1", &attempt, &err), 0);
	assert_int_equal(store_recover(s, "boot-2", &n, &err), 0);
	assert_int_equal(n, 1);
	/* The death of bay alone does not count. */
	assert_int_equal(store_begin(s, "key0", "boot-2", &attempt, &err), 0);
	assert_int_equal(store_recover(s, "boot-2", &n, &err), 0);
	assert_int_equal(store_cell(s, "key0", &c, &err), 0);
	assert_int_equal(c.state, BAY__CELL_STATE__CELL_PLANNED);
	assert_int_equal(store_begin(s, "key0", "boot-2", &attempt, &err), 0);
	assert_int_equal(store_recover(s, "boot-3", &n, &err), 0);
	assert_int_equal(store_cell(s, "key0", &c, &err), 0);
	assert_int_equal(c.state, BAY__CELL_STATE__CELL_QUARANTINED);
	store_close(s);
}

static int note_environment(void *arg, const struct store_metric *m)
{
	int64_t *seen = arg;

	if (*seen)
		assert_int_equal(*seen, m->environment);
	*seen = m->environment;
	return 0;
}

static int count_setting(void *arg, const char *name, const char *value)
{
	unsigned *n = arg;

	assert_non_null(value);
	if (strcmp(name, "vm.swappiness") == 0 ||
	    strcmp(name, "kernel.release") == 0)
		++*n;
	return 0;
}

static int keep_rates(void *arg, const struct store_row *r)
{
	double **rate = arg;

	*(*rate)++ = r->write_bw;
	return 0;
}

static void a_result_without_a_rate_has_none_not_zero(void **state)
{
	struct store *s = open_store();
	double rates[CELLS], *rate = rates;
	struct err err = { 0 };
	struct a_result a;
	unsigned i, attempt;
	bool kept;

	(void)state;
	assert_int_equal(
		store_plan(s, "e", "bench", "text", plan(), CELLS, &err), 0);
	for (i = 0; i < CELLS; i++) {
		assert_int_equal(
			store_begin(s, cells[i].key, BOOT, &attempt, &err), 0);
		make_result(&a, cells[i].key, attempt);
		a.r.n_metric = i;
		assert_int_equal(store_result(s, &a.r, &kept, &err), 0);
	}
	assert_int_equal(store_rows(s, keep_rates, &rate, &err), 0);
	assert_ptr_equal(rate, rates + CELLS);
	assert_true(isnan(rates[0]));
	assert_true(rates[1] > 42.4 && rates[1] < 42.6);
	store_close(s);
}

static void equal_environments_are_stored_once(void **state)
{
	struct err err = { 0 };
	struct store *s;
	int64_t id = 0;
	unsigned n = 0;

	(void)state;
	assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
	s = open_store();
	assert_int_equal(store_metrics(s, note_environment, &id, &err), 0);
	assert_int_equal(store_environment(s, id, count_setting, &n, &err), 0);
	assert_int_equal(n, 2);
	store_close(s);
}

static void a_result_is_found_by_the_start_of_its_key(void **state)
{
	Bay__CellResult *r = NULL;
	struct err err = { 0 };
	struct store *s;
	double mean;

	(void)state;
	assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
	s = open_store();
	assert_int_equal(store_get(s, "key1", &r, &err), 0);
	assert_int_equal(r->attempt, 2);
	bay__cell_result__free_unpacked(r, NULL);
	assert_int_equal(store_get(s, "key", &r, &err), -ENOTUNIQ);
	assert_int_equal(store_get(s, "nokey", &r, &err), -ENOENT);
	assert_int_equal(store_mean_seconds(s, &mean, &err), 0);
	assert_true(mean == 2.0);
	store_close(s);
}

static void a_cell_that_left_the_plan_stays_in_the_journal(void **state)
{
	struct err err = { 0 };
	struct store *s;
	unsigned results = 0;

	(void)state;
	assert_int_equal(drive(FAIL_VFS_NAME, &err), 0);
	s = open_store();
	assert_int_equal(store_plan(s, "e", "b", "t", plan(), 1, &err), 0);
	assert_int_equal(store_rows(s, count_result, &results, &err), 0);
	assert_int_equal(results, CELLS);
	store_close(s);
}

static void foreign_files_are_refused(void **state)
{
	struct store *s = NULL;
	struct err err = { 0 };
	FILE *f;

	(void)state;
	assert_int_equal(store_open(path, STORE_READ, NULL, &s, &err), -ENOENT);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("This is not a database, but it is long enough to look at."
	      "................................................",
	      f);
	fclose(f);
	assert_int_equal(store_open(path, STORE_WRITE, NULL, &s, &err),
			 -EBADMSG);
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_run_is_kept_whole, fresh),
		cmocka_unit_test_setup(
			every_failing_write_leaves_a_journal_to_resume, fresh),
		cmocka_unit_test_setup(a_full_disk_is_named_and_loses_nothing,
				       fresh),
		cmocka_unit_test_setup(
			death_at_any_point_leaves_a_journal_to_resume, fresh),
		cmocka_unit_test_setup(a_result_told_twice_is_kept_once, fresh),
		cmocka_unit_test_setup(the_second_failure_quarantines, fresh),
		cmocka_unit_test_setup(
			a_disk_that_is_away_neither_counts_nor_is_tried_again,
			fresh),
		cmocka_unit_test_setup(
			a_quarantined_cell_is_retried_with_its_attempts_anew,
			fresh),
		cmocka_unit_test_setup(
			a_cell_that_kills_the_machine_twice_is_quarantined,
			fresh),
		cmocka_unit_test_setup(
			a_result_without_a_rate_has_none_not_zero, fresh),
		cmocka_unit_test_setup(equal_environments_are_stored_once,
				       fresh),
		cmocka_unit_test_setup(
			a_result_is_found_by_the_start_of_its_key, fresh),
		cmocka_unit_test_setup(
			a_cell_that_left_the_plan_stays_in_the_journal, fresh),
		cmocka_unit_test_setup(foreign_files_are_refused, fresh),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
