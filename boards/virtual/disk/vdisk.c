/* boards/virtual/disk/vdisk.c - the disk as its caller sees it. */
#include "boards/virtual/disk/vdisk.h"

#include "boards/virtual/disk/current.h"
#include "boards/virtual/disk/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000ull

/* The heads count as active this long after a job: meters average. */
#define ACTIVE_NS (50 * NS_PER_MS)

void vdisk_cfg_defaults(struct vdisk_cfg *cfg)
{
	*cfg = (struct vdisk_cfg){
		.size_bytes = 1024ull << 20,
		.outer_rate = 30000000,
		.inner_rate = 30000000,
		.bus_rate = 600000000,
		.rpm = 7200,
		.seek_track_us = 800,
		.seek_avg_us = 8500,
		.seek_full_us = 16000,
		.overhead_us = 100,
		.cache_bytes = 8ull << 20,
		.cache_entries = 1024,
		.write_back = true,
		.readahead_bytes = 2ull << 20,
		.destage = VDISK_DESTAGE_ELEVATOR,
		.cut = VDISK_CUT_LOSE_ALL,
		.holdup_ns = 5 * NS_PER_MS,
		.spinup_ns = 1500 * NS_PER_MS,
		.start_on = true,
	};
}

static bool cfg_is_valid(const struct vdisk_cfg *cfg)
{
	return cfg->size_bytes > 0 && cfg->size_bytes <= INT64_MAX &&
	       cfg->size_bytes % VDISK_PHYSICAL_BYTES == 0 &&
	       cfg->cache_bytes >= VDISK_PHYSICAL_BYTES &&
	       cfg->cache_entries >= 1 &&
	       (cfg->outer_rate == 0) == (cfg->inner_rate == 0) &&
	       cfg->outer_rate <= INT64_MAX / TIMING_ZONES &&
	       cfg->inner_rate <= INT64_MAX / TIMING_ZONES &&
	       cfg->seek_track_us <= cfg->seek_avg_us &&
	       cfg->seek_avg_us <= cfg->seek_full_us &&
	       memchr(cfg->serial, '\0', sizeof(cfg->serial)) != NULL;
}

static int choose_media(struct vdisk *d, const struct vdisk_media_ops *ops,
			void *ctx)
{
	d->media = ops;
	d->media_ctx = ctx;
	if (ops != NULL)
		return 0;
	d->own_media = media_new(d->cfg.size_bytes);
	d->media = &media_ops;
	d->media_ctx = d->own_media;
	return d->own_media == NULL ? -ENOMEM : 0;
}

struct vdisk *vdisk_new(const struct vdisk_cfg *cfg,
			const struct vdisk_media_ops *ops, void *ctx)
{
	struct vdisk *d;

	if (!cfg_is_valid(cfg)) {
		errno = EINVAL;
		return NULL;
	}
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return NULL;
	d->cfg = *cfg;
	if (choose_media(d, ops, ctx) != 0) {
		free(d);
		errno = ENOMEM;
		return NULL;
	}
	rng_init(&d->rng, cfg->seed, cfg->serial);
	timing_init(&d->timing, cfg, rng_draw(&d->rng, RNG_SPINDLE));
	d->peak_ma = CURRENT_PEAK_MIN_MA +
		     (uint32_t)rng_below(&d->rng, RNG_MOTOR,
					 CURRENT_PEAK_MAX_MA -
						 CURRENT_PEAK_MIN_MA + 1);
	cache_init(&d->cache);
	TAILQ_INIT(&d->ops);
	d->power = cfg->start_on ? VDISK_ON : VDISK_OFF;
	d->power_change_ns = VDISK_NEVER_NS;
	return d;
}

void vdisk_free(struct vdisk *d)
{
	if (d == NULL)
		return;
	while (!TAILQ_EMPTY(&d->cache.entries))
		cache_remove(&d->cache, TAILQ_FIRST(&d->cache.entries));
	media_free(d->own_media);
	free(d);
}

static bool range_is_valid(const struct vdisk *d, const struct vdisk_op *op)
{
	uint64_t size = d->cfg.size_bytes;

	if (op->kind == VDISK_FLUSH)
		return true;
	return op->kind < VDISK_OP_KIND_COUNT && op->n > 0 && op->n <= size &&
	       op->offset <= size - op->n &&
	       op->offset % VDISK_SECTOR_BYTES == 0 &&
	       op->n % VDISK_SECTOR_BYTES == 0;
}

void vdisk_submit(struct vdisk *d, struct vdisk_op *op)
{
	TAILQ_INSERT_TAIL(&d->ops, op, link);
	op->state = VDISK_OP_NEW;
	op->result = 0;
	if (range_is_valid(d, op))
		engine_start(d, op);
	else
		engine_finish(d, op, -EINVAL);
	vdisk_advance(d, d->now_ns);
}

void vdisk_advance(struct vdisk *d, uint64_t now_ns)
{
	uint64_t next;

	/* First what the caller changed at the present time. */
	engine_settle(d);
	for (;;) {
		next = engine_next_ns(d);
		if (next > now_ns)
			break;
		if (next > d->now_ns)
			d->now_ns = next;
		engine_settle(d);
	}
	if (now_ns > d->now_ns)
		d->now_ns = now_ns;
}

uint64_t vdisk_now_ns(const struct vdisk *d)
{
	return d->now_ns;
}

uint64_t vdisk_next_ns(const struct vdisk *d)
{
	return engine_next_ns(d);
}

void vdisk_cancel(struct vdisk *d, struct vdisk_op *op)
{
	if (op->state == VDISK_OP_DONE)
		return;
	engine_release(d, op);
	vdisk_advance(d, d->now_ns);
}

static void power_off(struct vdisk *d)
{
	if (d->power == VDISK_OFF || d->power == VDISK_FALLING)
		return;
	d->power = VDISK_FALLING;
	d->power_since_ns = d->now_ns;
	d->power_change_ns = d->now_ns + d->cfg.holdup_ns;
	engine_fail_all(d);
}

static void power_on(struct vdisk *d)
{
	if (d->power == VDISK_ON || d->power == VDISK_SPINUP)
		return;
	if (d->power == VDISK_FALLING)
		heads_cut(d);
	d->power = VDISK_SPINUP;
	d->power_since_ns = d->now_ns;
	d->power_change_ns = d->now_ns + d->cfg.spinup_ns;
}

void vdisk_power(struct vdisk *d, bool on)
{
	if (on)
		power_on(d);
	else
		power_off(d);
	vdisk_advance(d, d->now_ns);
}

int vdisk_fault(struct vdisk *d, const char *name,
		const struct vdisk_fault_arg *args, unsigned count,
		char why[128])
{
	int err = fault_plant(&d->faults, name, args, count, why);

	if (err != 0)
		return err;
	if (fault_is_dead(&d->faults))
		engine_fail_all(d);
	vdisk_advance(d, d->now_ns);
	return 0;
}

void vdisk_faults_clear(struct vdisk *d)
{
	d->faults.count = 0;
	if (d->power == VDISK_ON)
		engine_restart_held(d);
	vdisk_advance(d, d->now_ns);
}

static void fill_current(const struct vdisk *d, struct vdisk_status *st)
{
	uint64_t elapsed_ns = d->now_ns - d->power_since_ns;
	bool used = d->counts.media_bytes + d->counts.read_bytes > 0;
	struct current_input in = {
		.power = d->power,
		.stalled = fault_is_dead(&d->faults),
		.active = st->busy ||
			  (used && d->now_ns < d->head_idle_ns + ACTIVE_NS),
		.elapsed_ns = elapsed_ns,
		.spinup_ns = d->cfg.spinup_ns,
		.peak_ma = d->peak_ma,
	};

	current_now(&in, &st->ma_5v, &st->ma_12v);
}

void vdisk_status(const struct vdisk *d, struct vdisk_status *st)
{
	const struct vdisk_op *op;

	*st = d->counts;
	TAILQ_FOREACH(op, &d->ops, link)
	st->pending++;
	st->power = d->power;
	st->busy = d->job.op != NULL || d->job.entry != NULL || st->pending > 0;
	st->dirty_bytes = d->cache.dirty_bytes;
	if (d->power == VDISK_SPINUP && d->power_change_ns > d->now_ns)
		st->spinup_left_ms = (uint32_t)((d->power_change_ns -
						 d->now_ns + NS_PER_MS - 1) /
						NS_PER_MS);
	fill_current(d, st);
}

const char *vdisk_power_name(enum vdisk_power power)
{
	static const char *const names[VDISK_POWER_COUNT] = {
		[VDISK_OFF] = "off",
		[VDISK_SPINUP] = "spinup",
		[VDISK_ON] = "on",
		[VDISK_FALLING] = "falling",
	};

	return names[power];
}
