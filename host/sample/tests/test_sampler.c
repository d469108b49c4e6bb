/* The sampler on files of a fixture, and numbers out of its series. */
#include "host/sample/sampler.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/sample/metrics.h"
#include "host/util/fs.h"

struct bed {
	char root[40];
	struct sample_device device[3];
	struct sampler_cfg cfg;
};

static void put(struct bed *b, const char *name, const char *text)
{
	char path[FS_PATH_BYTES];
	FILE *f;

	/* In place: the sampler keeps its descriptors. */
	assert_int_equal(fs_path(path, "%s/proc/%s", b->root, name), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Both members have done k units of work. */
static void put_disks(struct bed *b, unsigned long long k)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "8 0 sda 0 0 0 0 %llu 0 %llu %llu 0 %llu %llu\n"
		       "8 16 sdb 0 0 0 0 %llu 0 %llu %llu 0 %llu %llu\n"
		       "9 127 md127 0 0 0 0 %llu 0 %llu 0 0 0 0\n",
		       k, 128 * k, 3 * k, 2 * k, 3 * k, k, 128 * k,
		       (3 * k) & 0xffffffff, 2 * k, 3 * k, k, 128 * k);
	put(b, "diskstats", text);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	char path[FS_PATH_BYTES];

	*state = b;
	(void)strcpy(b->root, "/tmp/bay-test-sampler-XXXXXX");
	if (!mkdtemp(b->root) || fs_path(path, "%s/proc", b->root) ||
	    fs_mkdirs(path))
		return -1;
	(void)strcpy(b->device[0].node, "sda");
	(void)strcpy(b->device[1].node, "sdb");
	(void)strcpy(b->device[2].node, "md127");
	b->device[2].is_array = true;
	b->cfg = (struct sampler_cfg){ .root = b->root,
				       .hz = 50,
				       .max_points = 16,
				       .device = b->device,
				       .devices = 3 };
	put_disks(b, 1);
	put(b, "stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
	put(b, "vmstat", "nr_dirty 1\nnr_written 1000\n");
	put(b, "meminfo", "MemFree: 10 kB\nDirty: 4 kB\n");
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	int rc = fs_remove_tree(b->root);

	free(b);
	return rc;
}

static void a_missing_file_is_named(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };
	char path[FS_PATH_BYTES];

	assert_int_equal(fs_path(path, "%s/proc/vmstat", b->root), 0);
	assert_int_equal(fs_unlink_sync(path), 0);
	assert_null(sampler_new(&b->cfg, &err));
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(err.text, "vmstat"));
	b->cfg.hz = 51;
	assert_null(sampler_new(&b->cfg, &err));
	assert_int_equal(errno, EINVAL);
}

static void a_full_series_is_thinned_over_its_whole_span(void **state)
{
	struct bed *b = *state;
	struct sampler *s = sampler_new(&b->cfg, NULL);
	const struct sample_series *series;

	assert_non_null(s);
	for (unsigned i = 0; i < 17; i++) {
		put_disks(b, i);
		assert_int_equal(sampler_take(s), 0);
	}
	series = sampler_series(s);
	assert_int_equal(series->taken, 17);
	assert_int_equal(series->count, 9);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(series->disk[i * 3][DISK_WRITES], 2 * i);
	sampler_free(s);
}

/* The sampler reads no further than what it wants stood at first. */
static void wanted_counters_may_move_down_in_vmstat(void **state)
{
	struct bed *b = *state;
	struct sampler *s = sampler_new(&b->cfg, NULL);
	const struct sample_series *series;
	char text[2048];

	assert_non_null(s);
	for (unsigned i = 0; i < 3; i++) {
		(void)snprintf(text, sizeof(text),
			       "nr_dirty %0*u\nnr_written %u\nrest 1\n",
			       (int)(1 + 600 * i), 1 + i, 1000 + i);
		put(b, "vmstat", text);
		assert_int_equal(sampler_take(s), 0);
	}
	series = sampler_series(s);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(series->point[i].vm[VM_NR_WRITTEN], 1000 + i);
	sampler_free(s);
}

static void a_pulled_disk_keeps_its_last_counters(void **state)
{
	struct bed *b = *state;
	struct sampler *s = sampler_new(&b->cfg, NULL);
	const struct sample_series *series;

	assert_non_null(s);
	put_disks(b, 5);
	assert_int_equal(sampler_take(s), 0);
	put(b, "diskstats", "8 16 sdb 0 0 0 0 9 0 0 0 0 0 0\n");
	assert_int_equal(sampler_take(s), 0);
	series = sampler_series(s);
	assert_int_equal(series->counters[0], 11);
	assert_int_equal(series->disk[3][DISK_WRITES], 5);
	assert_int_equal(series->disk[4][DISK_WRITES], 9);
	sampler_free(s);
}

static void the_thread_takes_a_first_and_a_last_sample(void **state)
{
	struct bed *b = *state;
	struct sampler *s = sampler_new(&b->cfg, NULL);

	assert_non_null(s);
	assert_int_equal(sampler_start(s, NULL), 0);
	sampler_stop(s);
	assert_true(sampler_series(s)->count >= 2);
	assert_true(sampler_series(s)->point[0].has_slow);
	assert_int_equal(sampler_series(s)->point[0].mem_kb[MEM_DIRTY], 4);
	assert_true(sampler_series(s)
			    ->point[sampler_series(s)->count - 1]
			    .has_slow);
	sampler_free(s);
}

static const struct metric *metric_of(const struct metrics *m, const char *name)
{
	for (unsigned i = 0; i < m->count; i++) {
		if (strcmp(m->metric[i].name, name) == 0)
			return &m->metric[i];
	}
	fail_msg("no metric %s", name);
	return NULL;
}

static const struct check *check_of(const struct metrics *m, const char *name)
{
	for (unsigned i = 0; i < m->checks; i++) {
		if (strcmp(m->check[i].name, name) == 0)
			return &m->check[i];
	}
	fail_msg("no check %s", name);
	return NULL;
}

static void assert_near(double a, double b)
{
	if (a < b * 0.999999 - 1e-9 || a > b * 1.000001 + 1e-9)
		fail_msg("%g is not %g", a, b);
}

/* Two members and their array over ten seconds; the second member's time
 * counters pass 2^32 on the way. */
static void io_is_summed_over_the_members_only(void **state)
{
	static struct sample_point p[2];
	static uint64_t disk[6][DISK_COUNTERS];
	static const struct sample_device dev[] = {
		{ "sda", "A", false },
		{ "sdb", "B", false },
		{ "md0", "t", true },
	};
	const struct sample_series s = { .device = dev,
					 .devices = 3,
					 .counters = { 17, 17, 17 },
					 .count = 2,
					 .point = p,
					 .disk = (const void *)disk };
	const struct metrics_window w = { .end_ns = 10000000000u };
	struct metrics m = { 0 };

	(void)state;
	p[1].t_ns = 10000000000u;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t *x = disk[i];
		uint64_t *y = disk[3 + i];

		x[DISK_MS_WRITE] = i == 1 ? 0xfffffff0 : 0;
		x[DISK_MS_WEIGHTED] = i == 1 ? 0xffffff00 : 0;
		y[DISK_WRITES] = 1000;
		y[DISK_SECTORS_WRITTEN] = 256000;
		y[DISK_MS_WRITE] = (uint32_t)(x[DISK_MS_WRITE] + 20000);
		y[DISK_MS_WEIGHTED] = (uint32_t)(x[DISK_MS_WEIGHTED] + 20000);
		y[DISK_MS_BUSY] = i == 0 ? 10000 : 5000;
	}
	metrics_io(&m, &s, &w);
	assert_near(metric_of(&m, "io_w_s")->value, 200);
	assert_near(metric_of(&m, "io_wkB_s")->value, 25600);
	assert_near(metric_of(&m, "io_avgrq_sz")->value, 256);
	assert_near(metric_of(&m, "io_w_await")->value, 20);
	assert_near(metric_of(&m, "io_r_await")->value, 0);
	assert_near(metric_of(&m, "io_avgqu_sz")->value, 4);
	assert_near(metric_of(&m, "io_util")->value, 75);
	assert_true(check_of(&m, "littles_law")->ok);
	assert_true(check_of(&m, "util")->ok);
	metrics_check_bytes(&m, &s, 131072000, 2);
	assert_true(check_of(&m, "bytes")->ok);
	m.checks = 0;
	metrics_check_bytes(&m, &s, 131072000, 1);
	assert_false(check_of(&m, "bytes")->ok);
}

static void cpu_shares_add_up_without_the_guest_twice(void **state)
{
	static struct sample_point p[2];
	const struct sample_series s = { .count = 2, .point = p };
	const struct metrics_window w = { .end_ns = 10 };
	struct metrics m = { 0 };

	(void)state;
	p[1].t_ns = 10;
	p[1].cpu[CPU_USER] = 30;
	p[1].cpu[CPU_GUEST] = 30; /* inside user */
	p[1].cpu[CPU_SYSTEM] = 10;
	p[1].cpu[CPU_SOFTIRQ] = 10;
	p[1].cpu[CPU_IDLE] = 50;
	p[0].cpu[CPU_IOWAIT] = 3; /* runs backwards */
	metrics_cpu(&m, &s, &w);
	assert_near(metric_of(&m, "cpu_user")->value, 30);
	assert_near(metric_of(&m, "cpu_system")->value, 20);
	assert_near(metric_of(&m, "cpu_idle")->value, 50);
	assert_true(check_of(&m, "cpu_sum")->ok);
}

/* CPU times are read once a second. */
static void a_run_of_half_a_second_gets_the_next_cpu_times(void **state)
{
	static struct sample_point p[4];
	const struct sample_series s = { .count = 4, .point = p };
	const struct metrics_window w = { .end_ns = 20 };
	struct metrics m = { 0 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		p[i].t_ns = i * 10;
		p[i].cpu[CPU_USER] = i < 3 ? 100 : 125;
		p[i].cpu[CPU_IDLE] = i < 3 ? 100 : 175;
	}
	metrics_cpu(&m, &s, &w);
	assert_near(metric_of(&m, "cpu_user")->value, 25);
	assert_near(metric_of(&m, "cpu_idle")->value, 75);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_missing_file_is_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_full_series_is_thinned_over_its_whole_span, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			wanted_counters_may_move_down_in_vmstat, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_pulled_disk_keeps_its_last_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_thread_takes_a_first_and_a_last_sample, setup,
			teardown),
		cmocka_unit_test(io_is_summed_over_the_members_only),
		cmocka_unit_test(cpu_shares_add_up_without_the_guest_twice),
		cmocka_unit_test(
			a_run_of_half_a_second_gets_the_next_cpu_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
