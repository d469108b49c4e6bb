/* matrix.yaml to ordered cells: names, keys, order, rules, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/name.h"
#include "host/matrix/plan.h"

static const char *const disks[] = { "S1", "S2", "S3" };

static struct matrix *parse(const char *text)
{
	struct matrix *m = NULL;
	struct err err = { 0 };

	if (matrix_parse("m.yaml", text, strlen(text), &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

/* Order as one string: first letters of what varies. */
static struct plan plan(const char *text)
{
	struct matrix *m = parse(text);
	struct err err = { 0 };
	struct plan p;

	if (plan_make(m, disks, 3, &p, &err) < 0)
		fail_msg("%s", err.text);
	matrix_free(m);
	return p;
}

static void assert_has_case(const struct plan *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->cell[i]->case_name, name) == 0)
			return;
	fail_msg("no case %s", name);
}

#define DEMO                                                                   \
	"experiment: demo\nseed: 7\n"                                          \
	"layout: [single, JBOD-2HDD, RAID0-2HDD, RAID1-2HDD]\n"                \
	"fs: [xfs, ext4]\nworkload: dd-write\n"                                \
	"params: {n: 1, seconds: 8}\nkernel: [\"6.1\", "                       \
	"\"6.12\"]\n"

static void axes_multiply(void **state)
{
	struct plan p = plan(DEMO);

	(void)state;
	assert_int_equal(p.n, 16);
	assert_int_equal(p.boots, 2);
	assert_has_case(&p, "bay/single/xfs-1dd-1");
	assert_has_case(&p, "bay/RAID1-2HDD/ext4-1dd-1");
	assert_int_equal(p.cell[0]->workload->n_param, 2);
	assert_int_equal(p.cell[0]->sample_hz, 10);
	plan_free(&p);
}

static void the_same_file_and_seed_give_the_same_order(void **state)
{
	struct plan a = plan(DEMO), b = plan(DEMO);
	size_t i;

	(void)state;
	for (i = 0; i < a.n; i++) {
		assert_string_equal(a.cell[i]->key, b.cell[i]->key);
		assert_int_equal(a.cell[i]->order, i);
	}
	plan_free(&a);
	plan_free(&b);
}

static void another_seed_gives_another_order_of_the_same_cells(void **state)
{
	struct plan a =
		plan("experiment: e\nseed: 1\nlayout: single\nfs: [xfs, "
		     "ext4, btrfs]\nworkload: dd-write\nparams: {seconds: "
		     "5}\nthresh: [1M, "
		     "10M, 100M, 1000M]\n");
	struct plan b =
		plan("experiment: e\nseed: 2\nlayout: single\nfs: [xfs, "
		     "ext4, btrfs]\nworkload: dd-write\nparams: {seconds: "
		     "5}\nthresh: [1M, "
		     "10M, 100M, 1000M]\n");
	size_t i, k, moved = 0, found = 0;

	(void)state;
	assert_int_equal(a.n, 12);
	for (i = 0; i < a.n; i++) {
		moved += strcmp(a.cell[i]->key, b.cell[i]->key) != 0;
		for (k = 0; k < b.n; k++)
			found += strcmp(a.cell[i]->key, b.cell[k]->key) == 0;
	}
	assert_true(moved > 0);
	assert_int_equal(found, a.n);
	plan_free(&a);
	plan_free(&b);
}

static void names_follow_the_published_grammar(void **state)
{
	struct plan p = plan(
		"experiment: e\nlayout: [single, RAID0-2HDD]\n"
		"fs: xfs\nworkload: dd-write\nparams: {seconds: 5, n: 10}\n"
		"thresh: [1M, 100M]\n");
	char full[CASE_NAME_BYTES];

	(void)state;
	assert_int_equal(p.n, 4);
	assert_has_case(&p, "bay/RAID0-2HDD-thresh=100M/xfs-10dd-1");
	assert_has_case(&p, "bay/thresh=1M/xfs-10dd-1");
	case_name_with_kernel("bay/RAID0-2HDD-thresh=100M/xfs-10dd-1", "6.12.9",
			      full);
	assert_string_equal(full,
			    "bay/RAID0-2HDD-thresh=100M/xfs-10dd-1-6.12.9");
	plan_free(&p);
}

static void a_setting_is_named_only_when_it_varies(void **state)
{
	struct plan p = plan(
		"experiment: e\nlayout: RAID0-2HDD\nfs: xfs\n"
		"workload: dd-write\nparams: {seconds: 5}\nchunk: [64k, 512k]\n"
		"read_ahead_kb: 128\nsysctl: {vm.swappiness: [1, "
		"60]}\nmount: {xfs: [noatime, \"noatime,discard\"],"
		" ext4: noatime}\n");

	(void)state;
	assert_int_equal(p.n, 8);
	assert_has_case(&p, "bay/RAID0-2HDD-chunk=64k-mount=noatime,discard-"
			    "vm.swappiness=60/xfs-1dd-1");
	assert_int_equal(p.cell[0]->n_knob, 2);
	plan_free(&p);
}

static void a_key_without_meaning_in_a_layout_does_not_multiply_it(void **state)
{
	struct plan p = plan("experiment: e\nlayout: [single, RAID0-2HDD, "
			     "RAID1-2HDD]\nfs: xfs\nworkload: "
			     "dd-write\nparams: {seconds: 5}\n"
			     "chunk: [64k, 512k]\nbitmap: [none, internal]\n");

	(void)state;
	assert_int_equal(p.n, 1 + 2 + 2);
	assert_has_case(&p, "bay/single/xfs-1dd-1");
	assert_has_case(&p, "bay/RAID1-2HDD-bitmap=internal/xfs-1dd-1");
	plan_free(&p);
}

static void kernels_are_grouped_and_turned_in_each_repeat(void **state)
{
	struct plan p = plan("experiment: e\nrepeats: 3\nlayout: [single, "
			     "JBOD-2HDD]\nfs: xfs\nworkload: dd-write\nparams: "
			     "{seconds: 5}\nkernel: "
			     "[A, B]\n");
	char order[32] = "";
	size_t i;

	(void)state;
	assert_int_equal(p.n, 12);
	for (i = 0; i < p.n; i++)
		strcat(order, p.cell[i]->kernel);
	assert_string_equal(order, "AABBBBAAAABB");
	assert_int_equal(p.boots, 4);
	plan_free(&p);
}

static void the_compared_axis_runs_a_b_b_a(void **state)
{
	struct plan p =
		plan("experiment: e\nrepeats: 2\ncompare: scheduler\n"
		     "layout: [single, JBOD-2HDD]\nfs: xfs\nworkload: "
		     "dd-write\nparams: {seconds: 5}\nscheduler: [A, B]\n");
	char order[32] = "";
	size_t i;

	(void)state;
	assert_int_equal(p.n, 8);
	for (i = 0; i < p.n; i++)
		strcat(order, p.cell[i]->knob[0]->value);
	assert_string_equal(order, "ABBABAAB");
	plan_free(&p);
}

static void rules_keep_and_drop_cells(void **state)
{
	struct plan p =
		plan("experiment: e\nlayout: [single, RAID1-2HDD]\n"
		     "fs: [xfs, ext4]\nworkload: dd-write\nparams: {seconds: "
		     "5, n: [1, 10]}\n"
		     "exclude:\n  - {layout: RAID1-2HDD, n: 10}\n"
		     "include:\n  - {fs: xfs}\n  - {layout: single, n: [1]}\n");

	(void)state;
	/* xfs: single 1, 10, RAID1 1; ext4: single 1 */
	assert_int_equal(p.n, 4);
	assert_has_case(&p, "bay/single/ext4-1dd-1");
	assert_has_case(&p, "bay/RAID1-2HDD/xfs-1dd-1");
	plan_free(&p);
}

static void a_key_survives_the_growth_of_the_matrix(void **state)
{
	struct plan a = plan("experiment: e\nlayout: single\nfs: xfs\nworkload:"
			     " dd-write\nparams: {seconds: 5}\nthresh: 1M\n");
	struct plan b = plan("experiment: e\nlayout: [single, RAID0-2HDD]\nfs: "
			     "[ext4, xfs]\nworkload: dd-write\nparams: "
			     "{seconds: 5}\nthresh: [2M, "
			     "1M]\n");
	size_t i, found = 0;

	(void)state;
	for (i = 0; i < b.n; i++)
		found += strcmp(a.cell[0]->key, b.cell[i]->key) == 0;
	assert_int_equal(found, 1);
	/* The key is part of the stored format: it must not drift. */
	assert_int_equal(strlen(a.cell[0]->key), 32);
	plan_free(&a);
	plan_free(&b);
}

static void knobs_reach_the_disks_they_belong_to(void **state)
{
	struct plan p = plan("experiment: e\nlayout: RAID1-2HDD\nfs: ext4\n"
			     "workload: dd-write\nparams: {seconds: "
			     "5}\nthresh: 100M\nbackground: "
			     "default\nread_ahead_kb: 256\nscheduler: none\n"
			     "sysctl: {vm.swappiness: 1}\nmkfs: {ext4: \"-m "
			     "0\"}\ndisks: [S3, S1]\n");
	Bay__Cell *c = p.cell[0];

	(void)state;
	assert_int_equal(c->n_knob, 5);
	assert_string_equal(c->knob[0]->name, "dirty_bytes");
	assert_string_equal(c->knob[0]->value, "104857600");
	assert_string_equal(c->knob[1]->target, "array");
	assert_string_equal(c->knob[2]->name, "scheduler");
	assert_string_equal(c->knob[2]->target, "S3");
	assert_string_equal(c->knob[3]->target, "S1");
	assert_string_equal(c->knob[4]->name, "sysctl");
	assert_string_equal(c->knob[4]->target, "vm.swappiness");
	assert_int_equal(c->fs->n_mkfs_option, 2);
	assert_string_equal(c->fs->mkfs_option[1], "0");
	assert_string_equal(c->array->serial[0], "S3");
	plan_free(&p);
}

#define HEAD "experiment: e\nlayout: single\nworkload: dd-write\n"
#define SIXTY_FOUR                                                             \
	"aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"

static const struct {
	const char *text;
	const char *err;
} bad[] = {
	{ "experiment: e\nlayout: single\nworklod: dd-write\nparams: {seconds: "
	  "5}\n",
	  "m.yaml:3: unknown key 'worklod' (known: experiment, seed, repeats, "
	  "compare, disks, layout, chunk, bitmap, initial_sync, fs, mkfs, "
	  "mount, workload, params, thresh, background, read_ahead_kb, "
	  "max_sectors_kb, nr_requests, scheduler, sysctl, kernel, include, "
	  "exclude, sample_hz, timeout_s)" },
	{ "experiment: e\nlayout:\n  - single\n  - RAID5-3HDD\nworkload: "
	  "dd-write\n",
	  "m.yaml:4: layout: 'RAID5-3HDD' is not a layout (single, JBOD-nHDD, "
	  "RAID0-nHDD, RAID1-nHDD)" },
	{ "experiment: e\nlayout: RAID1-1HDD\nworkload: dd-write\n",
	  "m.yaml:2: layout: 'RAID1-1HDD' is not a layout (single, JBOD-nHDD, "
	  "RAID0-nHDD, RAID1-nHDD)" },
	{ "experiment: e\nworkload: dd-write\n",
	  "m.yaml:1: the matrix lacks the key 'layout'" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nfs: "
	  "xfs\nexclude:\n"
	  " - fs: xfs\n   n: 3\n",
	  "m.yaml:7: no key 'n' in this matrix to match" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nfs: "
	  "xfs\nexclude:\n"
	  " - fs: [xfs, ext4]\n",
	  "m.yaml:6: 'ext4' is no value of fs" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nthresh: [1M,\n  "
	  "1X]\n",
	  "m.yaml:5: thresh: '1X' is not a size (100M, 1G) or 'default'" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nfs: [xfs, xfs]\n",
	  "m.yaml:4: fs: 'xfs' is listed twice" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nrepeats: 0\n",
	  "m.yaml:4: repeats: 0 is not in 1..1000" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nparams: 3\n",
	  "m.yaml:4: params: must be 'name: value' pairs" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nrepeats: -1\n",
	  "m.yaml:4: repeats: '-1' is not a whole number from 0 to "
	  "4294967295" },
	{ "experiment: e\nlayout: JBOD-2HDD\nworkload: dd-write\ndisks: S1\n",
	  "m.yaml:2: JBOD-2HDD needs more than the 1 disks listed under "
	  "'disks'" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nmkfs:\n"
	  "  zfs: -f\n",
	  "m.yaml:5: mkfs: 'zfs' is not a file system (ext4, xfs, btrfs)" },
	{ "experiment: e\nlayout: single\nworkload:\n- dd-wrote\n",
	  "m.yaml:4: workload: 'dd-wrote' is not a workload that bay has: "
	  "dd-write" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nparams:\n"
	  "  seconds: 5\n  duration: 6\n",
	  "m.yaml:6: params: no workload of this matrix has the parameter "
	  "'duration' (dd-write has n, bs, seconds, size, direct)" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nthresh: 8191\n",
	  "m.yaml:4: thresh: '8191' is not a size of at least 8k" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nbackground: 0\n",
	  "m.yaml:4: background: '0' is not a size (100M, 1G) or 'default'" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\nsysctl:\n"
	  "  vm.swappiness: 1\n  ../../etc/passwd: 1\n",
	  "m.yaml:6: sysctl: \"../../etc/passwd\" is not the name of a "
	  "sysctl" },
	{ "experiment: e\nlayout: single\nworkload: dd-write\ncompare: fs\n",
	  "m.yaml:4: compare: no key 'fs' in this matrix" },
	{ HEAD "seed: 18446744073709551616\n",
	  "m.yaml:4: seed: '18446744073709551616' is not a whole number from 0 "
	  "to 18446744073709551615" },
	{ HEAD "sample_hz: 4294967297\n",
	  "m.yaml:4: sample_hz: '4294967297' is not a whole number from 0 to "
	  "4294967295" },
	{ HEAD "timeout_s: 1h\n",
	  "m.yaml:4: timeout_s: '1h' is not a whole number from 0 to "
	  "4294967295" },
	{ HEAD "repeats: [1, 2]\n",
	  "m.yaml:4: repeats: must be a single value" },
	{ HEAD "compare: \"\"\n", "m.yaml:4: compare: must not be empty" },
	{ "experiment: \"\"\nlayout: single\nworkload: dd-write\n",
	  "m.yaml:1: experiment: must not be empty" },
	{ "layout: single\nexperiment:\n  " SIXTY_FOUR "x\n",
	  "m.yaml:2: experiment: is longer than 64 bytes" },
	{ HEAD "fs:\n- xfs\nfs: ext4\n",
	  "m.yaml:6: the key 'fs' stands twice" },
	{ HEAD "params:\n  n: 1\n  n: 2\n",
	  "m.yaml:6: the key 'n' stands twice" },
	{ HEAD
	  "fs: xfs\nexclude:\n - {layout: single}\n - fs: xfs\n   fs: ext4\n",
	  "m.yaml:8: the key 'fs' stands twice" },
	{ HEAD "fs: []\n",
	  "m.yaml:4: fs: is an empty list; write at least one entry" },
	{ HEAD "params:\n  seconds: 5\n  n: []\n",
	  "m.yaml:6: params.n: is an empty list; write at least one entry" },
	{ HEAD "mount: {}\n",
	  "m.yaml:4: mount: is an empty list; write at least one entry" },
	{ HEAD "fs:\n- xfs\n- [ext4]\n",
	  "m.yaml:6: fs[1]: must be a single value; lists are not nested" },
	{ HEAD "sysctl:\n  vm.swappiness:\n  - 1\n  - {a: b}\n",
	  "m.yaml:7: sysctl.vm.swappiness[1]: must be a single value; lists "
	  "are "
	  "not nested" },
	{ HEAD "fs: {xfs: ext4}\n",
	  "m.yaml:4: fs: must be a value or a list of values" },
	{ HEAD "params: [{name: n, values: [1]}]\n",
	  "m.yaml:4: params: must be 'name: value' pairs" },
	{ HEAD "exclude: {layout: single}\n",
	  "m.yaml:4: exclude: must be a list of rules, such as [{fs: xfs}]" },
	{ HEAD "exclude:\n - layout\n",
	  "m.yaml:5: exclude[0]: must be a rule, such as {fs: xfs}" },
	{ HEAD "thresh: [16MiB, 1.5G]\n",
	  "m.yaml:4: thresh: '1.5G' is not a size (100M, 1G) or 'default'" },
	{ HEAD "thresh: -1\n",
	  "m.yaml:4: thresh: '-1' is not a size (100M, 1G) or 'default'" },
	{ HEAD "thresh: 99999999999999999999T\n",
	  "m.yaml:4: thresh: '99999999999999999999T' is not a size (100M, 1G) "
	  "or 'default'" },
	{ HEAD "read_ahead_kb: 1M\n",
	  "m.yaml:4: read_ahead_kb: '1M' is not a number or 'default'" },
	{ HEAD "fs: \"x\\e[31m\"\n",
	  "m.yaml:4: fs: 'x?[31m' is not a file system (ext4, xfs, btrfs, "
	  "raw)" },
	{ HEAD "fs: *nothing\n",
	  "m.yaml:4: is not YAML: found undefined alias" },
	/* Where the alias stands, or its list; not what it stands for. */
	{ HEAD "kernel: &x [A,\n  zfs]\nfs:\n  *x\n",
	  "m.yaml:6: fs: 'A' is not a file system (ext4, xfs, btrfs, raw)" },
	{ HEAD "kernel: &x zfs\nfs:\n- xfs\n- *x\n",
	  "m.yaml:5: fs: 'zfs' is not a file system (ext4, xfs, btrfs, raw)" },
	{ HEAD "? [fs]\n: xfs\n", "m.yaml:4: a key must be plain text" },
	{ HEAD "\tfs: xfs\n", "m.yaml:4: is not YAML: the line is indented "
			      "with a tab; use spaces" },
	{ HEAD "--- \nfs: xfs\n",
	  "m.yaml:5: a second document begins; a file holds one" },
	{ HEAD "\xff\xfe\n",
	  "m.yaml:4: is not UTF-8 text: invalid leading UTF-8 octet" },
	{ "experiment: e\r\nlayout: single\r\nfs: zfs\r\nworkload: "
	  "dd-write\r\n",
	  "m.yaml:3: fs: 'zfs' is not a file system (ext4, xfs, btrfs, raw)" },
};

static void each_error_names_its_line(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct matrix *m = NULL;
		struct err err = { 0 };

		if (matrix_parse("m.yaml", bad[i].text, strlen(bad[i].text), &m,
				 &err) != -EINVAL)
			fail_msg("not refused: %s", bad[i].err);
		assert_string_equal(err.text, bad[i].err);
		assert_null(m);
	}
}

static void assert_plan_error(const char *text, int code, const char *what)
{
	struct matrix *m = parse(text);
	struct err err = { 0 };
	struct plan p;

	assert_int_equal(plan_make(m, disks, 3, &p, &err), code);
	assert_string_equal(err.text, what);
	matrix_free(m);
}

static void impossible_plans_say_where_and_why(void **state)
{
	(void)state;
	assert_plan_error(
		"experiment: e\nlayout:\n- single\n- JBOD-4HDD\nworkload:"
		" dd-write\nparams: {seconds: 5}\n",
		-ENODEV,
		"m.yaml:4: JBOD-4HDD wants more disks than the bench's 3; add "
		"disks to the bench or drop the layout");
	assert_plan_error(HEAD "params: {seconds: 5}\n"
			       "exclude: [{layout: single}]\n",
			  -EINVAL,
			  "m.yaml:5: no cell is left after include and "
			  "exclude");
	assert_plan_error(
		HEAD "params: {seconds: 5}\n"
		     "thresh:\n - 1G\n - 1024M\nrepeats: 1\n",
		-EINVAL,
		"m.yaml:7: bay/thresh=1G/raw-1dd-1 and "
		"bay/thresh=1024M/raw-1dd-1 are the same cell; drop one of "
		"the two values");
	assert_plan_error(HEAD "params:\n  seconds: 5\n  n:\n  - 1\n  - 0\n",
			  -EINVAL,
			  "m.yaml:8: dd-write: n \"0\" is not from 1 "
			  "to 1000");
	/* 500 on each of three file systems. */
	assert_plan_error(
		"experiment: e\nlayout: [single, JBOD-3HDD]\n"
		"workload: dd-write\nparams: {seconds: 5,\n n: 500}\n",
		-EINVAL,
		"m.yaml:5: dd-write: 500 on each of 3 targets are "
		"more than 1024 processes");
	assert_plan_error(HEAD "params: {n: 1}\n", -EINVAL,
			  "m.yaml:3: dd-write: wants either seconds or size");
	assert_plan_error(HEAD "params:\n  size: 1M\n  seconds: 5\n", -EINVAL,
			  "m.yaml:5: dd-write: wants either seconds or size");
	assert_plan_error(HEAD "params:\n  size: 1.5G\n", -EINVAL,
			  "m.yaml:5: dd-write: size \"1.5G\" is not a number "
			  "of bytes like 512M");
}

static void a_rule_without_a_cell_is_an_error(void **state)
{
	(void)state;
	/* A mirror has no chunk: only what there is can be excluded. */
	assert_plan_error("experiment: e\nlayout: [RAID0-2HDD, RAID1-2HDD]\n"
			  "workload: dd-write\nparams: {seconds: 5}\n"
			  "chunk: [64k, 512k]\nexclude:\n"
			  "- {layout: RAID0-2HDD, chunk: 64k}\n"
			  "- {layout: RAID1-2HDD, chunk: 512k}\n",
			  -EINVAL,
			  "m.yaml:8: exclude: the rule matches no cell; mend "
			  "it or drop it");
}

static void a_layout_that_is_excluded_needs_no_disks(void **state)
{
	struct plan p = plan("experiment: e\nlayout: [single, JBOD-4HDD]\n"
			     "workload: dd-write\nparams: {seconds: 5}\n"
			     "exclude:\n- {layout: JBOD-4HDD}\n");

	(void)state;
	assert_int_equal(p.n, 1);
	plan_free(&p);
}

static void a_matrix_that_grows_too_large_says_by_which_key(void **state)
{
	char text[8192] =
		HEAD "params:\n  seconds: 5\nrepeats: 1000\nthresh: [";
	size_t n = strlen(text);
	unsigned i;

	(void)state;
	for (i = 1; i <= 101; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%uM,", i);
	snprintf(text + n, sizeof(text) - n, "]\n");
	assert_plan_error(text, -E2BIG,
			  "m.yaml:7: up to here the lists of the matrix "
			  "multiply to more than 100000 cells; shorten some");
}

static void line_ends_and_a_byte_order_mark_do_not_matter(void **state)
{
	struct plan p = plan("\xef\xbb\xbf"
			     "experiment: e\r\nlayout: single\r\n"
			     "workload: dd-write\r\nparams: {seconds: 5}\r\n"
			     "thresh: 16MiB # a comment\r\n");

	(void)state;
	assert_int_equal(p.n, 1);
	assert_string_equal(p.cell[0]->experiment, "e");
	assert_string_equal(p.cell[0]->knob[0]->value, "16777216");
	plan_free(&p);
}

static void an_alias_stands_for_its_value(void **state)
{
	struct plan p = plan("experiment: e\nlayout: single\n"
			     "workload: dd-write\nparams: {seconds: &s 5}\n"
			     "read_ahead_kb: *s\n");

	(void)state;
	assert_string_equal(p.cell[0]->knob[0]->value, "5");
	plan_free(&p);
}

static void a_cells_guard_follows_its_length(void **state)
{
	struct plan p = plan("experiment: e\nlayout: single\nworkload: "
			     "dd-write\nparams: {seconds: [5, 3600]}\n");
	struct plan by_size = plan("experiment: e\nlayout: single\nworkload: "
				   "dd-write\nparams: {size: 100G}\n");

	(void)state;
	assert_int_equal(p.n, 2);
	for (size_t i = 0; i < 2; i++) {
		bool is_long = plan_cell_estimate_s(p.cell[i]) > 3600;

		assert_int_equal(p.cell[i]->timeout_s,
				 is_long ? 4 * (3600 + 15) + 120
					 : 4 * (5 + 15) + 120);
	}
	assert_int_equal(by_size.cell[0]->timeout_s, 6 * 3600);
	plan_free(&p);
	plan_free(&by_size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_multiply),
		cmocka_unit_test(the_same_file_and_seed_give_the_same_order),
		cmocka_unit_test(
			another_seed_gives_another_order_of_the_same_cells),
		cmocka_unit_test(names_follow_the_published_grammar),
		cmocka_unit_test(a_setting_is_named_only_when_it_varies),
		cmocka_unit_test(
			a_key_without_meaning_in_a_layout_does_not_multiply_it),
		cmocka_unit_test(kernels_are_grouped_and_turned_in_each_repeat),
		cmocka_unit_test(the_compared_axis_runs_a_b_b_a),
		cmocka_unit_test(rules_keep_and_drop_cells),
		cmocka_unit_test(a_key_survives_the_growth_of_the_matrix),
		cmocka_unit_test(knobs_reach_the_disks_they_belong_to),
		cmocka_unit_test(each_error_names_its_line),
		cmocka_unit_test(impossible_plans_say_where_and_why),
		cmocka_unit_test(a_rule_without_a_cell_is_an_error),
		cmocka_unit_test(a_layout_that_is_excluded_needs_no_disks),
		cmocka_unit_test(
			a_matrix_that_grows_too_large_says_by_which_key),
		cmocka_unit_test(line_ends_and_a_byte_order_mark_do_not_matter),
		cmocka_unit_test(an_alias_stands_for_its_value),
		cmocka_unit_test(a_cells_guard_follows_its_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
