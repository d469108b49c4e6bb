/* boards/virtual/disk/tests/test_disk.c - what a disk keeps, loses and says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boards/virtual/disk/current.h"
#include "boards/virtual/disk/media.h"
#include "boards/virtual/disk/tests/drive.h"

static struct vdisk *new_disk(const struct vdisk_cfg *cfg)
{
	struct vdisk *d = vdisk_new(cfg, NULL, NULL);

	assert_non_null(d);
	return d;
}

static int setup(void **state)
{
	struct vdisk_cfg cfg;

	drive_cfg(&cfg);
	cfg.holdup_ns = 0;
	*state = new_disk(&cfg);
	return 0;
}

static int teardown(void **state)
{
	vdisk_free(*state);
	return 0;
}

static void plant(struct vdisk *d, const char *name, const char *key,
		  uint64_t value)
{
	struct vdisk_fault_arg arg = { .value = value };
	char why[128];

	if (key != NULL)
		strcpy(arg.key, key);
	assert_int_equal(vdisk_fault(d, name, &arg, key != NULL, why), 0);
}

static void what_was_never_written_reads_as_zeros(void **state)
{
	assert_int_equal(drive_read(*state, 12 * MIB, MIB), 0);
}

static void a_read_sees_the_write_cache_over_the_media(void **state)
{
	struct vdisk *d = *state;

	assert_int_equal(drive_write(d, 0, 8192, 'a'), 0);
	assert_int_equal(drive_flush(d), 0);
	assert_int_equal(drive_write(d, 4096, 4096, 'b'), 0);
	assert_true(drive_status(d).dirty_bytes > 0);
	assert_int_equal(drive_read(d, 0, 4096), 'a');
	assert_int_equal(drive_read(d, 4096, 4096), 'b');
	assert_int_equal(drive_read(d, 0, 8192), 256);
}

static void an_unflushed_write_is_lost_at_the_cut(void **state)
{
	struct vdisk *d = *state;

	assert_int_equal(drive_write(d, 0, 4096, 'a'), 0);
	assert_int_equal(drive_status(d).dirty_bytes, 4096);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 0, 4096), 0);
	assert_int_equal(drive_status(d).lost_bytes, 4096);
	assert_int_equal(drive_status(d).cuts, 1);
}

static void a_flushed_write_survives_the_cut(void **state)
{
	struct vdisk *d = *state;

	assert_int_equal(drive_write(d, MIB, 4096, 'a'), 0);
	assert_int_equal(drive_flush(d), 0);
	assert_int_equal(drive_write(d, 2 * MIB, 4096, 'b'), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, MIB, 4096), 'a');
	assert_int_equal(drive_read(d, 2 * MIB, 4096), 0);
}

static void a_forced_write_survives_the_cut(void **state)
{
	struct vdisk *d = *state;

	assert_int_equal(drive_write(d, MIB, 4096, 'a'), 0);
	assert_int_equal(drive_write_fua(d, 2 * MIB, 4096, 'b'), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 2 * MIB, 4096), 'b');
}

static void without_write_back_every_write_survives(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;

	(void)state;
	drive_cfg(&cfg);
	cfg.holdup_ns = 0;
	cfg.write_back = false;
	d = new_disk(&cfg);
	assert_int_equal(drive_write(d, MIB, 4096, 'a'), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, MIB, 4096), 'a');
	vdisk_free(d);
}

static void a_flush_waits_for_no_later_write(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_op flush = { .kind = VDISK_FLUSH, .done = drive_done };

	assert_int_equal(drive_write(d, 0, MIB, 'a'), 0);
	vdisk_submit(d, &flush);
	assert_int_equal(drive_write(d, MIB, MIB, 'b'), 0);
	assert_int_not_equal(flush.state, VDISK_OP_DONE);
	drive_finish(d, &flush);
	assert_int_equal(flush.result, 0);
	assert_true(drive_status(d).dirty_bytes >= MIB);
	vdisk_power(d, false);
	vdisk_power(d, true);
	drive_idle(d);
	assert_int_equal(drive_read(d, 0, MIB), 'a');
}

static void zero_and_trim_read_as_zeros_and_may_be_lost(void **state)
{
	struct vdisk *d = *state;

	assert_int_equal(drive_write(d, 0, MIB, 'a'), 0);
	assert_int_equal(drive_flush(d), 0);
	assert_int_equal(drive_erase(d, VDISK_ZERO, 0, 4096), 0);
	assert_int_equal(drive_erase(d, VDISK_TRIM, 8192, 4096), 0);
	assert_int_equal(drive_read(d, 0, 4096), 0);
	assert_int_equal(drive_read(d, 8192, 4096), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 8192, 4096), 'a');
	assert_int_equal(drive_erase(d, VDISK_ZERO, 0, MIB), 0);
	assert_int_equal(drive_flush(d), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 0, MIB), 0);
}

static void the_write_under_the_heads_is_torn(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_op op = { .kind = VDISK_READ, .offset = 0, .n = MIB };
	unsigned char *buf = malloc(MIB);
	size_t kept = 0;

	assert_int_equal(drive_write(d, 0, MIB, 'a'), 0);
	/* 1 MiB takes 35 ms; the heads wait at most 24 ms for its start. */
	vdisk_advance(d, 40 * MS);
	drive_power_cycle(d);
	op.buf = buf;
	op.done = drive_done;
	vdisk_submit(d, &op);
	drive_finish(d, &op);
	while (kept < MIB && buf[kept] == 'a')
		kept++;
	assert_in_range(kept, 4096, MIB - 4096);
	assert_int_equal(kept % VDISK_PHYSICAL_BYTES, 0);
	for (size_t i = kept; i < MIB; i++)
		assert_int_equal(buf[i], 0);
	assert_int_equal(drive_status(d).lost_bytes, MIB - kept);
	free(buf);
}

static void a_long_hold_up_saves_the_write_cache(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;

	(void)state;
	drive_cfg(&cfg);
	cfg.holdup_ns = 1000 * MS;
	d = new_disk(&cfg);
	assert_int_equal(drive_write(d, MIB, MIB, 'a'), 0);
	vdisk_power(d, false);
	assert_int_equal(drive_status(d).power, VDISK_FALLING);
	assert_int_equal(drive_write(d, 0, 4096, 'b'), -EIO);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, MIB, MIB), 'a');
	assert_int_equal(drive_status(d).lost_bytes, 0);
	vdisk_free(d);
}

/* How many of ten unflushed writes, oldest first, are there after a cut: a
 * mask, bit i for write i. */
static unsigned survivors(enum vdisk_cut cut, uint64_t seed)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;
	unsigned mask = 0;

	drive_cfg(&cfg);
	cfg.holdup_ns = 0;
	cfg.cut = cut;
	cfg.seed = seed;
	d = new_disk(&cfg);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(drive_write(d, i * MIB, 4096, 'a'), 0);
	drive_power_cycle(d);
	for (unsigned i = 0; i < 10; i++)
		mask |= (drive_read(d, i * MIB, 4096) == 'a') << i;
	vdisk_free(d);
	return mask;
}

static void a_prefix_cut_keeps_the_oldest_writes(void **state)
{
	unsigned seen = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		unsigned mask = survivors(VDISK_CUT_PREFIX, seed);

		assert_int_equal(mask & (mask + 1), 0);
		seen |= mask ^ (mask >> 1);
	}
	/* 40 draws out of 11 outcomes: more than one was met. */
	assert_true((seen & (seen - 1)) != 0);
}

static void a_random_cut_keeps_some_later_writes(void **state)
{
	bool reordered = false;

	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		unsigned mask = survivors(VDISK_CUT_RANDOM, seed);

		reordered |= (mask & (mask + 1)) != 0;
		assert_int_equal(mask, survivors(VDISK_CUT_RANDOM, seed));
	}
	assert_true(reordered);
}

static void an_off_disk_refuses_at_once(void **state)
{
	struct vdisk *d = *state;

	vdisk_power(d, false);
	assert_int_equal(drive_read(d, 0, 4096), -EIO);
	assert_int_equal(drive_flush(d), -EIO);
	assert_int_equal(drive_status(d).errors, 2);
	assert_int_equal(drive_status(d).ma_5v, 0);
	assert_int_equal(drive_status(d).ma_12v, 0);
}

static void an_off_disk_can_hang_first(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;
	struct vdisk_op op = { .kind = VDISK_FLUSH, .done = drive_done };

	(void)state;
	drive_cfg(&cfg);
	cfg.start_on = false;
	cfg.off_hang_ns = 300 * MS;
	d = new_disk(&cfg);
	vdisk_submit(d, &op);
	vdisk_advance(d, 299 * MS);
	assert_int_not_equal(op.state, VDISK_OP_DONE);
	vdisk_advance(d, 300 * MS);
	assert_int_equal(op.state, VDISK_OP_DONE);
	assert_int_equal(op.result, -EIO);
	vdisk_free(d);
}

static void a_cut_fails_what_is_pending(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_op op = { .kind = VDISK_FLUSH, .done = drive_done };

	assert_int_equal(drive_write(d, 0, MIB, 'a'), 0);
	vdisk_submit(d, &op);
	vdisk_power(d, false);
	assert_int_equal(op.state, VDISK_OP_DONE);
	assert_int_equal(op.result, -EIO);
}

static void a_request_waits_for_the_spin_up(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;
	struct vdisk_op op = { .kind = VDISK_FLUSH, .done = drive_done };

	(void)state;
	drive_cfg(&cfg);
	cfg.start_on = false;
	d = new_disk(&cfg);
	vdisk_power(d, true);
	vdisk_submit(d, &op);
	vdisk_advance(d, 1499 * MS);
	assert_int_equal(drive_status(d).power, VDISK_SPINUP);
	assert_int_equal(drive_status(d).spinup_left_ms, 1);
	assert_int_not_equal(op.state, VDISK_OP_DONE);
	vdisk_advance(d, 1501 * MS);
	assert_int_equal(drive_status(d).power, VDISK_ON);
	assert_int_equal(op.state, VDISK_OP_DONE);
	assert_int_equal(op.result, 0);
	vdisk_free(d);
}

static void the_motor_draws_most_at_its_start(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;
	uint32_t before = UINT32_MAX;

	(void)state;
	drive_cfg(&cfg);
	cfg.start_on = false;
	d = new_disk(&cfg);
	vdisk_power(d, true);
	assert_in_range(drive_status(d).ma_12v, CURRENT_PEAK_MIN_MA,
			CURRENT_PEAK_MAX_MA);
	for (uint64_t ms = 0; ms < 1500; ms += 100) {
		vdisk_advance(d, ms * MS);
		assert_true(drive_status(d).ma_12v <= before);
		before = drive_status(d).ma_12v;
	}
	vdisk_advance(d, 1500 * MS);
	assert_in_range(drive_status(d).ma_12v, 100, 1000);
	vdisk_free(d);
}

static void a_busy_disk_draws_more_than_an_idle_one(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_status idle = drive_status(d);

	assert_int_equal(drive_write(d, 0, MIB, 'a'), 0);
	assert_true(drive_status(d).busy);
	assert_true(drive_status(d).ma_5v > idle.ma_5v);
	assert_true(drive_status(d).ma_12v > idle.ma_12v);
	drive_idle(d);
	vdisk_advance(d, vdisk_now_ns(d) + 1000 * MS);
	assert_int_equal(drive_status(d).ma_5v, idle.ma_5v);
}

/* Time at which `count` writes of `n` bytes in a row are on the media, with up
 * to `depth` of them at the disk at a time. */
static uint64_t stream(struct vdisk *d, unsigned count, uint64_t n,
		       unsigned depth)
{
	struct vdisk_op *op = calloc(depth, sizeof(*op));
	void *data = calloc(1, n);

	for (unsigned i = 0; i < count; i++) {
		struct vdisk_op *o = &op[i % depth];

		if (i >= depth)
			drive_finish(d, o);
		*o = (struct vdisk_op){ .kind = VDISK_WRITE,
					.offset = i * n,
					.n = n,
					.data = data,
					.done = drive_done };
		vdisk_submit(d, o);
	}
	for (unsigned i = 0; i < depth; i++)
		drive_finish(d, &op[i]);
	free(data);
	free(op);
	drive_idle(d);
	return vdisk_now_ns(d);
}

static void a_stream_of_writes_runs_at_the_media_rate(void **state)
{
	/* 32 MiB at 30 MB/s, and once to the start of the disk: a revolution
	 * and the first command's way. */
	uint64_t least = 32 * MIB * 1000 / 30;
	uint64_t ns = stream(*state, 256, 131072, 4);

	assert_in_range(ns, least, least + 9 * MS);
	assert_int_equal(drive_status(*state).media_bytes, 32 * MIB);
}

static void queued_writes_run_at_the_media_rate_without_write_back(void **state)
{
	uint64_t least = 32 * MIB * 1000 / 30;
	struct vdisk_cfg cfg;
	struct vdisk *d;

	(void)state;
	drive_cfg(&cfg);
	cfg.write_back = false;
	d = new_disk(&cfg);
	assert_in_range(stream(d, 256, 131072, 4), least, least + 9 * MS);
	vdisk_free(d);
}

/* The drive reads on while the host thinks. */
static void a_stream_of_reads_runs_at_the_media_rate(void **state)
{
	struct vdisk *d = *state;
	uint64_t least = 16 * MIB * 1000 / 30;

	for (unsigned i = 0; i < 16; i++) {
		vdisk_advance(d, vdisk_now_ns(d) + 5 * MS);
		assert_int_equal(drive_read(d, i * MIB, MIB), 0);
	}
	assert_in_range(vdisk_now_ns(d), least, least + 14 * MS);
}

/* power-fault.md: overhead, 8.1 ms of seek, half a revolution. */
static void random_writes_take_the_expected_time(void **state)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;
	uint64_t lba = 1;
	uint64_t mean;

	(void)state;
	drive_cfg(&cfg);
	cfg.write_back = false;
	cfg.bus_rate = 0;
	d = new_disk(&cfg);
	for (unsigned i = 0; i < 4000; i++) {
		lba = lba * 6364136223846793005ull + 1442695040888963407ull;
		assert_int_equal(
			drive_write(d, (lba >> 40) % 16384 * 4096, 4096, 'a'),
			0);
	}
	mean = vdisk_now_ns(d) / 4000;
	/* And 4 KiB at 30 MB/s: 137 us. */
	assert_in_range(mean, 12500 * MS / 1000 * 97 / 100,
			12500 * MS / 1000 * 103 / 100);
	vdisk_free(d);
}

static void the_write_cache_takes_its_size_and_then_waits(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_op op[12];
	void *data = calloc(1, MIB);
	unsigned done = 0;

	for (unsigned i = 0; i < 12; i++) {
		op[i] = (struct vdisk_op){ .kind = VDISK_WRITE,
					   .offset = i * MIB,
					   .n = MIB,
					   .data = data,
					   .done = drive_done };
		vdisk_submit(d, &op[i]);
	}
	vdisk_advance(d, 20 * MS);
	for (unsigned i = 0; i < 12; i++)
		done += op[i].state == VDISK_OP_DONE;
	assert_int_equal(done, 8);
	assert_int_equal(drive_status(d).dirty_bytes, 8 * MIB);
	drive_finish(d, &op[11]);
	assert_int_equal(op[11].result, 0);
	free(data);
}

static void a_lying_flush_leaves_data_to_be_lost(void **state)
{
	struct vdisk *d = *state;

	plant(d, "lie-flush", NULL, 0);
	assert_int_equal(drive_write(d, 0, 4096, 'a'), 0);
	assert_int_equal(drive_flush(d), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 0, 4096), 0);
	vdisk_faults_clear(d);
	assert_int_equal(drive_write(d, 0, 4096, 'a'), 0);
	assert_int_equal(drive_flush(d), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 0, 4096), 'a');
}

static void a_lying_forced_write_is_lost(void **state)
{
	struct vdisk *d = *state;

	plant(d, "lie-fua", NULL, 0);
	assert_int_equal(drive_write_fua(d, 0, 4096, 'a'), 0);
	drive_power_cycle(d);
	assert_int_equal(drive_read(d, 0, 4096), 0);
}

static void a_part_of_the_flushes_lies(void **state)
{
	struct vdisk *d = *state;
	unsigned lies = 0;

	plant(d, "lie-flush", "p", 30);
	for (unsigned i = 0; i < 400; i++) {
		assert_int_equal(drive_write(d, 0, 4096, 'a'), 0);
		assert_int_equal(drive_flush(d), 0);
		lies += drive_status(d).dirty_bytes > 0;
		drive_idle(d);
	}
	assert_in_range(lies, 80, 160);
}

static void an_error_range_fails_only_what_touches_it(void **state)
{
	struct vdisk *d = *state;

	plant(d, "read-error", "lba", 8);
	assert_int_equal(drive_read(d, 0, 4096), 0);
	assert_int_equal(drive_read(d, 0, 4608), -EIO);
	assert_int_equal(drive_read(d, 4608, 4096), 0);
	assert_int_equal(drive_write(d, 4096, 4096, 'a'), 0);
	plant(d, "write-error", "lba", 100);
	assert_int_equal(drive_write(d, 100 * 512, 4096, 'a'), -EIO);
	assert_int_equal(drive_erase(d, VDISK_ZERO, 0, MIB), -EIO);
}

static void a_slow_disk_takes_its_factor(void **state)
{
	struct vdisk *d = *state;

	plant(d, "slow", "factor", 4);
	assert_in_range(stream(d, 32, 131072, 4), 4 * 4 * MIB * 1000 / 30,
			5 * 4 * MIB * 1000 / 30 + 40 * 9 * 4 * MS);
}

static void a_hanging_disk_answers_when_cleared(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_op op = { .kind = VDISK_FLUSH, .done = drive_done };

	plant(d, "hang", NULL, 0);
	vdisk_submit(d, &op);
	vdisk_advance(d, 3600 * 1000 * MS);
	assert_int_not_equal(op.state, VDISK_OP_DONE);
	vdisk_faults_clear(d);
	drive_finish(d, &op);
	assert_int_equal(op.state, VDISK_OP_DONE);
	assert_int_equal(op.result, 0);
}

static void a_dead_disk_never_becomes_ready(void **state)
{
	struct vdisk *d = *state;

	plant(d, "dead", NULL, 0);
	assert_int_equal(drive_read(d, 0, 4096), -EIO);
	drive_power_cycle(d);
	vdisk_advance(d, 3600 * 1000 * MS);
	assert_int_equal(drive_status(d).power, VDISK_SPINUP);
	assert_int_equal(drive_status(d).ma_12v, 0);
	assert_int_equal(drive_read(d, 0, 4096), -EIO);
	vdisk_faults_clear(d);
	assert_int_equal(drive_read(d, 0, 4096), 0);
	assert_int_equal(drive_status(d).power, VDISK_ON);
}

static void a_bad_fault_is_refused_with_a_reason(void **state)
{
	struct vdisk *d = *state;
	struct vdisk_fault_arg arg = { .key = "p", .value = 101 };
	char why[128] = "";

	assert_int_equal(vdisk_fault(d, "nonesuch", NULL, 0, why), -ENOENT);
	assert_int_not_equal(why[0], '\0');
	assert_int_equal(vdisk_fault(d, "lie-flush", &arg, 1, why), -EINVAL);
	assert_int_equal(vdisk_fault(d, "dead", &arg, 1, why), -EINVAL);
	for (unsigned i = 0; i < 16; i++)
		plant(d, "slow", "factor", 1);
	assert_int_equal(vdisk_fault(d, "slow", NULL, 0, why), -ENOSPC);
}

static void a_range_off_the_disk_is_refused(void **state)
{
	struct vdisk *d = *state;

	assert_int_equal(drive_read(d, 64 * MIB, 512), -EINVAL);
	assert_int_equal(drive_read(d, 64 * MIB - 512, 1024), -EINVAL);
	assert_int_equal(drive_read(d, 100, 512), -EINVAL);
	assert_int_equal(drive_erase(d, VDISK_TRIM, 0, UINT64_MAX - 511),
			 -EINVAL);
	assert_int_equal(drive_erase(d, VDISK_TRIM, UINT64_MAX - 511, 512),
			 -EINVAL);
}

static void a_cancelled_request_frees_its_room(void **state)
{
	struct vdisk *d = *state;
	void *data = calloc(1, 8 * MIB);
	struct vdisk_op op = { .kind = VDISK_WRITE,
			       .n = 8 * MIB,
			       .data = data,
			       .done = drive_done };

	vdisk_submit(d, &op);
	vdisk_cancel(d, &op);
	assert_int_equal(drive_status(d).pending, 0);
	assert_int_equal(drive_write(d, 0, MIB, 'a'), 0);
	assert_int_equal(drive_status(d).dirty_bytes, MIB);
	free(data);
}

struct text {
	char bytes[8192];
	size_t n;
};

static void append(void *ctx, const char *line)
{
	struct text *t = ctx;

	t->n += (size_t)snprintf(t->bytes + t->n, sizeof(t->bytes) - t->n,
				 "%s\n", line);
}

static void scripted(uint64_t seed, struct text *out)
{
	struct vdisk_cfg cfg;
	struct vdisk *d;

	drive_cfg(&cfg);
	cfg.seed = seed;
	cfg.cut = VDISK_CUT_RANDOM;
	cfg.destage = VDISK_DESTAGE_RANDOM;
	d = new_disk(&cfg);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(drive_write(d, i * 7919 % 1000 * 65536, 8192,
					     (unsigned char)i),
				 0);
	vdisk_power(d, false);
	drive_idle(d);
	vdisk_power(d, true);
	assert_int_equal(drive_write(d, 0, 4096, 'z'), 0);
	out->n = 0;
	assert_int_equal(vdisk_snapshot(d, append, out), 0);
	vdisk_free(d);
}

static void the_same_seed_leaves_the_same_bytes(void **state)
{
	struct text a;
	struct text b;

	(void)state;
	scripted(5, &a);
	scripted(5, &b);
	assert_string_equal(a.bytes, b.bytes);
	scripted(6, &b);
	assert_string_not_equal(a.bytes, b.bytes);
}

static void a_hole_hashes_like_zeros(void **state)
{
	struct vdisk *d = *state;
	uint64_t empty;
	uint64_t hash;

	assert_int_equal(vdisk_media_hash(d, &empty), 0);
	assert_int_equal(drive_write_fua(d, MIB, 4096, 0), 0);
	assert_int_equal(vdisk_media_hash(d, &hash), 0);
	assert_int_equal(hash, empty);
	assert_int_equal(drive_write_fua(d, MIB, 4096, 1), 0);
	assert_int_equal(vdisk_media_hash(d, &hash), 0);
	assert_int_not_equal(hash, empty);
}

/* Media that fail the n-th call. */
struct failing {
	struct media *next;
	unsigned left;
};

static bool fails(struct failing *f)
{
	return f->left > 0 && --f->left == 0;
}

static int failing_read(void *ctx, void *buf, uint64_t offset, size_t n)
{
	struct failing *f = ctx;

	return fails(f) ? -EIO : media_ops.read(f->next, buf, offset, n);
}

static int failing_write(void *ctx, const void *buf, uint64_t offset, size_t n)
{
	struct failing *f = ctx;

	return fails(f) ? -ENOSPC : media_ops.write(f->next, buf, offset, n);
}

static int failing_zero(void *ctx, uint64_t offset, uint64_t n)
{
	struct failing *f = ctx;

	return fails(f) ? -ENOSPC : media_ops.zero(f->next, offset, n);
}

static const struct vdisk_media_ops failing_ops = {
	.read = failing_read,
	.write = failing_write,
	.zero = failing_zero,
};

/* Errors that the host was told in a small run over failing media. */
static unsigned told_errors(struct vdisk *d)
{
	unsigned told = 0;

	told += drive_write(d, 0, 4096, 'a') != 0;
	told += drive_flush(d) != 0;
	told += drive_write_fua(d, 4096, 4096, 'b') != 0;
	told += drive_erase(d, VDISK_ZERO, MIB, MIB) != 0;
	told += drive_flush(d) != 0;
	told += drive_read(d, 0, 4096) < 0;
	return told;
}

static void each_failure_of_the_media_is_told_once(void **state)
{
	struct vdisk_cfg cfg;

	(void)state;
	drive_cfg(&cfg);
	for (unsigned n = 1; n < 5; n++) {
		struct failing f = { .next = media_new(cfg.size_bytes),
				     .left = n };
		struct vdisk *d = vdisk_new(&cfg, &failing_ops, &f);

		assert_int_equal(told_errors(d), 1);
		assert_int_equal(f.left, 0);
		assert_int_equal(told_errors(d), 0);
		vdisk_free(d);
		media_free(f.next);
	}
}

static void a_bad_configuration_is_refused(void **state)
{
	struct vdisk_cfg cfg;

	(void)state;
	drive_cfg(&cfg);
	cfg.size_bytes = 4097;
	assert_null(vdisk_new(&cfg, NULL, NULL));
	assert_int_equal(errno, EINVAL);
	drive_cfg(&cfg);
	cfg.cache_bytes = 0;
	assert_null(vdisk_new(&cfg, NULL, NULL));
	drive_cfg(&cfg);
	cfg.inner_rate = 0;
	assert_null(vdisk_new(&cfg, NULL, NULL));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_never_written_reads_as_zeros),
		TEST(a_read_sees_the_write_cache_over_the_media),
		TEST(an_unflushed_write_is_lost_at_the_cut),
		TEST(a_flushed_write_survives_the_cut),
		TEST(a_forced_write_survives_the_cut),
		cmocka_unit_test(without_write_back_every_write_survives),
		TEST(a_flush_waits_for_no_later_write),
		TEST(zero_and_trim_read_as_zeros_and_may_be_lost),
		TEST(the_write_under_the_heads_is_torn),
		cmocka_unit_test(a_long_hold_up_saves_the_write_cache),
		cmocka_unit_test(a_prefix_cut_keeps_the_oldest_writes),
		cmocka_unit_test(a_random_cut_keeps_some_later_writes),
		TEST(an_off_disk_refuses_at_once),
		cmocka_unit_test(an_off_disk_can_hang_first),
		TEST(a_cut_fails_what_is_pending),
		cmocka_unit_test(a_request_waits_for_the_spin_up),
		cmocka_unit_test(the_motor_draws_most_at_its_start),
		TEST(a_busy_disk_draws_more_than_an_idle_one),
		TEST(a_stream_of_writes_runs_at_the_media_rate),
		cmocka_unit_test(
			queued_writes_run_at_the_media_rate_without_write_back),
		TEST(a_stream_of_reads_runs_at_the_media_rate),
		cmocka_unit_test(random_writes_take_the_expected_time),
		TEST(the_write_cache_takes_its_size_and_then_waits),
		TEST(a_lying_flush_leaves_data_to_be_lost),
		TEST(a_lying_forced_write_is_lost),
		TEST(a_part_of_the_flushes_lies),
		TEST(an_error_range_fails_only_what_touches_it),
		TEST(a_slow_disk_takes_its_factor),
		TEST(a_hanging_disk_answers_when_cleared),
		TEST(a_dead_disk_never_becomes_ready),
		TEST(a_bad_fault_is_refused_with_a_reason),
		TEST(a_range_off_the_disk_is_refused),
		TEST(a_cancelled_request_frees_its_room),
		cmocka_unit_test(the_same_seed_leaves_the_same_bytes),
		TEST(a_hole_hashes_like_zeros),
		cmocka_unit_test(each_failure_of_the_media_is_told_once),
		cmocka_unit_test(a_bad_configuration_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
