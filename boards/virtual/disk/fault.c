/* boards/virtual/disk/fault.c - the table of faults. */
#include "boards/virtual/disk/fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LBA_MAX (UINT64_MAX / VDISK_SECTOR_BYTES / 2)

static bool hits(const struct fault *f, const struct vdisk_op *op)
{
	uint64_t from = f->value[0] * VDISK_SECTOR_BYTES;
	uint64_t n = f->value[1] * VDISK_SECTOR_BYTES;

	return op->offset < from + n && from < op->offset + op->n;
}

static int fail_read(const struct fault *f, const struct vdisk_op *op)
{
	return op->kind == VDISK_READ && hits(f, op) ? -EIO : 0;
}

static int fail_write(const struct fault *f, const struct vdisk_op *op)
{
	bool writes = op->kind == VDISK_WRITE || op->kind == VDISK_ZERO ||
		      op->kind == VDISK_TRIM;

	return writes && hits(f, op) ? -EIO : 0;
}

static bool lie_flush(const struct fault *f, const struct vdisk_op *op,
		      unsigned percent)
{
	return op->kind == VDISK_FLUSH && percent < f->value[0];
}

static bool lie_fua(const struct fault *f, const struct vdisk_op *op,
		    unsigned percent)
{
	return op->fua && percent < f->value[0];
}

static uint64_t slow_down(const struct fault *f, uint64_t ns)
{
	return ns * f->value[0] + f->value[1] * 1000000;
}

static const struct fault_kind kinds[] = {
	{
		.name = "lie-flush",
		.help = "a flush is acknowledged with nothing written "
			"(p=PERCENT of them, 100)",
		.param = { { "p", 100, 1, 100 } },
		.lies = lie_flush,
	},
	{
		.name = "lie-fua",
		.help = "a forced write is acknowledged from the cache "
			"(p=PERCENT of them, 100)",
		.param = { { "p", 100, 1, 100 } },
		.lies = lie_fua,
	},
	{
		.name = "read-error",
		.help = "reads of sectors lba=LBA n=COUNT fail",
		.param = { { "lba", 0, 0, LBA_MAX }, { "n", 1, 1, LBA_MAX } },
		.request = fail_read,
	},
	{
		.name = "write-error",
		.help = "writes to sectors lba=LBA n=COUNT fail",
		.param = { { "lba", 0, 0, LBA_MAX }, { "n", 1, 1, LBA_MAX } },
		.request = fail_write,
	},
	{
		.name = "slow",
		.help = "the heads take factor=F times as long and ms=MS more",
		.param = { { "factor", 10, 1, 1000 }, { "ms", 0, 0, 60000 } },
		.service = slow_down,
	},
	{
		.name = "hang",
		.help = "requests are never answered",
		.hang = true,
	},
	{
		.name = "dead",
		.help = "requests fail; never ready after power on",
		.dead = true,
	},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const char *vdisk_fault_name(unsigned i)
{
	return i < KIND_COUNT ? kinds[i].name : NULL;
}

const char *vdisk_fault_help(unsigned i)
{
	return i < KIND_COUNT ? kinds[i].help : NULL;
}

static const struct fault_kind *find(const char *name)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static int set_value(struct fault *f, const struct vdisk_fault_arg *arg,
		     char why[128])
{
	for (unsigned i = 0; i < VDISK_FAULT_ARGS; i++) {
		const struct fault_param *p = &f->kind->param[i];

		if (p->key == NULL || strcmp(p->key, arg->key) != 0)
			continue;
		if (arg->value < p->min || arg->value > p->max) {
			snprintf(why, 128, "%s is not in %llu..%llu", p->key,
				 (unsigned long long)p->min,
				 (unsigned long long)p->max);
			return -EINVAL;
		}
		f->value[i] = arg->value;
		return 0;
	}
	snprintf(why, 128, "fault %s has no argument %.15s", f->kind->name,
		 arg->key);
	return -EINVAL;
}

int fault_plant(struct fault_set *set, const char *name,
		const struct vdisk_fault_arg *args, unsigned count,
		char why[128])
{
	struct fault f = { .kind = find(name) };

	if (f.kind == NULL) {
		snprintf(why, 128, "no fault is named %.40s", name);
		return -ENOENT;
	}
	if (set->count == FAULT_MAX) {
		snprintf(why, 128, "%u faults are planted already", FAULT_MAX);
		return -ENOSPC;
	}
	for (unsigned i = 0; i < VDISK_FAULT_ARGS; i++)
		f.value[i] = f.kind->param[i].preset;
	for (unsigned i = 0; i < count; i++) {
		int err = set_value(&f, &args[i], why);

		if (err != 0)
			return err;
	}
	set->fault[set->count++] = f;
	return 0;
}

int fault_request(const struct fault_set *set, const struct vdisk_op *op)
{
	if (fault_is_dead(set))
		return -EIO;
	for (unsigned i = 0; i < set->count; i++) {
		const struct fault *f = &set->fault[i];
		int err = 0;

		if (f->kind->request != NULL)
			err = f->kind->request(f, op);
		if (err != 0)
			return err;
	}
	return 0;
}

bool fault_lies(const struct fault_set *set, struct rng *rng,
		const struct vdisk_op *op)
{
	/* Drawn also when nothing can lie: planting shifts no later draw. */
	unsigned percent = (unsigned)rng_below(rng, RNG_LIE, 100);

	for (unsigned i = 0; i < set->count; i++) {
		const struct fault *f = &set->fault[i];

		if (f->kind->lies != NULL && f->kind->lies(f, op, percent))
			return true;
	}
	return false;
}

uint64_t fault_service_ns(const struct fault_set *set, uint64_t ns)
{
	for (unsigned i = 0; i < set->count; i++) {
		const struct fault *f = &set->fault[i];

		if (f->kind->service != NULL)
			ns = f->kind->service(f, ns);
	}
	return ns;
}

bool fault_is_dead(const struct fault_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->fault[i].kind->dead)
			return true;
	return false;
}

bool fault_hangs(const struct fault_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->fault[i].kind->hang)
			return true;
	return false;
}
