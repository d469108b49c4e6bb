#include "host/util/run.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

static void output_and_exit_code_are_captured(void **state)
{
	const char *const argv[] = { "sh", "-c", "cat; echo bad >&2; exit 3",
				     NULL };
	const struct run_spec spec = { .argv = argv,
				       .input = "in",
				       .input_len = 2 };
	/* As mount(8) of util-linux 2.38 says it. */
	const char *const hinting[] = {
		"sh", "-c",
		"printf 'mount: /x: bad option.\n       dmesg(1) may have more "
		"information.\n' >&2; exit 32",
		NULL
	};
	struct run_spec hint = { 0 };
	struct run_child c;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(run(&c, &spec, &err), 0);
	assert_int_equal(c.exit_code, 3);
	assert_string_equal(buf_str(&c.out), "in");
	assert_string_equal(run_last_line(&c), "bad");
	assert_true(c.end_ns >= c.start_ns);
	assert_int_equal(run_close(&c, 0), 0);
	assert_int_equal(run_ok(NULL, &spec, &err), -EIO);
	assert_string_equal(err.text, "sh failed (exit status 3): bad");
	hint.argv = hinting;
	assert_int_equal(run_ok(NULL, &hint, &err), -EIO);
	assert_string_equal(err.text, "sh failed (exit status 32): mount: /x: "
				      "bad option.");
}

/* What the tools say to -Q, --foo and the like, shortened. */
static void what_stands_before_a_usage_is_quoted(void **state)
{
	static const struct {
		const char *said, *quoted;
	} tool[] = {
		{ "mkfs.xfs: invalid option -- 'Q'\nunknown option -Q \n"
		  "Usage: mkfs.xfs\n/* label */\t[-L label]\n\tdevicename\n"
		  "<value> is xxx (512 byte blocks).\n",
		  "unknown option -Q" },
		{ "Invalid value 7 for -b size option. Value is too small.\n"
		  "Usage: mkfs.xfs\n<value> is xxx (512 byte blocks).\n",
		  "Invalid value 7 for -b size option. Value is too small." },
		{ "mkfs.ext4: invalid option -- 'Q'\nUsage: mkfs.ext4 [-c]\n"
		  "\t[-jnqvDFSV] device [blocks-count]\n",
		  "mkfs.ext4: invalid option -- 'Q'" },
		{ "mke2fs 1.47.0 (5-Feb-2023)\n"
		  "Invalid filesystem option set: foo\n",
		  "Invalid filesystem option set: foo" },
		{ "mkfs.btrfs: unrecognized option '--foo'\n"
		  "usage: mkfs.btrfs [options] <dev>\n\n    Deprecated:\n"
		  "-l   removed in 6.0\n\n",
		  "mkfs.btrfs: unrecognized option '--foo'" },
		{ "mdadm: unrecognized option '--foo'\nUsage: mdadm --help\n"
		  "  for help\n",
		  "mdadm: unrecognized option '--foo'" },
		{ "mount: unrecognized option '--foo'\n"
		  "Try 'mount --help' for more information.\n",
		  "mount: unrecognized option '--foo'" },
		{ "Usage: mdadm --help\n  for help\n", "Usage: mdadm --help" },
	};
	const char *argv[] = { "sh", "-c", "printf %s \"$0\" >&2; exit 1", NULL,
			       NULL };
	const struct run_spec spec = { .argv = argv };

	(void)state;
	for (size_t i = 0; i < sizeof(tool) / sizeof(tool[0]); i++) {
		struct run_child c;

		argv[3] = tool[i].said;
		assert_int_equal(run(&c, &spec, NULL), 0);
		assert_string_equal(run_last_line(&c), tool[i].quoted);
		assert_int_equal(run_close(&c, 0), 0);
	}
}

static void a_missing_program_is_enoent(void **state)
{
	const char *const argv[] = { "bay-no-such-program", NULL };
	const struct run_spec spec = { .argv = argv };
	struct run_child c;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(run(&c, &spec, &err), -ENOENT);
	assert_non_null(strstr(err.text, "bay-no-such-program"));
	assert_int_equal(run_close(&c, 0), 0);
}

static void output_beyond_the_bound_is_dropped_not_waited_for(void **state)
{
	const char *const argv[] = { "head", "-c", "1000000", "/dev/zero",
				     NULL };
	const struct run_spec spec = { .argv = argv, .out_max = 100 };
	struct run_child c;

	(void)state;
	assert_int_equal(run(&c, &spec, NULL), 0);
	assert_int_equal(c.exit_code, 0);
	assert_int_equal(c.out.len, 100);
	assert_true(c.out_cut);
	assert_int_equal(run_close(&c, 0), 0);
}

static void the_deadline_kills_the_whole_group(void **state)
{
	const char *const argv[] = { "sh", "-c", "sleep 1000 & echo $!; wait",
				     NULL };
	const struct run_spec spec = { .argv = argv, .deadline_ms = 100 };
	struct run_child c;

	(void)state;
	assert_int_equal(run(&c, &spec, NULL), -ETIMEDOUT);
	assert_true(c.timed_out);
	assert_int_equal(c.exit_code, -SIGKILL);
	assert_int_equal(run_close(&c, 0), 0);
}

static void cancelling_ends_the_wait(void **state)
{
	const char *const argv[] = { "sleep", "1000", NULL };
	struct run_spec spec = { .argv = argv };
	struct run_child c;

	(void)state;
	spec.cancel_fd = eventfd(1, EFD_CLOEXEC);
	assert_int_equal(run(&c, &spec, NULL), -ECANCELED);
	assert_int_equal(run_close(&c, 0), 0);
	close(spec.cancel_fd);
}

static void children_wait_at_the_barrier(void **state)
{
	const char *const argv[] = { "echo", "go", NULL };
	struct run_spec spec = { .argv = argv };
	struct run_child c[3];
	struct run_child *const all[] = { &c[0], &c[1], &c[2] };
	int gate[2];

	(void)state;
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	spec.barrier_fd = gate[0];
	for (int i = 0; i < 3; i++)
		assert_int_equal(run_start(&c[i], &spec, NULL), 0);
	assert_int_equal(run_wait(all, 3, 0, -1), 3);
	close(gate[1]);
	assert_int_equal(run_wait(all, 3, -1, -1), 0);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(buf_str(&c[i].out), "go\n");
		assert_int_equal(run_close(&c[i], 0), 0);
	}
	close(gate[0]);
}

static void one_wait_takes_the_ends_of_hundreds(void **state)
{
	enum {
		COUNT = 300
	};
	const char *const argv[] = { "echo", "go", NULL };
	struct run_spec spec = { .argv = argv };
	struct run_child *c = calloc(COUNT, sizeof(*c));
	struct run_child **all = calloc(COUNT + 1, sizeof(struct run_child *));
	int gate[2];

	(void)state;
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	spec.barrier_fd = gate[0];
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(run_start(&c[i], &spec, NULL), 0);
		all[i + 1] = &c[i]; /* the first stays NULL */
	}
	assert_int_equal(run_wait(all, COUNT + 1, 0, -1), COUNT);
	assert_int_equal(run_kill(&c[7], SIGTERM), 0);
	close(gate[1]);
	assert_int_equal(run_wait(all, COUNT + 1, -1, -1), 0);
	assert_int_equal(c[7].exit_code, -SIGTERM);
	for (int i = 0; i < COUNT; i++) {
		if (i != 7)
			assert_string_equal(buf_str(&c[i].out), "go\n");
		assert_int_equal(run_close(&c[i], 0), 0);
	}
	close(gate[0]);
	free(all);
	free(c);
}

static void a_wait_for_too_many_is_refused(void **state)
{
	struct run_child **all =
		calloc(RUN_WAIT_MAX + 1, sizeof(struct run_child *));

	(void)state;
	assert_int_equal(run_wait(all, RUN_WAIT_MAX, -1, -1), 0);
	assert_int_equal(run_wait(all, RUN_WAIT_MAX + 1, -1, -1), -E2BIG);
	free(all);
}

static void a_child_gets_the_callers_descriptors_only_when_asked(void **state)
{
	const char *const argv[] = { "sh", "-c", "ls /proc/self/fd | wc -l",
				     NULL };
	const struct run_spec spec = { .argv = argv };
	struct run_child c;
	int extra = open("/dev/null", O_RDONLY); /* not close-on-exec */

	(void)state;
	assert_int_equal(run(&c, &spec, NULL), 0);
	/* 0, 1, 2 and the one that ls holds on the folder. */
	assert_int_equal(atoi(buf_str(&c.out)), 4);
	assert_int_equal(run_close(&c, 0), 0);
	close(extra);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_exit_code_are_captured),
		cmocka_unit_test(what_stands_before_a_usage_is_quoted),
		cmocka_unit_test(a_missing_program_is_enoent),
		cmocka_unit_test(
			output_beyond_the_bound_is_dropped_not_waited_for),
		cmocka_unit_test(the_deadline_kills_the_whole_group),
		cmocka_unit_test(cancelling_ends_the_wait),
		cmocka_unit_test(children_wait_at_the_barrier),
		cmocka_unit_test(one_wait_takes_the_ends_of_hundreds),
		cmocka_unit_test(a_wait_for_too_many_is_refused),
		cmocka_unit_test(
			a_child_gets_the_callers_descriptors_only_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
