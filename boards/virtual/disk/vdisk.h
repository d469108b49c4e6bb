/* boards/virtual/disk/vdisk.h - model of one disk drive: a volatile write
 * cache, a spindle with heads, power states, planted faults.
 *
 * The model does no I/O, reads no clock and starts no thread. Time is virtual
 * nanoseconds that the caller hands in; the same calls with the same times and
 * the same seed leave the same bytes. Not thread-safe: one lock around all
 * calls of one disk. Disks share nothing. */
#ifndef BOARDS_VIRTUAL_DISK_VDISK_H
#define BOARDS_VIRTUAL_DISK_VDISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define VDISK_SECTOR_BYTES   512u
#define VDISK_PHYSICAL_BYTES 4096u
#define VDISK_NEVER_NS       UINT64_MAX
#define VDISK_FAULT_ARGS     4u

/* Which entry of the write cache goes to the media next. */
enum vdisk_destage {
	VDISK_DESTAGE_ELEVATOR, /* one way over the disk, then from its start */
	VDISK_DESTAGE_FIFO,
	VDISK_DESTAGE_RANDOM,
};

/* What becomes of the write cache when the power is gone. */
enum vdisk_cut {
	VDISK_CUT_LOSE_ALL, /* nothing of it reaches the media */
	VDISK_CUT_PREFIX,   /* a random number of the oldest entries does */
	VDISK_CUT_RANDOM,   /* each entry does with probability 1/2 */
};

/* Rates are decimal bytes a second. */
struct vdisk_cfg {
	char serial[32];
	uint64_t size_bytes;      /* multiple of 4096, > 0 */
	uint64_t seed;            /* of every random decision */
	uint64_t outer_rate;      /* media at its first byte; 0: no timing */
	uint64_t inner_rate;      /* media at its last byte */
	uint64_t bus_rate;        /* host link; 0: takes no time */
	uint32_t rpm;             /* 0: no rotational delay */
	uint32_t seek_track_us;   /* to the next track */
	uint32_t seek_avg_us;     /* over a third of the disk */
	uint32_t seek_full_us;    /* over the whole disk */
	uint32_t overhead_us;     /* of a command, before it starts */
	uint64_t cache_bytes;     /* write buffer, >= 4096 */
	uint32_t cache_entries;   /* most writes that it holds, >= 1 */
	bool write_back;          /* acknowledge writes from the buffer */
	uint64_t readahead_bytes; /* read past a request, into a buffer */
	enum vdisk_destage destage;
	enum vdisk_cut cut;
	uint64_t holdup_ns;   /* destages this long after the cut */
	uint64_t spinup_ns;   /* power on to ready */
	uint64_t off_hang_ns; /* a request to a dead link fails after this */
	bool start_on;        /* ready at time 0, else off */
};

/* A scaled-down desktop drive: 1 GiB, 30 MB/s, 7200 rpm, 8 MiB write cache,
 * 1.5 s to ready. The serial is empty. */
void vdisk_cfg_defaults(struct vdisk_cfg *cfg);

/* Where the bytes of the platters are kept. Each call is 0 or -errno;
 * offsets and sizes are multiples of 512 inside the disk. What was never
 * written, or was zeroed, reads as zeros. */
struct vdisk_media_ops {
	int (*read)(void *ctx, void *buf, uint64_t offset, size_t n);
	int (*write)(void *ctx, const void *buf, uint64_t offset, size_t n);
	int (*zero)(void *ctx, uint64_t offset, uint64_t n);
};

enum vdisk_op_kind {
	VDISK_READ,
	VDISK_WRITE,
	VDISK_FLUSH,
	VDISK_TRIM, /* the range reads as zeros; takes no media time */
	VDISK_ZERO, /* the range reads as zeros; takes the time of a write */
	VDISK_OP_KIND_COUNT,
};

/* Where a request stands; the model's own. */
enum vdisk_op_state {
	VDISK_OP_NEW,
	VDISK_OP_HELD,    /* until the disk is ready, or a hang is cleared */
	VDISK_OP_ROOM,    /* waits for room in the write cache */
	VDISK_OP_TIMED,   /* on its way until due_ns */
	VDISK_OP_MEDIA,   /* read, waits for the heads or is under them */
	VDISK_OP_DURABLE, /* waits until the entries that it needs are written
			   */
	VDISK_OP_DONE,
};

/* One request. The caller keeps it and its buffer until done is called, which
 * may be inside vdisk_submit(), _advance(), _power() and the fault calls; done
 * must not call the model. */
struct vdisk_op {
	enum vdisk_op_kind kind;
	bool fua;        /* WRITE, TRIM, ZERO: done means on the media */
	uint64_t offset; /* bytes; FLUSH: 0 */
	uint64_t n;      /* bytes; FLUSH: 0 */
	union {
		void *buf;        /* READ: filled when done with result 0 */
		const void *data; /* WRITE */
	};
	void (*done)(struct vdisk_op *op);
	int result; /* 0; -EINVAL bad range; -EIO; -ENOMEM */

	/* the model's own */
	enum vdisk_op_state state;
	bool hopeless; /* TIMED, and fails when due */
	uint64_t due_ns;
	uint64_t first_id; /* DURABLE: needs these entries */
	uint64_t last_id;
	TAILQ_ENTRY(vdisk_op) link;
};

enum vdisk_power {
	VDISK_OFF,
	VDISK_SPINUP,
	VDISK_ON,
	VDISK_FALLING, /* supply gone, still writing on what is left of it */
	VDISK_POWER_COUNT,
};

struct vdisk_status {
	enum vdisk_power power;
	bool busy;             /* heads at work or a request pending */
	uint32_t pending;      /* requests not done */
	uint64_t ops;          /* requests done without error */
	uint64_t errors;       /* requests done with an error */
	uint64_t read_bytes;   /* by the host */
	uint64_t write_bytes;  /* by the host, acknowledged */
	uint64_t media_bytes;  /* written to the platters */
	uint64_t jobs;         /* of the heads */
	uint64_t position_ns;  /* seeks and rotation, of all jobs */
	uint64_t transfer_ns;  /* the rest of the time of all jobs */
	uint64_t flushes;      /* acknowledged */
	uint64_t dirty_bytes;  /* in the write cache only */
	uint64_t lost_bytes;   /* dropped at power cuts so far */
	uint64_t lost_entries; /* writes dropped or torn at power cuts so far */
	uint64_t cuts;
	uint32_t spinup_left_ms;
	uint32_t ma_5v;
	uint32_t ma_12v;
};

struct vdisk_fault_arg {
	char key[16];
	uint64_t value;
};

struct vdisk;

/* A disk with media of the caller's (ops and ctx outlive it), or, with ops
 * NULL, in memory, sparse. Time is 0. NULL: errno EINVAL (cfg out of the ranges
 * above) or ENOMEM. */
struct vdisk *vdisk_new(const struct vdisk_cfg *cfg,
			const struct vdisk_media_ops *ops, void *ctx);

/* No request may be pending. The write cache is dropped. NULL is accepted. */
void vdisk_free(struct vdisk *d);

/* Take a request at the present time. Off: fails with -EIO after off_hang_ns.
 * Spinning up: waits. A flush covers all writes that were done before. */
void vdisk_submit(struct vdisk *d, struct vdisk_op *op);

/* Let time pass up to now_ns; each event happens at its own exact time, however
 * late this is called. A time before the present is ignored. */
void vdisk_advance(struct vdisk *d, uint64_t now_ns);

/* The present time. */
uint64_t vdisk_now_ns(const struct vdisk *d);

/* When something happens by itself next; VDISK_NEVER_NS: nothing will. */
uint64_t vdisk_next_ns(const struct vdisk *d);

/* Forget a pending request whose host has gone; done is not called. Bytes it
 * has brought into the write cache stay there. */
void vdisk_cancel(struct vdisk *d, struct vdisk_op *op);

/* Supply on or off, at the present time. Off fails all pending requests; what
 * the write cache holds after the hold-up is resolved by cfg.cut. On while
 * falling finishes the cut first. No effect if already so. */
void vdisk_power(struct vdisk *d, bool on);

/* Plant a fault by its name in vdisk_faults(); several may be active. -ENOENT:
 * no such fault; -EINVAL: an argument it does not have or out of range;
 * -ENOSPC: too many. `why` gets one sentence on error. */
int vdisk_fault(struct vdisk *d, const char *name,
		const struct vdisk_fault_arg *args, unsigned count,
		char why[128]);
void vdisk_faults_clear(struct vdisk *d);

/* Name and meaning of the fault in row i of the table; NULL past the end. */
const char *vdisk_fault_name(unsigned i);
const char *vdisk_fault_help(unsigned i);

void vdisk_status(const struct vdisk *d, struct vdisk_status *st);
const char *vdisk_power_name(enum vdisk_power power);

/* Hash of the bytes on the platters, the write cache left out. Reads all of
 * the media. 0 or the media's -errno. */
int vdisk_media_hash(struct vdisk *d, uint64_t *hash);

/* The whole state as text, a fact a line, each passed to `line` without its
 * newline: time, power, counters, cache entries with their hashes, media hash.
 * Equal disks give equal text. 0 or the media's -errno. */
int vdisk_snapshot(struct vdisk *d, void (*line)(void *ctx, const char *text),
		   void *ctx);

#endif
