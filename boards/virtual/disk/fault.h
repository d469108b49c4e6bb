/* boards/virtual/disk/fault.h - faults that can be planted in a disk: one row
 * of a table a fault. */
#ifndef BOARDS_VIRTUAL_DISK_FAULT_H
#define BOARDS_VIRTUAL_DISK_FAULT_H

#include "boards/virtual/disk/rng.h"
#include "boards/virtual/disk/vdisk.h"

#define FAULT_MAX 16u

struct fault {
	const struct fault_kind *kind;
	uint64_t value[VDISK_FAULT_ARGS]; /* in the order of kind->param */
};

struct fault_param {
	const char *key;
	uint64_t preset, min, max;
};

/* A hook that a row leaves NULL changes nothing. */
struct fault_kind {
	const char *name;
	const char *help;
	struct fault_param param[VDISK_FAULT_ARGS];
	bool dead; /* no request works; never ready after power on */
	bool hang; /* requests are never answered */
	/* 0 or the -errno with which the request fails at once. */
	int (*request)(const struct fault *f, const struct vdisk_op *op);
	/* A flush or FUA is acknowledged with nothing written; `percent` is
	 * this decision's draw, 0..99. */
	bool (*lies)(const struct fault *f, const struct vdisk_op *op,
		     unsigned percent);
	/* The time that the heads take for a job that should take ns. */
	uint64_t (*service)(const struct fault *f, uint64_t ns);
};

struct fault_set {
	struct fault fault[FAULT_MAX];
	unsigned count;
};

/* As vdisk_fault(). */
int fault_plant(struct fault_set *set, const char *name,
		const struct vdisk_fault_arg *args, unsigned count,
		char why[128]);

/* The hooks over all planted faults. */
int fault_request(const struct fault_set *set, const struct vdisk_op *op);
bool fault_lies(const struct fault_set *set, struct rng *rng,
		const struct vdisk_op *op);
uint64_t fault_service_ns(const struct fault_set *set, uint64_t ns);
bool fault_is_dead(const struct fault_set *set);
bool fault_hangs(const struct fault_set *set);

#endif
