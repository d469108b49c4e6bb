/* boards/virtual/disk/engine.c - requests on their way through the disk. */
#include "boards/virtual/disk/state.h"

#include <errno.h>

#define NS_PER_S  1000000000ull
#define NS_PER_US 1000ull

static bool is_write(const struct vdisk_op *op)
{
	return op->kind == VDISK_WRITE || op->kind == VDISK_TRIM ||
	       op->kind == VDISK_ZERO;
}

static void count_done(struct vdisk *d, const struct vdisk_op *op)
{
	struct vdisk_status *c = &d->counts;

	if (op->result != 0) {
		c->errors++;
		return;
	}
	c->ops++;
	if (op->kind == VDISK_READ)
		c->read_bytes += op->n;
	else if (op->kind == VDISK_WRITE)
		c->write_bytes += op->n;
	else if (op->kind == VDISK_FLUSH)
		c->flushes++;
}

void engine_release(struct vdisk *d, struct vdisk_op *op)
{
	if (d->job.op == op)
		d->job.op = NULL;
	if (is_write(op) && op->state == VDISK_OP_TIMED && !op->hopeless) {
		d->reserved_bytes -= cache_cost(op->kind, op->n);
		d->reserved_count--;
	}
	TAILQ_REMOVE(&d->ops, op, link);
	op->state = VDISK_OP_DONE;
}

void engine_finish(struct vdisk *d, struct vdisk_op *op, int result)
{
	engine_release(d, op);
	op->result = result;
	count_done(d, op);
	op->done(op);
}

void engine_fail_all(struct vdisk *d)
{
	while (!TAILQ_EMPTY(&d->ops))
		engine_finish(d, TAILQ_FIRST(&d->ops), -EIO);
}

static void wait_until(struct vdisk_op *op, uint64_t due_ns)
{
	op->state = VDISK_OP_TIMED;
	op->due_ns = due_ns;
}

/* The command, then its data over the one bus, in order of arrival. */
static uint64_t over_bus(struct vdisk *d, uint64_t n)
{
	uint64_t start = d->now_ns + d->cfg.overhead_us * NS_PER_US;

	if (start < d->bus_free_ns)
		start = d->bus_free_ns;
	if (d->cfg.bus_rate > 0)
		start += (uint64_t)((unsigned __int128)n * NS_PER_S /
				    d->cfg.bus_rate);
	d->bus_free_ns = start;
	return start;
}

static void start_ready(struct vdisk *d, struct vdisk_op *op)
{
	int err = fault_request(&d->faults, op);

	if (err != 0)
		engine_finish(d, op, err);
	else if (fault_hangs(&d->faults))
		op->state = VDISK_OP_HELD;
	else if (is_write(op))
		op->state = VDISK_OP_ROOM;
	else
		wait_until(op, d->now_ns + d->cfg.overhead_us * NS_PER_US);
}

void engine_start(struct vdisk *d, struct vdisk_op *op)
{
	op->hopeless = false;
	if (d->power == VDISK_ON) {
		start_ready(d, op);
	} else if (d->power == VDISK_SPINUP) {
		op->state = VDISK_OP_HELD;
		if (fault_is_dead(&d->faults))
			engine_finish(d, op, -EIO);
	} else if (d->cfg.off_hang_ns == 0) {
		engine_finish(d, op, -EIO);
	} else {
		op->hopeless = true;
		wait_until(op, d->now_ns + d->cfg.off_hang_ns);
	}
}

void engine_restart_held(struct vdisk *d)
{
	struct vdisk_op *op = TAILQ_FIRST(&d->ops);

	while (op != NULL) {
		struct vdisk_op *next = TAILQ_NEXT(op, link);

		if (op->state == VDISK_OP_HELD)
			engine_start(d, op);
		op = next;
	}
}

/* Writes are let in one after the other; the first that does not fit keeps the
 * later ones out. One write larger than the cache may be in it alone. */
static bool has_room(const struct vdisk *d, const struct vdisk_op *op)
{
	uint64_t used = d->cache.dirty_bytes + d->reserved_bytes;
	uint32_t count = d->cache.count + d->reserved_count;

	if (count == 0)
		return true;
	return count < d->cfg.cache_entries &&
	       used + cache_cost(op->kind, op->n) <= d->cfg.cache_bytes;
}

static void admit_writes(struct vdisk *d)
{
	struct vdisk_op *op;

	TAILQ_FOREACH(op, &d->ops, link)
	{
		if (op->state != VDISK_OP_ROOM)
			continue;
		if (!has_room(d, op))
			return;
		d->reserved_bytes += cache_cost(op->kind, op->n);
		d->reserved_count++;
		wait_until(op,
			   over_bus(d, op->kind == VDISK_WRITE ? op->n : 0));
	}
}

static bool must_be_durable(struct vdisk *d, const struct vdisk_op *op)
{
	if (!op->fua && (d->cfg.write_back || op->kind == VDISK_TRIM))
		return false;
	return !fault_lies(&d->faults, &d->rng, op);
}

static void await_media(struct vdisk *d, struct vdisk_op *op, uint64_t first,
			uint64_t last)
{
	op->state = VDISK_OP_DURABLE;
	op->first_id = first;
	op->last_id = last;
	cache_hurry(&d->cache, first, last);
}

static void write_arrived(struct vdisk *d, struct vdisk_op *op)
{
	struct cache_entry *e = cache_add(&d->cache, op);

	if (e == NULL) {
		engine_finish(d, op, -ENOMEM);
		return;
	}
	e->arrive_ns = d->now_ns;
	d->reserved_bytes -= cache_cost(op->kind, op->n);
	d->reserved_count--;
	op->state = VDISK_OP_DURABLE; /* no longer on the bus */
	if (must_be_durable(d, op))
		await_media(d, op, e->id, e->id);
	else
		engine_finish(d, op, 0);
}

static void flush_arrived(struct vdisk *d, struct vdisk_op *op)
{
	if (fault_lies(&d->faults, &d->rng, op))
		engine_finish(d, op, 0);
	else
		await_media(d, op, 1, d->cache.last_id);
}

static void read_arrived(struct vdisk *d, struct vdisk_op *op)
{
	if (!cache_covers(&d->cache, op->offset, op->n)) {
		op->state = VDISK_OP_MEDIA;
		return;
	}
	cache_overlay(&d->cache, op->buf, op->offset, op->n);
	engine_finish(d, op, 0);
}

static void op_due(struct vdisk *d, struct vdisk_op *op)
{
	if (op->hopeless)
		engine_finish(d, op, -EIO);
	else if (op->kind == VDISK_READ)
		read_arrived(d, op);
	else if (op->kind == VDISK_FLUSH)
		flush_arrived(d, op);
	else
		write_arrived(d, op);
}

static void ops_due(struct vdisk *d)
{
	struct vdisk_op *op = TAILQ_FIRST(&d->ops);

	while (op != NULL) {
		struct vdisk_op *next = TAILQ_NEXT(op, link);

		if (op->state == VDISK_OP_TIMED && op->due_ns <= d->now_ns)
			op_due(d, op);
		op = next;
	}
}

static int take_write_error(struct vdisk *d)
{
	int err = d->write_error;

	d->write_error = 0;
	return err;
}

static void tell_durable(struct vdisk *d)
{
	struct vdisk_op *op = TAILQ_FIRST(&d->ops);

	while (op != NULL) {
		struct vdisk_op *next = TAILQ_NEXT(op, link);

		if (op->state == VDISK_OP_DURABLE &&
		    !cache_holds(&d->cache, op->first_id, op->last_id))
			engine_finish(d, op, take_write_error(d));
		op = next;
	}
}

static bool is_live(const struct vdisk *d)
{
	return d->power == VDISK_ON || d->power == VDISK_FALLING;
}

static void power_due(struct vdisk *d)
{
	if (d->power_change_ns > d->now_ns)
		return;
	if (d->power == VDISK_FALLING) {
		heads_cut(d);
	} else if (d->power == VDISK_SPINUP && !fault_is_dead(&d->faults)) {
		d->power = VDISK_ON;
		d->power_since_ns = d->now_ns;
		d->power_change_ns = VDISK_NEVER_NS;
		engine_restart_held(d);
	}
}

void engine_settle(struct vdisk *d)
{
	heads_finish_due(d);
	power_due(d);
	ops_due(d);
	if (!is_live(d))
		return;
	tell_durable(d);
	admit_writes(d);
	heads_start(d);
}

uint64_t engine_next_ns(const struct vdisk *d)
{
	uint64_t next = d->power_change_ns;
	const struct vdisk_op *op;

	if (d->power == VDISK_SPINUP && fault_is_dead(&d->faults))
		next = VDISK_NEVER_NS;
	if (heads_busy(d) && d->job.end_ns < next)
		next = d->job.end_ns;
	TAILQ_FOREACH(op, &d->ops, link)
	if (op->state == VDISK_OP_TIMED && op->due_ns < next)
		next = op->due_ns;
	return next;
}
