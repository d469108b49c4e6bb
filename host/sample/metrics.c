#include "host/sample/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/util/clock.h"
#include "host/util/parse.h"

#define METRICS_MB            1048576.0
#define METRICS_SECTOR        512.0
#define METRICS_BYTES_PERCENT 1.0 /* allowed between tool and members */
#define METRICS_LITTLE_PART   0.05
#define METRICS_LITTLE_ABS    0.2 /* requests; ms rounding of short waits */
/* The first part of what was written in the window is the ramp: the fill of an
 * empty page cache and of the disks' own. */
#define METRICS_RAMP_HEAD 0.10
#define METRICS_STEADY    0.10 /* slope against mean of the same window */

void metrics_add(struct metrics *m, const char *name, double value,
		 const char *unit)
{
	struct metric *x;

	if (m->count == METRICS_MAX || !isfinite(value))
		return;
	x = &m->metric[m->count++];
	(void)str_copy(x->name, sizeof(x->name), name);
	x->value = value;
	x->unit = unit;
}

__attribute__((format(printf, 4, 5))) static void
metrics_check(struct metrics *m, const char *name, bool ok, const char *fmt,
	      ...)
{
	struct check *c;
	va_list ap;

	if (m->checks == CHECKS_MAX)
		return;
	c = &m->check[m->checks++];
	c->name = name;
	c->ok = ok;
	va_start(ap, fmt);
	(void)vsnprintf(c->detail, sizeof(c->detail), fmt, ap);
	va_end(ap);
}

/* Samples inside [from, to]; false with fewer than two. */
static bool metrics_span(const struct sample_series *s, uint64_t from,
			 uint64_t to, size_t *first, size_t *last)
{
	size_t a = 0;
	size_t b = s->count;

	while (a < s->count && s->point[a].t_ns < from)
		a++;
	while (b > a && s->point[b - 1].t_ns > to)
		b--;
	if (b < a + 2)
		return false;
	*first = a;
	*last = b - 1;
	return true;
}

static double metrics_written(const struct sample_series *s, size_t i,
			      size_t base)
{
	return (double)(s->point[i].vm[VM_NR_WRITTEN] -
			s->point[base].vm[VM_NR_WRITTEN]);
}

/* Narrow [a, b] to the steady part: past the ramp at the start, up to the last
 * sample at which written pages had just arrived. */
static void metrics_cut_to_steady(const struct sample_series *s, size_t *a,
				  size_t *b)
{
	size_t base = *a;
	double total = metrics_written(s, *b, base);

	while (*a < *b &&
	       metrics_written(s, *a, base) < METRICS_RAMP_HEAD * total)
		(*a)++;
	while (*b > *a && metrics_written(s, *b, *b - 1) <= 0.0)
		(*b)--;
}

/* Least-squares slope of written pages over [a, b], pages a second, through
 * the samples at which pages had just arrived. A file system ends the writeback
 * of several MiB at once (up to 128), so the counter is a staircase: at an edge
 * it agrees with the disks, in between it lags. A fit through all samples is
 * therefore low, and the line from the first edge to the last has the error of
 * two edges (measured: up to 4 % of 10 s at 24 MB/s); a fit through all edges
 * averages it (1 %). 0.0 with fewer than two edges. */
static double metrics_edge_slope(const struct sample_series *s, size_t a,
				 size_t b)
{
	double n = 0.0;
	double mean_t = 0.0;
	double mean_w = 0.0;
	double cov = 0.0;
	double var = 0.0;

	for (size_t i = a; i <= b; i++) {
		double t = (double)(s->point[i].t_ns - s->point[a].t_ns) / 1e9;
		double w = metrics_written(s, i, a);
		double dt = t - mean_t;

		if (i == 0 || metrics_written(s, i, i - 1) <= 0.0)
			continue;
		/* Welford's update: no sums of squares that cancel. */
		n += 1.0;
		mean_t += dt / n;
		mean_w += (w - mean_w) / n;
		var += dt * (t - mean_t);
		cov += dt * (w - mean_w);
	}
	return var > 0.0 ? cov / var : 0.0;
}

/* A cell that stood still for a while has a slope that tells nothing of it. The
 * mean over the whole window may differ by what had been written and was not
 * counted yet: the largest step. */
static void metrics_check_steady(struct metrics *m,
				 const struct sample_series *s, size_t a,
				 size_t b, double slope)
{
	double seconds = (double)(s->point[b].t_ns - s->point[a].t_ns) / 1e9;
	double mean = metrics_written(s, b, a) / seconds;
	double step = 0.0;

	for (size_t i = a + 1; i <= b; i++)
		step = fmax(step, metrics_written(s, i, i - 1));
	metrics_check(m, "steady",
		      fabs(mean - slope) <=
			      METRICS_STEADY * slope + step / seconds,
		      "written pages a second: %.0f by slope, %.0f by mean",
		      slope, mean);
}

void metrics_write_bw(struct metrics *m, const struct sample_series *s,
		      const struct metrics_window *w)
{
	double slope;
	size_t a;
	size_t b;
	size_t first;
	size_t last;

	if (!metrics_span(s, w->start_ns, w->first_done_ns, &first, &last))
		return;
	a = first;
	b = last;
	metrics_cut_to_steady(s, &a, &b);
	slope = metrics_edge_slope(s, a, b);
	if (slope <= 0.0)
		return;
	metrics_add(m, "write_bw", slope * w->page_bytes / METRICS_MB, "MB/s");
	metrics_add(m, "write_bw_span",
		    (double)(s->point[b].t_ns - s->point[a].t_ns) / 1e9, "s");
	metrics_add(m, "write_bw_samples", (double)(b - a + 1), "");
	metrics_check_steady(m, s, first, last, slope);
}

/* Differences of one member over a span. ms counters are 32 bits wide. */
struct metrics_delta {
	double reads, read_merges, read_sectors, read_ms;
	double writes, write_merges, write_sectors, write_ms;
	double busy_ms, weighted_ms;
};

static double metrics_diff(const uint64_t *x, const uint64_t *y, unsigned i)
{
	return (double)(y[i] - x[i]);
}

static double metrics_diff_ms(const uint64_t *x, const uint64_t *y, unsigned i)
{
	return (double)(uint32_t)((uint32_t)y[i] - (uint32_t)x[i]);
}

static struct metrics_delta metrics_delta(const uint64_t *x, const uint64_t *y)
{
	return (struct metrics_delta){
		.reads = metrics_diff(x, y, DISK_READS),
		.read_merges = metrics_diff(x, y, DISK_READS_MERGED),
		.read_sectors = metrics_diff(x, y, DISK_SECTORS_READ),
		.read_ms = metrics_diff_ms(x, y, DISK_MS_READ),
		.writes = metrics_diff(x, y, DISK_WRITES),
		.write_merges = metrics_diff(x, y, DISK_WRITES_MERGED),
		.write_sectors = metrics_diff(x, y, DISK_SECTORS_WRITTEN),
		.write_ms = metrics_diff_ms(x, y, DISK_MS_WRITE),
		.busy_ms = metrics_diff_ms(x, y, DISK_MS_BUSY),
		.weighted_ms = metrics_diff_ms(x, y, DISK_MS_WEIGHTED),
	};
}

static void metrics_sum(struct metrics_delta *sum,
			const struct metrics_delta *d)
{
	sum->reads += d->reads;
	sum->read_merges += d->read_merges;
	sum->read_sectors += d->read_sectors;
	sum->read_ms += d->read_ms;
	sum->writes += d->writes;
	sum->write_merges += d->write_merges;
	sum->write_sectors += d->write_sectors;
	sum->write_ms += d->write_ms;
	sum->busy_ms += d->busy_ms;
	sum->weighted_ms += d->weighted_ms;
}

static double metrics_ratio(double a, double b)
{
	return b > 0.0 ? a / b : 0.0;
}

/* Rates and the queue are sums over the members; sizes and waits are averages
 * over all their requests; util is the mean over the members. */
static void metrics_add_io(struct metrics *m, const struct metrics_delta *d,
			   unsigned members, double dt_s)
{
	double ios = d->reads + d->writes;

	metrics_add(m, "io_wkB_s", d->write_sectors / 2.0 / dt_s, "KiB/s");
	metrics_add(m, "io_w_s", d->writes / dt_s, "1/s");
	metrics_add(m, "io_wrqm_s", d->write_merges / dt_s, "1/s");
	metrics_add(m, "io_rkB_s", d->read_sectors / 2.0 / dt_s, "KiB/s");
	metrics_add(m, "io_r_s", d->reads / dt_s, "1/s");
	metrics_add(m, "io_rrqm_s", d->read_merges / dt_s, "1/s");
	metrics_add(m, "io_avgrq_sz",
		    metrics_ratio(d->read_sectors + d->write_sectors, ios),
		    "sectors");
	metrics_add(m, "io_avgqu_sz", d->weighted_ms / (dt_s * 1e3), "");
	metrics_add(m, "io_w_await", metrics_ratio(d->write_ms, d->writes),
		    "ms");
	metrics_add(m, "io_r_await", metrics_ratio(d->read_ms, d->reads), "ms");
	metrics_add(m, "io_util", 100.0 * d->busy_ms / (dt_s * 1e3) / members,
		    "%");
}

/* Little: requests in the queue = arrivals per second x time of each. */
static void metrics_check_little(struct metrics *m,
				 const struct metrics_delta *d, double dt_s)
{
	double queue = d->weighted_ms / (dt_s * 1e3);
	double little = (d->read_ms + d->write_ms) / (dt_s * 1e3);
	double room = METRICS_LITTLE_PART * queue + METRICS_LITTLE_ABS;

	if (d->reads + d->writes < 1.0)
		return;
	metrics_check(m, "littles_law", fabs(queue - little) <= room,
		      "queue %.2f, rate x wait %.2f requests", queue, little);
}

void metrics_io(struct metrics *m, const struct sample_series *s,
		const struct metrics_window *w)
{
	struct metrics_delta sum = { 0 };
	unsigned members = 0;
	double util_max = 0.0;
	double dt_s;
	size_t a;
	size_t b;

	if (!metrics_span(s, w->start_ns, w->end_ns, &a, &b))
		return;
	dt_s = (double)(s->point[b].t_ns - s->point[a].t_ns) / 1e9;
	for (unsigned i = 0; i < s->devices; i++) {
		struct metrics_delta d =
			metrics_delta(s->disk[a * s->devices + i],
				      s->disk[b * s->devices + i]);
		double util = 100.0 * d.busy_ms / (dt_s * 1e3);

		if (s->device[i].is_array || !s->counters[i])
			continue;
		members++;
		metrics_sum(&sum, &d);
		util_max = util > util_max ? util : util_max;
	}
	if (!members)
		return;
	metrics_add_io(m, &sum, members, dt_s);
	/* The kernel counts busy time by ticks; two may stick out. */
	metrics_check(m, "util", util_max <= 100.0 + 2.0 / dt_s,
		      "busiest member %.1f %%", util_max);
	metrics_check_little(m, &sum, dt_s);
}

void metrics_cpu(struct metrics *m, const struct sample_series *s,
		 const struct metrics_window *w)
{
	static const unsigned share[] = { CPU_USER,    CPU_NICE,   CPU_SYSTEM,
					  CPU_IDLE,    CPU_IOWAIT, CPU_IRQ,
					  CPU_SOFTIRQ, CPU_STEAL };
	double d[CPU_FIELDS] = { 0.0 };
	double total = 0.0;
	double sum;
	size_t a;
	size_t b;

	if (!metrics_span(s, w->start_ns, w->end_ns, &a, &b))
		return;
	/* They are read once a second: a shorter run gets what came next. */
	while (b + 1 < s->count && memcmp(s->point[b].cpu, s->point[a].cpu,
					  sizeof(s->point[a].cpu)) == 0)
		b++;
	/* Guest time is inside user and nice; iowait may run backwards. */
	for (unsigned i = 0; i < sizeof(share) / sizeof(*share); i++) {
		unsigned f = share[i];

		d[f] = (double)(int64_t)(s->point[b].cpu[f] -
					 s->point[a].cpu[f]);
		d[f] = d[f] < 0.0 ? 0.0 : d[f];
		total += d[f];
	}
	if (total <= 0.0)
		return;
	d[CPU_SYSTEM] += d[CPU_IRQ] + d[CPU_SOFTIRQ]; /* as iostat shows it */
	metrics_add(m, "cpu_user", 100.0 * d[CPU_USER] / total, "%");
	metrics_add(m, "cpu_nice", 100.0 * d[CPU_NICE] / total, "%");
	metrics_add(m, "cpu_system", 100.0 * d[CPU_SYSTEM] / total, "%");
	metrics_add(m, "cpu_iowait", 100.0 * d[CPU_IOWAIT] / total, "%");
	metrics_add(m, "cpu_steal", 100.0 * d[CPU_STEAL] / total, "%");
	metrics_add(m, "cpu_idle", 100.0 * d[CPU_IDLE] / total, "%");
	sum = 100.0 *
	      (d[CPU_USER] + d[CPU_NICE] + d[CPU_SYSTEM] + d[CPU_IOWAIT] +
	       d[CPU_STEAL] + d[CPU_IDLE]) /
	      total;
	metrics_check(m, "cpu_sum", fabs(sum - 100.0) < 0.01,
		      "the CPU's parts add up to %.2f %%", sum);
}

void metrics_check_bytes(struct metrics *m, const struct sample_series *s,
			 uint64_t tool_bytes, unsigned copies)
{
	double want = (double)tool_bytes * copies;
	double got = 0.0;
	size_t last = s->count - 1;

	if (s->count < 2 || want <= 0.0)
		return;
	for (unsigned i = 0; i < s->devices; i++) {
		if (!s->device[i].is_array)
			got += metrics_diff(s->disk[i],
					    s->disk[last * s->devices + i],
					    DISK_SECTORS_WRITTEN) *
			       METRICS_SECTOR;
	}
	metrics_check(m, "bytes",
		      fabs(got - want) <= want * METRICS_BYTES_PERCENT / 100.0,
		      "members wrote %.0f bytes, the tool %" PRIu64
		      " x %u copies: %+.2f %%",
		      got, tool_bytes, copies, 100.0 * (got - want) / want);
}
