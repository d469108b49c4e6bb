/* boards/virtual/disk/heads.c - what the heads do next, and what is on the
 * platters when they are done or their power goes. */
#include "boards/virtual/disk/state.h"

#define NS_PER_S  1000000000ull
#define NS_PER_US 1000ull

/* Who has waited this long goes first: a stream ahead of the heads must not
 * keep the rest from the media for ever. */
#define AGED_NS NS_PER_S

static int put_on_media(struct vdisk *d, const struct cache_entry *e,
			uint64_t n)
{
	if (n == 0)
		return 0;
	if (e->kind != VDISK_WRITE)
		return d->media->zero(d->media_ctx, e->offset, n);
	d->counts.media_bytes += n;
	return d->media->write(d->media_ctx, e->data, e->offset, n);
}

static void finish_write_job(struct vdisk *d, struct cache_entry *e)
{
	int err = put_on_media(d, e, e->n);

	if (err != 0)
		d->write_error = err;
	if (e->kind != VDISK_TRIM)
		d->head_byte = e->offset + e->n;
	d->head_reads_on = false;
	cache_remove(&d->cache, e);
}

static void finish_read_job(struct vdisk *d, struct vdisk_op *op)
{
	int err = d->media->read(d->media_ctx, op->buf, op->offset, op->n);

	if (err == 0)
		cache_overlay(&d->cache, op->buf, op->offset, op->n);
	d->head_byte = op->offset + op->n;
	d->head_reads_on = true;
	engine_finish(d, op, err);
}

bool heads_busy(const struct vdisk *d)
{
	return d->job.op != NULL || d->job.entry != NULL;
}

void heads_finish_due(struct vdisk *d)
{
	struct job job = d->job;

	if (!heads_busy(d) || job.end_ns > d->now_ns)
		return;
	d->job.op = NULL;
	d->job.entry = NULL;
	d->head_idle_ns = job.end_ns;
	if (job.entry != NULL)
		finish_write_job(d, job.entry);
	else
		finish_read_job(d, job.op);
}

/* A drive that has read goes on reading into its buffer: how long until the
 * buffer has this range, or NEVER if it will not. */
static uint64_t from_readahead_ns(const struct vdisk *d,
				  const struct vdisk_op *op)
{
	uint64_t end = op->offset + op->n;
	uint64_t limit = d->head_byte + d->cfg.readahead_bytes;
	uint64_t ready;

	if (!d->head_reads_on || op->offset < d->head_byte || end > limit)
		return VDISK_NEVER_NS;
	ready = d->head_idle_ns + timing_transfer_ns(&d->timing, d->head_byte,
						     end - d->head_byte);
	return ready > d->now_ns ? ready - d->now_ns : 0;
}

static uint64_t read_position_ns(const struct vdisk *d,
				 const struct vdisk_op *op)
{
	if (from_readahead_ns(d, op) != VDISK_NEVER_NS)
		return 0;
	return timing_position_ns(&d->timing, d->head_byte, op->offset,
				  d->now_ns);
}

/* The waiting read that the heads reach first. */
static struct vdisk_op *pick_read(const struct vdisk *d)
{
	uint64_t best_ns = VDISK_NEVER_NS;
	struct vdisk_op *best = NULL;
	struct vdisk_op *op;

	TAILQ_FOREACH(op, &d->ops, link)
	{
		uint64_t ns;

		if (op->state != VDISK_OP_MEDIA)
			continue;
		if (op->due_ns + AGED_NS < d->now_ns)
			return op;
		ns = read_position_ns(d, op);
		if (ns >= best_ns)
			continue;
		best_ns = ns;
		best = op;
	}
	return best;
}

static struct cache_entry *pick_entry(struct vdisk *d)
{
	struct cache_choice choice = {
		.policy = d->cfg.destage,
		.head_byte = d->head_byte,
		.rng = &d->rng,
	};

	if (d->now_ns > AGED_NS)
		choice.aged_before_ns = d->now_ns - AGED_NS;
	return cache_pick(&d->cache, &choice);
}

static bool somebody_waits_for_writes(const struct vdisk *d)
{
	const struct vdisk_op *op;

	TAILQ_FOREACH(op, &d->ops, link)
	if (op->state == VDISK_OP_ROOM || op->state == VDISK_OP_DURABLE)
		return true;
	return false;
}

static void run_job(struct vdisk *d, uint64_t position_ns, uint64_t transfer_ns)
{
	uint64_t slow_ns;

	slow_ns = fault_service_ns(&d->faults, position_ns + transfer_ns);
	d->job.end_ns = d->now_ns + slow_ns;
	d->counts.jobs++;
	d->counts.position_ns += position_ns;
	d->counts.transfer_ns += slow_ns - position_ns;
	d->job.transfer_ns = d->job.end_ns;
	if (transfer_ns < slow_ns)
		d->job.transfer_ns -= transfer_ns;
	else
		d->job.transfer_ns = d->now_ns;
}

static void start_read(struct vdisk *d, struct vdisk_op *op)
{
	uint64_t ahead_ns = from_readahead_ns(d, op);

	d->job.op = op;
	if (ahead_ns != VDISK_NEVER_NS)
		run_job(d, ahead_ns, 0);
	else
		run_job(d, read_position_ns(d, op),
			timing_transfer_ns(&d->timing, op->offset, op->n));
}

static void start_write(struct vdisk *d, struct cache_entry *e)
{
	d->job.entry = e;
	if (e->kind == VDISK_TRIM)
		run_job(d, d->cfg.overhead_us * NS_PER_US, 0);
	else
		run_job(d,
			timing_position_ns(&d->timing, d->head_byte, e->offset,
					   d->now_ns),
			timing_transfer_ns(&d->timing, e->offset, e->n));
}

/* Reads come first, since a host always waits for them; but with somebody
 * waiting for writes too, the two take turns. */
void heads_start(struct vdisk *d)
{
	struct vdisk_op *op;
	struct cache_entry *e;

	if (heads_busy(d))
		return;
	op = d->power == VDISK_ON ? pick_read(d) : NULL;
	if (op != NULL && d->head_reads_on && d->cache.count > 0 &&
	    somebody_waits_for_writes(d))
		op = NULL;
	if (op != NULL) {
		start_read(d, op);
		return;
	}
	e = pick_entry(d);
	if (e != NULL)
		start_write(d, e);
}

/* Whole physical sectors of the write under the heads that are on the media
 * at this moment. A drive finishes the sector it is in. */
static uint64_t written_so_far(const struct vdisk *d)
{
	const struct job *job = &d->job;
	uint64_t span = job->end_ns - job->transfer_ns;
	uint64_t n = job->entry->n;

	if (d->now_ns <= job->transfer_ns || span == 0)
		return 0;
	n = (uint64_t)((unsigned __int128)n * (d->now_ns - job->transfer_ns) /
		       span);
	n += VDISK_PHYSICAL_BYTES - 1;
	n -= n % VDISK_PHYSICAL_BYTES;
	return n < job->entry->n ? n : job->entry->n;
}

static void lose(struct vdisk *d, struct cache_entry *e, uint64_t kept)
{
	if (kept < e->n) {
		d->counts.lost_bytes += e->n - kept;
		d->counts.lost_entries++;
	}
	cache_remove(&d->cache, e);
}

/* How many of the entries survive (PREFIX), or whether this one does. */
static bool survives(struct vdisk *d, uint64_t index, uint64_t prefix)
{
	if (d->cfg.cut == VDISK_CUT_PREFIX)
		return index < prefix;
	if (d->cfg.cut == VDISK_CUT_RANDOM)
		return rng_below(&d->rng, RNG_CUT, 2) == 0;
	return false;
}

static void resolve_cache(struct vdisk *d)
{
	uint64_t prefix = rng_below(&d->rng, RNG_CUT, d->cache.count + 1ull);
	uint64_t index = 0;

	while (!TAILQ_EMPTY(&d->cache.entries)) {
		struct cache_entry *e = TAILQ_FIRST(&d->cache.entries);
		uint64_t kept = 0;

		if (survives(d, index++, prefix) &&
		    put_on_media(d, e, e->n) == 0)
			kept = e->n;
		lose(d, e, kept);
	}
}

static void tear_write(struct vdisk *d)
{
	struct cache_entry *e = d->job.entry;
	uint64_t kept;

	if (e == NULL || e->kind == VDISK_TRIM)
		return;
	kept = written_so_far(d);
	if (kept == 0)
		return; /* not begun: like the rest of the cache */
	if (put_on_media(d, e, kept) != 0)
		kept = 0;
	lose(d, e, kept);
}

void heads_cut(struct vdisk *d)
{
	tear_write(d);
	d->job.entry = NULL;
	d->job.op = NULL;
	resolve_cache(d);
	d->counts.cuts++;
	d->head_reads_on = false;
	d->bus_free_ns = d->now_ns;
	d->power = VDISK_OFF;
	d->power_since_ns = d->now_ns;
	d->power_change_ns = VDISK_NEVER_NS;
}
