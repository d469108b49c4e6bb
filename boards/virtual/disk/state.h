/* boards/virtual/disk/state.h - the inside of a disk; for vdisk.c, engine.c,
 * heads.c and report.c alone. */
#ifndef BOARDS_VIRTUAL_DISK_STATE_H
#define BOARDS_VIRTUAL_DISK_STATE_H

#include "boards/virtual/disk/cache.h"
#include "boards/virtual/disk/fault.h"
#include "boards/virtual/disk/media.h"
#include "boards/virtual/disk/rng.h"
#include "boards/virtual/disk/timing.h"
#include "boards/virtual/disk/vdisk.h"

TAILQ_HEAD(vdisk_op_list, vdisk_op);

/* What the heads are doing: reading for op or writing entry, or neither. */
struct job {
	struct vdisk_op *op;
	struct cache_entry *entry;
	uint64_t transfer_ns; /* the first byte passes */
	uint64_t end_ns;
};

struct vdisk {
	struct vdisk_cfg cfg;
	const struct vdisk_media_ops *media;
	void *media_ctx;
	struct media *own_media; /* NULL: the caller's */
	struct timing timing;
	struct rng rng;
	struct fault_set faults;
	struct cache cache;
	struct vdisk_op_list ops; /* pending, in order of arrival */
	struct job job;
	struct vdisk_status counts; /* its counters only */
	enum vdisk_power power;
	uint64_t power_since_ns;
	uint64_t power_change_ns; /* when it changes by itself */
	uint64_t now_ns;
	uint64_t bus_free_ns;
	uint64_t reserved_bytes; /* of writes on their way over the bus */
	uint32_t reserved_count;
	uint64_t head_byte;
	uint64_t head_idle_ns; /* when the last job ended */
	bool head_reads_on;    /* the last job was a read */
	uint32_t peak_ma;
	int write_error; /* of the media, told at the next flush */
};

/* Let everything that is due at the present time happen. */
void engine_settle(struct vdisk *d);

/* Start a request, or start it again after it was held. */
void engine_start(struct vdisk *d, struct vdisk_op *op);
void engine_restart_held(struct vdisk *d);

/* End a request; it leaves the list and its owner is told. */
void engine_finish(struct vdisk *d, struct vdisk_op *op, int result);
void engine_fail_all(struct vdisk *d);

/* Forget what a request holds: the heads, room in the cache. */
void engine_release(struct vdisk *d, struct vdisk_op *op);

uint64_t engine_next_ns(const struct vdisk *d);

/* The heads have a job. */
bool heads_busy(const struct vdisk *d);

/* End the job if its time has come, and take the next one if idle. */
void heads_finish_due(struct vdisk *d);
void heads_start(struct vdisk *d);

/* The platters stop, the disk is off: the write under the heads is torn, the
 * rest of the write cache is resolved. */
void heads_cut(struct vdisk *d);

#endif
