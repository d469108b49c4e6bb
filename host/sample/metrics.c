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
/* Part of the steady time that is left out at either end of the hull. */
#define METRICS_HULL_ENDS 0.20
#define METRICS_STEADY    0.10 /* of the slope, and of the time */

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

static double metrics_seconds(const struct sample_series *s, size_t i, size_t j)
{
	return (double)(s->point[j].t_ns - s->point[i].t_ns) / 1e9;
}

/* Pages a second from sample i to the later sample j. */
static double metrics_rate(const struct sample_series *s, size_t i, size_t j)
{
	return metrics_written(s, j, i) / metrics_seconds(s, i, j);
}

/* Height of the upper hull of written pages over [a, b] at `t` seconds after
 * sample a, which must lie between the two: the highest chord from a sample
 * before `t` to one behind it. Pages since sample a. */
static double metrics_hull_height(const struct sample_series *s, size_t a,
				  size_t b, double t)
{
	double height = -1.0;
	double last;
	size_t left = a;
	size_t right = b;
	size_t m = a;

	while (m + 1 < b && metrics_seconds(s, a, m + 1) <= t)
		m++;
	/* Each turn lifts the chord at t, until no sample is above it. */
	do {
		last = height;
		for (size_t i = a; i <= m; i++)
			if (metrics_rate(s, i, right) <
			    metrics_rate(s, left, right))
				left = i;
		for (size_t i = m + 1; i <= b; i++)
			if (metrics_rate(s, left, i) >
			    metrics_rate(s, left, right))
				right = i;
		height = metrics_written(s, left, a) +
			 metrics_rate(s, left, right) *
				 (t - metrics_seconds(s, a, left));
	} while (height > last);
	return height;
}

/* Slope of written pages over [a, b], pages a second: the rise of their upper
 * hull over the middle of the time. A file system ends the writeback of several
 * MiB at once (up to 128), and of two units whose requests are mixed neither
 * counts before its last request: the counter lags behind the disks, by an
 * amount that changes, and never leads. Such one-sided errors ask for the curve
 * that touches the samples which lag least (as for clock skew out of network
 * delays: Moon, Skelly and Towsley, INFOCOM 1999); its ends hang on one sample
 * each and are left out. A least-squares line through the edges is tilted where
 * the lag changes. Of 24 stored pairs RAID1 : one disk the ratios had a
 * standard deviation of 2.0 % with it, and of 1.3 % with the hull. 0.0 without
 * two samples. */
static double metrics_hull_slope(const struct sample_series *s, size_t a,
				 size_t b)
{
	double from = METRICS_HULL_ENDS * metrics_seconds(s, a, b);
	double to = (1.0 - METRICS_HULL_ENDS) * metrics_seconds(s, a, b);

	if (a == b)
		return 0.0;
	return (metrics_hull_height(s, a, b, to) -
		metrics_hull_height(s, a, b, from)) /
	       (to - from);
}

/* A cell that stood still for a while has a slope that tells nothing of it. The
 * mean over the whole window may differ by what had been written and was not
 * counted yet: the largest step. No time without a page may be longer than that
 * step takes. */
static void metrics_check_steady(struct metrics *m,
				 const struct sample_series *s, size_t a,
				 size_t b, double slope)
{
	double seconds = metrics_seconds(s, a, b);
	double mean = metrics_written(s, b, a) / seconds;
	double step = 0.0;
	double still = 0.0;
	size_t edge = a;

	for (size_t i = a + 1; i <= b; i++) {
		double pages = metrics_written(s, i, i - 1);

		step = fmax(step, pages);
		still = fmax(still, metrics_seconds(s, edge, i));
		if (pages > 0.0)
			edge = i;
	}
	metrics_check(m, "steady",
		      fabs(mean - slope) <=
				      METRICS_STEADY * slope + step / seconds &&
			      still <= METRICS_STEADY * seconds + step / slope,
		      "written pages a second: %.0f by slope, %.0f by mean; "
		      "none for at most %.1f s",
		      slope, mean, still);
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
	slope = metrics_hull_slope(s, a, b);
	if (slope <= 0.0)
		return;
	metrics_add(m, "write_bw", slope * w->page_bytes / METRICS_MB, "MB/s");
	metrics_add(m, "write_bw_span", metrics_seconds(s, a, b), "s");
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
	dt_s = metrics_seconds(s, a, b);
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
