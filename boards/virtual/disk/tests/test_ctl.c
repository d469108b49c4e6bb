/* boards/virtual/disk/tests/test_ctl.c - control lines and parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boards/virtual/disk/ctl.h"
#include "boards/virtual/disk/options.h"
#include "boards/virtual/disk/tests/drive.h"

static int parse(const char *line, struct ctl_cmd *cmd)
{
	char why[128];

	return ctl_parse(line, strlen(line), cmd, why);
}

static void phrases_are_understood(void **state)
{
	struct ctl_cmd cmd;

	(void)state;
	assert_int_equal(parse("power on", &cmd), 0);
	assert_int_equal(cmd.verb, CTL_POWER_ON);
	assert_int_equal(parse("  power \t off \r", &cmd), 0);
	assert_int_equal(cmd.verb, CTL_POWER_OFF);
	assert_int_equal(parse("status", &cmd), 0);
	assert_int_equal(cmd.verb, CTL_STATUS);
	assert_int_equal(parse("faults clear", &cmd), 0);
	assert_int_equal(cmd.verb, CTL_FAULTS_CLEAR);
}

static void a_fault_line_gives_name_and_arguments(void **state)
{
	struct ctl_cmd cmd;

	(void)state;
	assert_int_equal(parse("fault read-error lba=2048 n=16", &cmd), 0);
	assert_int_equal(cmd.verb, CTL_FAULT);
	assert_string_equal(cmd.fault, "read-error");
	assert_int_equal(cmd.arg_count, 2);
	assert_string_equal(cmd.arg[0].key, "lba");
	assert_int_equal(cmd.arg[0].value, 2048);
	assert_int_equal(cmd.arg[1].value, 16);
}

static void other_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"power",
		"power up",
		"power on now",
		"statu",
		"fault",
		"fault x p",
		"fault x =1",
		"fault x p=",
		"fault x p=-1",
		"fault x p=1x",
		"fault x p=18446744073709551616",
		"fault x a=1 b=1 c=1 d=1 e=1",
		"fault a-name-that-is-longer-than-any-fault",
		"fault x a-key-that-is-too-long=1",
		"status \"",
		"status\x80",
	};
	struct ctl_cmd cmd;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(lines[i], &cmd), -EINVAL);
}

static void answers_say_what_happened(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;
	struct ctl_cmd cmd;
	char answer[CTL_ANSWER_MAX];

	(void)state;
	drive_cfg(&cfg);
	cfg.holdup_ns = 0;
	d = vdisk_new(&cfg, NULL, NULL);
	parse("power off", &cmd);
	ctl_execute(d, "T1", &cmd, answer);
	assert_non_null(strstr(answer, "{\"ok\":true,"));
	assert_non_null(strstr(answer, "\"power\":\"off\""));
	assert_non_null(strstr(answer, "\"serial\":\"T1\""));
	parse("fault nonesuch", &cmd);
	ctl_execute(d, "T1", &cmd, answer);
	assert_non_null(strstr(answer, "{\"ok\":false,\"error\":\""));
	assert_non_null(strstr(answer, "\"usage\":true"));
	parse("faults list", &cmd);
	ctl_execute(d, "T1", &cmd, answer);
	assert_non_null(strstr(answer, "\"dead\""));
	assert_int_equal(answer[strlen(answer) - 1], '\n');
	parse("snapshot", &cmd);
	ctl_execute(d, "T1", &cmd, answer);
	assert_non_null(strstr(answer, "\"media\":\""));
	vdisk_free(d);
}

static void lines_are_cut_at_newlines_and_bounded(void **state)
{
	struct ctl_lines l = { .n = 0 };

	(void)state;
	assert_false(ctl_lines_take(&l, 'a'));
	assert_true(ctl_lines_take(&l, '\n'));
	assert_int_equal(l.n, 1);
	ctl_lines_next(&l);
	for (unsigned i = 0; i < CTL_LINE_MAX; i++)
		assert_false(ctl_lines_take(&l, 'a'));
	assert_false(l.overflow);
	assert_false(ctl_lines_take(&l, 'a'));
	assert_true(l.overflow);
	assert_int_equal(l.n, CTL_LINE_MAX);
}

static void parameters_are_set_with_their_units(void **state)
{
	struct options o;
	char why[256];

	(void)state;
	options_init(&o);
	assert_int_equal(options_set(&o, "serial", "BAYV0001", why), 0);
	assert_int_equal(options_set(&o, "size", "2G", why), 0);
	assert_int_equal(options_set(&o, "rate_mb_s", "45", why), 0);
	assert_int_equal(options_set(&o, "cache", "16M", why), 0);
	assert_int_equal(options_set(&o, "spinup_ms", "20", why), 0);
	assert_int_equal(options_set(&o, "timescale", "0.5", why), 0);
	assert_int_equal(options_set(&o, "power", "off", why), 0);
	assert_int_equal(options_set(&o, "destage", "fifo", why), 0);
	assert_int_equal(options_set(&o, "ctl", "a", why), 0);
	assert_int_equal(options_set(&o, "ctl", "b", why), 0);
	assert_int_equal(options_complete(&o, why), 0);
	assert_int_equal(o.disk.size_bytes, 2048 * MIB);
	assert_int_equal(o.disk.outer_rate, 45000000);
	assert_int_equal(o.disk.inner_rate, 45000000);
	assert_int_equal(o.disk.cache_bytes, 16 * MIB);
	assert_int_equal(o.disk.spinup_ns, 20 * MS);
	assert_int_equal(o.ms_per_s, 500);
	assert_false(o.disk.start_on);
	assert_int_equal(o.disk.destage, VDISK_DESTAGE_FIFO);
	assert_string_equal(o.ctl, "b");
	options_free(&o);
}

static void bad_parameters_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "size", "0" },      { "size", "-1" },
		{ "size", "1Q" },     { "size", "99999999999T" },
		{ "rate_mb_s", "x" }, { "rate_mb_s", "100001" },
		{ "power", "maybe" }, { "destage", "best" },
		{ "serial", "" },     { "serial", "a/b" },
		{ "serial", "\"" },   { "timescale", "-1" },
		{ "timescale", "x" }, { "timescale", "0.0001" },
		{ "cache", "512" },
	};
	struct options o;
	char why[256];

	(void)state;
	options_init(&o);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(options_set(&o, bad[i][0], bad[i][1], why),
				 -EINVAL);
	assert_int_equal(options_set(&o, "colour", "red", why), -ENOENT);
	assert_int_equal(options_complete(&o, why), -EINVAL);
	assert_string_equal(why, "serial=TEXT is needed");
	options_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phrases_are_understood),
		cmocka_unit_test(a_fault_line_gives_name_and_arguments),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(answers_say_what_happened),
		cmocka_unit_test(lines_are_cut_at_newlines_and_bounded),
		cmocka_unit_test(parameters_are_set_with_their_units),
		cmocka_unit_test(bad_parameters_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
