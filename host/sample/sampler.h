/* host/sample/sampler.h - a thread that reads the kernel's counters at a fixed
 * rate while a workload runs. It keeps the files open and allocates nothing
 * for a sample. */
#ifndef HOST_SAMPLE_SAMPLER_H
#define HOST_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/sample/text.h"
#include "host/util/err.h"

#define SAMPLE_DEVICES_MAX 40u
#define SAMPLE_HZ_MAX      50u

enum sample_vm {
	VM_NR_DIRTY,
	VM_NR_WRITEBACK,
	VM_NR_DIRTIED,
	VM_NR_WRITTEN,
	VM_NR_DIRTY_THRESHOLD,
	VM_NR_DIRTY_BACKGROUND_THRESHOLD,
	VM_PGPGIN,  /* KiB */
	VM_PGPGOUT, /* KiB */
	VM_COUNT
};

enum sample_mem {
	MEM_FREE,
	MEM_AVAILABLE,
	MEM_CACHED,
	MEM_DIRTY,
	MEM_WRITEBACK,
	MEM_COUNT
};

extern const char *const sample_vm_names[VM_COUNT];
extern const char *const sample_mem_names[MEM_COUNT];

struct sample_device {
	char node[32];   /* kernel name */
	char serial[96]; /* of a member; array name for the array */
	bool is_array;
};

struct sample_point {
	uint64_t t_ns; /* CLOCK_MONOTONIC, when the files were read */
	uint64_t vm[VM_COUNT];
	/* Read once a second, kept between. */
	uint64_t cpu[CPU_FIELDS];
	uint64_t mem_kb[MEM_COUNT];
	bool has_slow; /* they were read in this sample */
};

/* What was sampled; valid until sampler_free. */
struct sample_series {
	const struct sample_device *device;
	unsigned devices;
	unsigned counters[SAMPLE_DEVICES_MAX]; /* 11, 15, 17; 0: never seen */
	unsigned cpu_fields;
	size_t count;
	const struct sample_point *point;      /* count */
	const uint64_t (*disk)[DISK_COUNTERS]; /* count * devices */
	/* CPU time of the sampler itself, and how many samples it took (more
	 * than count when the series was thinned). */
	uint64_t cpu_ns;
	uint64_t taken;
	uint64_t late; /* ticks that came too late and were skipped */
};

struct sampler_cfg {
	const char *root;  /* prefix of /proc */
	unsigned hz;       /* 1..50 */
	size_t max_points; /* at least 16; when full, every second point is
			    * dropped and the rate halves */
	const struct sample_device *device;
	unsigned devices;
};

struct sampler;

/* NULL with errno and err. Opens the files; nothing runs yet. */
struct sampler *sampler_new(const struct sampler_cfg *cfg, struct err *err);

/* One sample from the caller's thread; also without start. 0 or -errno. */
int sampler_take(struct sampler *s);

/* Take the first sample, then go on in a thread. */
int sampler_start(struct sampler *s, struct err *err);
/* End the thread and take the last sample. */
void sampler_stop(struct sampler *s);

/* Only while no thread runs. */
const struct sample_series *sampler_series(struct sampler *s);

/* Written pages per second over about the last second; 0 = not known. Any
 * thread. */
double sampler_written_per_s(struct sampler *s);

void sampler_free(struct sampler *s);

/* Points that fit into bytes of an encoded CellResult, roughly. */
size_t sampler_points_for(size_t bytes, unsigned devices);

#endif
