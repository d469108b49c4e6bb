/* host/sample/metrics.h - numbers out of a series: pure arithmetic. Formulas
 * are those of docs/measurements.md; MB is 2^20 bytes. */
#ifndef HOST_SAMPLE_METRICS_H
#define HOST_SAMPLE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/sample/sampler.h"

#define METRICS_MAX 96u
#define CHECKS_MAX  16u

struct metric {
	char name[40];
	double value;
	const char *unit;
};

struct check {
	const char *name;
	bool ok;
	char detail[200];
};

struct metrics {
	struct metric metric[METRICS_MAX];
	unsigned count;
	struct check check[CHECKS_MAX];
	unsigned checks;
};

/* When things happened, CLOCK_MONOTONIC. */
struct metrics_window {
	uint64_t start_ns;      /* barrier opened */
	uint64_t first_done_ns; /* a child ended: not all were at work after */
	uint64_t end_ns;        /* last child ended */
	uint32_t page_bytes;
};

void metrics_add(struct metrics *m, const char *name, double value,
		 const char *unit);

/* write_bw and its span; nothing when there were too few samples. */
void metrics_write_bw(struct metrics *m, const struct sample_series *s,
		      const struct metrics_window *w);

/* io_...: members only, from the first sample in the window to the last. */
void metrics_io(struct metrics *m, const struct sample_series *s,
		const struct metrics_window *w);

/* cpu_...: percent of all CPUs' time in the window. */
void metrics_cpu(struct metrics *m, const struct sample_series *s,
		 const struct metrics_window *w);

/* Bytes by the tool against sectors written by the members, from the first
 * sample to the last (so with the final sync). copies: of each byte. */
void metrics_check_bytes(struct metrics *m, const struct sample_series *s,
			 uint64_t tool_bytes, unsigned copies);

#endif
