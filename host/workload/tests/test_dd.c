/* dd-write: its parameters, its parser, and real dds behind the barrier. */
#include "host/workload/dd_write.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/util/fs.h"
#include "host/workload/jobs.h"
#include "host/workload/workload.h"

struct bed {
	char dir[32];
	struct arena arena;
	struct metrics metrics;
	struct workload_target target[2];
	struct workload w;
};

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	*state = b;
	(void)strcpy(b->dir, "/tmp/bay-test-dd-XXXXXX");
	if (!mkdtemp(b->dir))
		return -1;
	b->target[0].path = b->target[1].path = b->dir;
	b->w.kind = workload_kind_find("dd-write");
	b->w.target = b->target;
	b->w.targets = 1;
	b->w.arena = &b->arena;
	b->w.cancel_fd = -1;
	b->w.metrics = &b->metrics;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	int rc = fs_remove_tree(b->dir);

	arena_free(&b->arena);
	free(b);
	return rc;
}

static void the_last_count_of_dd_is_taken(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_int_equal(dd_parse_bytes("16+0 records in\n16+0 records out\n"
					"1048576 bytes (1.0 MB, 1.0 MiB) "
					"copied, 0.0007 s, 1.4 GB/s\n",
					&v),
			 0);
	assert_int_equal(v, 1048576);
	assert_int_equal(dd_parse_bytes("1 byte copied, 1 s, 0.0 kB/s\n"
					"512 bytes copied, 2 s, 0.3 kB/s",
					&v),
			 0);
	assert_int_equal(v, 512);
	assert_int_equal(dd_parse_bytes("dd: error writing 'x': No space left "
					"on device\n",
					&v),
			 -EBADMSG);
	assert_int_equal(dd_parse_bytes("", &v), -EBADMSG);
}

static void unknown_and_contradictory_parameters_are_named(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	assert_int_equal(workload_set(&b->w, "sice", "1", &err), -EINVAL);
	assert_non_null(strstr(err.text, "sice"));
	assert_non_null(strstr(err.text, "size"));
	assert_int_equal(workload_check(&b->w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "seconds or size"));
	assert_int_equal(workload_set(&b->w, "size", "1M", &err), 0);
	assert_int_equal(workload_set(&b->w, "size", "2M", &err), -EINVAL);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_string_equal(workload_value(&b->w, "bs"), "64k");
	assert_int_equal(workload_set(&b->w, "seconds", "5", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), -EINVAL);
}

static void too_many_processes_are_refused(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	b->w.targets = 3;
	assert_int_equal(workload_set(&b->w, "size", "1", &err), 0);
	assert_int_equal(workload_set(&b->w, "n", "342", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "processes"));
}

static void as_many_as_the_published_runs_are_taken(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	b->w.targets = 10; /* a hundred on each of ten disks */
	assert_int_equal(workload_set(&b->w, "size", "1", &err), 0);
	assert_int_equal(workload_set(&b->w, "n", "100", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
}

static void more_than_a_thousand_a_target_are_refused(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	assert_int_equal(workload_set(&b->w, "size", "1", &err), 0);
	assert_int_equal(workload_set(&b->w, "n", "1001", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1 to 1000"));
}

static void dds_of_a_size_write_just_that(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };
	char path[FS_PATH_BYTES];
	struct stat st;

	assert_int_equal(workload_set(&b->w, "n", "3", &err), 0);
	assert_int_equal(workload_set(&b->w, "size", "100000", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), 0);
	assert_int_equal(b->w.children, 3);
	assert_int_equal(workload_bytes(&b->w), 300000);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(b->w.child[i].start_ns, b->w.start_ns);
		assert_true(b->w.child[i].end_ns >= b->w.first_done_ns);
		assert_true(b->w.child[i].end_ns <= b->w.end_ns);
		assert_int_equal(b->w.child[i].exit_code, 0);
	}
	assert_int_equal(fs_path(path, "%s/dd-3", b->dir), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 100000);
	assert_string_equal(b->metrics.metric[0].name, "dd-1_rate");
}

static const struct metric *find_metric(const struct bed *b, const char *name)
{
	for (unsigned i = 0; i < b->metrics.count; i++) {
		if (strcmp(b->metrics.metric[i].name, name) == 0)
			return &b->metrics.metric[i];
	}
	return NULL;
}

static double metric_value(const struct bed *b, const char *name)
{
	const struct metric *m = find_metric(b, name);

	assert_non_null(m);
	return m->value;
}

static bool has_children(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static void a_thousand_dds_run_together(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	assert_int_equal(workload_set(&b->w, "n", "1000", &err), 0);
	assert_int_equal(workload_set(&b->w, "size", "512", &err), 0);
	assert_int_equal(workload_set(&b->w, "bs", "512", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	if (b->w.kind->run(&b->w, &err))
		fail_msg("%s", err.text);
	assert_int_equal(b->w.children, 1000);
	assert_int_equal(workload_bytes(&b->w), 512000);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(b->w.child[i].start_ns, b->w.start_ns);
		assert_int_equal(b->w.child[i].bytes, 512);
		assert_true(b->w.child[i].end_ns >= b->w.first_done_ns);
		assert_true(b->w.child[i].end_ns <= b->w.end_ns);
	}
	assert_string_equal(b->w.child[999].name, "dd-1000");
	assert_false(has_children());
	/* A metric a process would leave no room for write_bw. */
	assert_null(find_metric(b, "dd-1_rate"));
	assert_true(b->metrics.count < 16);
	assert_true(metric_value(b, "first_done") <=
		    metric_value(b, "last_done"));
	assert_true(metric_value(b, "dd_rate_min") > 0.0);
	assert_true(metric_value(b, "dd_rate_min") <=
		    metric_value(b, "dd_rate_median"));
	assert_true(metric_value(b, "dd_rate_median") <=
		    metric_value(b, "dd_rate_max"));
}

static void a_few_dds_have_a_metric_each(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	assert_int_equal(workload_set(&b->w, "n", "32", &err), 0);
	assert_int_equal(workload_set(&b->w, "size", "512", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), 0);
	assert_non_null(find_metric(b, "dd-32_rate"));
	/* The sampler's own numbers come after these. */
	assert_true(b->metrics.count + 30 <= METRICS_MAX);
}

static void cancel_it(void *arg, const char *phase, double done)
{
	const struct bed *b = arg;

	(void)phase;
	(void)done;
	(void)eventfd_write(b->w.cancel_fd, 1);
}

static void cancelling_many_midway_leaves_none(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	b->w.cancel_fd = eventfd(0, EFD_CLOEXEC);
	b->w.progress = cancel_it;
	b->w.progress_arg = b;
	assert_int_equal(workload_set(&b->w, "n", "70", &err), 0);
	assert_int_equal(workload_set(&b->w, "seconds", "1000", &err), 0);
	assert_int_equal(workload_set(&b->w, "bs", "512", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), -ECANCELED);
	assert_int_equal(b->w.child[69].exit_code, -SIGKILL);
	assert_false(has_children());
	close(b->w.cancel_fd);
}

static void dds_that_had_no_time_to_copy_are_no_measurement(void **state)
{
	static const char script[] = "#!/bin/sh\nexec sleep 1000\n";
	struct bed *b = *state;
	struct err err = { 0 };
	char path[FS_PATH_BYTES];
	char *old = strdup(getenv("PATH"));
	char *with = arena_printf(&b->arena, "%s:%s", b->dir, old);

	assert_int_equal(fs_path(path, "%s/dd", b->dir), 0);
	assert_int_equal(fs_write_atomic(path, script, strlen(script)), 0);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(setenv("PATH", with, 1), 0);
	assert_int_equal(workload_set(&b->w, "n", "2", &err), 0);
	assert_int_equal(workload_set(&b->w, "seconds", "0.1", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), -ENODATA);
	assert_int_equal(setenv("PATH", old, 1), 0);
	free(old);
	/* Each for itself is no failure. */
	assert_int_equal(b->w.child[1].exit_code, -SIGINT);
	assert_string_equal(b->w.child[1].error_text, "");
	assert_non_null(strstr(err.text, "more seconds"));
}

/* The last test: a hard limit is for good. */
static void too_few_open_files_are_told_before_a_start(void **state)
{
	const struct rlimit few = { 100, 100 };
	struct bed *b = *state;
	struct err err = { 0 };

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(workload_set(&b->w, "n", "100", &err), 0);
	assert_int_equal(workload_set(&b->w, "size", "1", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), -EMFILE);
	assert_non_null(strstr(err.text, "open files"));
	assert_int_equal(b->w.child[0].end_ns, 0);
	assert_false(has_children());
}

static void a_dd_that_fails_ends_the_others_and_is_quoted(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	b->target[1].path = "/dev/null/nowhere";
	b->w.targets = 2;
	assert_int_equal(workload_set(&b->w, "seconds", "1000", &err), 0);
	assert_int_equal(workload_set(&b->w, "bs", "512", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), -EIO);
	assert_non_null(strstr(err.text, "dd-2"));
	assert_non_null(strstr(err.text, "Not a directory"));
	assert_int_equal(b->w.child[1].exit_code, 1);
}

static void cancelling_leaves_nothing_running(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };

	b->w.cancel_fd = eventfd(1, EFD_CLOEXEC);
	assert_int_equal(workload_set(&b->w, "seconds", "1000", &err), 0);
	assert_int_equal(workload_set(&b->w, "bs", "512", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(b->w.kind->run(&b->w, &err), -ECANCELED);
	close(b->w.cancel_fd);
}

static void the_guard_ends_what_goes_on(void **state)
{
	struct bed *b = *state;
	const char *const argv[] = { "sleep", "1000", NULL };
	struct err err = { 0 };

	assert_int_equal(workload_set(&b->w, "seconds", "1000", &err), 0);
	assert_int_equal(workload_check(&b->w, &err), 0);
	assert_int_equal(jobs_add(&b->w, "s", b->target, argv, &err), 0);
	b->w.guard = (struct deadline){ 1 }; /* long past */
	assert_int_equal(jobs_run(&b->w, 0, 0, &err), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_count_of_dd_is_taken),
		cmocka_unit_test_setup_teardown(
			unknown_and_contradictory_parameters_are_named, setup,
			teardown),
		cmocka_unit_test_setup_teardown(too_many_processes_are_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(dds_of_a_size_write_just_that,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_dd_that_fails_ends_the_others_and_is_quoted, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			cancelling_leaves_nothing_running, setup, teardown),
		cmocka_unit_test_setup_teardown(the_guard_ends_what_goes_on,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			as_many_as_the_published_runs_are_taken, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			more_than_a_thousand_a_target_are_refused, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_thousand_dds_run_together,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_few_dds_have_a_metric_each,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			cancelling_many_midway_leaves_none, setup, teardown),
		cmocka_unit_test_setup_teardown(
			dds_that_had_no_time_to_copy_are_no_measurement, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			too_few_open_files_are_told_before_a_start, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
