/* dd-write: n times coreutils dd on each target, from a common start, for a
 * time or a size. */
#include "host/workload/dd_write.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/util/parse.h"
#include "host/workload/jobs.h"
#include "host/workload/workload.h"

#define DD_N_MAX       1000u
#define DD_BS_MAX      (1u << 30)
#define DD_SECONDS_MAX 86400.0
#define DD_MB          1048576.0
/* So many dds have a metric each; of more there are quantiles, and all of them
 * are in the result as children anyway. */
#define DD_RATES_MAX 32u

static const struct workload_param dd_params[] = {
	{ "n", "1" },                            /* on each target */
	{ "bs", "64k" },    { "seconds", NULL }, /* one of these two */
	{ "size", NULL },                        /* bytes of each dd */
	{ "direct", "no" },                      /* oflag=direct */
	{ NULL, NULL },
};

struct dd {
	uint32_t n;
	uint64_t bs;
	double seconds; /* 0: by size */
	uint64_t size;
	bool direct;
};

int dd_parse_bytes(const char *text, uint64_t *bytes)
{
	int rc = -EBADMSG;

	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *end = text + len;
		const char *p = text;
		uint64_t v;

		if (len < 4096 && *p != ' ' && parse_next_u64(&p, end, &v) &&
		    str_starts(p, " byte") &&
		    memmem(p, (size_t)(end - p), " copied,", 8)) {
			*bytes = v;
			rc = 0;
		}
		text = end + (*end == '\n');
	}
	return rc;
}

static int dd_check_amount(struct workload *w, struct dd *dd, struct err *err)
{
	const char *seconds = workload_value(w, "seconds");
	const char *size = workload_value(w, "size");

	if (!seconds == !size)
		return workload_refuse(w, size ? "size" : NULL, err,
				       "wants either seconds or size");
	if (seconds && (parse_double(seconds, &dd->seconds) ||
			dd->seconds < 0.1 || dd->seconds > DD_SECONDS_MAX))
		return workload_refuse(
			w, "seconds", err,
			"seconds \"%.20s\" is not from 0.1 to %.0f", seconds,
			DD_SECONDS_MAX);
	if (size && (parse_size(size, &dd->size) || dd->size == 0))
		return workload_refuse(w, "size", err,
				       "size \"%.20s\" is not a number of "
				       "bytes like 512M",
				       size);
	return 0;
}

static int dd_check(struct workload *w, struct err *err)
{
	struct dd *dd = w->state;
	const char *n = workload_value(w, "n");
	const char *bs = workload_value(w, "bs");
	const char *direct = workload_value(w, "direct");

	if (parse_u32_range(n, 1, DD_N_MAX, &dd->n))
		return workload_refuse(w, "n", err,
				       "n \"%.20s\" is not from 1 to %u", n,
				       DD_N_MAX);
	if (parse_size(bs, &dd->bs) || dd->bs < 512 || dd->bs > DD_BS_MAX)
		return workload_refuse(
			w, "bs", err, "bs \"%.20s\" is not from 512 to 1G", bs);
	if (parse_bool(direct, &dd->direct))
		return workload_refuse(w, "direct", err,
				       "direct \"%.20s\" is neither yes nor no",
				       direct);
	if (dd->n * w->targets > WORKLOAD_CHILDREN_MAX)
		return workload_refuse(w, "n", err,
				       "%u on each of %u targets are more "
				       "than %u processes",
				       dd->n, w->targets,
				       WORKLOAD_CHILDREN_MAX);
	return dd_check_amount(w, dd, err);
}

static double dd_seconds(const struct workload *w)
{
	const struct dd *dd = w->state;

	return dd->seconds;
}

/* On a raw device each dd gets a part of its own. */
static void dd_add_place(const struct workload *w, struct argv *v,
			 const struct workload_target *t, unsigned i)
{
	const struct dd *dd = w->state;
	uint64_t blocks = t->size_bytes / dd->bs / dd->n;

	if (!t->is_device) {
		argv_addf(v, "of=%s/dd-%u", t->path, i + 1);
		return;
	}
	argv_addf(v, "of=%s", t->path);
	argv_addf(v, "seek=%" PRIu64, i * blocks);
	argv_add(v, "conv=notrunc");
}

static const char *const *dd_argv(const struct workload *w,
				  const struct workload_target *t, unsigned i)
{
	const struct dd *dd = w->state;
	struct argv v = { .arena = w->arena };

	argv_add(&v, "dd");
	argv_add(&v, "if=/dev/zero");
	dd_add_place(w, &v, t, i);
	argv_addf(&v, "bs=%" PRIu64, dd->bs);
	if (dd->size) {
		argv_addf(&v, "count=%" PRIu64, dd->size);
		argv_add(&v, "iflag=count_bytes");
	}
	if (dd->direct)
		argv_add(&v, "oflag=direct");
	return v.arg;
}

static int dd_plan(struct workload *w, struct err *err)
{
	const struct dd *dd = w->state;
	unsigned number = 0;

	for (unsigned t = 0; t < w->targets; t++) {
		for (unsigned i = 0; i < dd->n; i++) {
			const struct workload_target *target = &w->target[t];
			int rc = jobs_add(
				w, arena_printf(w->arena, "dd-%u", ++number),
				target, dd_argv(w, target, i), err);

			if (rc)
				return rc;
			/* A file of an earlier run would be truncated inside
			 * the measured time. */
			if (!target->is_device)
				(void)unlink(arena_printf(w->arena, "%s/dd-%u",
							  target->path, i + 1));
		}
	}
	return 0;
}

static int dd_count_bytes(struct workload *w, struct err *err)
{
	for (unsigned i = 0; i < w->children; i++) {
		struct workload_child *c = &w->child[i];

		/* Told to end before it had begun: dd takes the signal and
		 * counts from the moment at which it starts to copy. */
		if (c->exit_code == -SIGINT && !*c->output)
			continue;
		if (dd_parse_bytes(c->output, &c->bytes))
			return err_set(
				err, -EBADMSG,
				"%s did not say how much it wrote: %.80s",
				c->name, c->output);
	}
	if (!workload_bytes(w))
		return err_set(err, -ENODATA,
			       "%u dds wrote nothing before their time was "
			       "over; on this machine they need more seconds "
			       "to start",
			       w->children);
	return 0;
}

static double dd_span_s(uint64_t from, uint64_t to)
{
	return (double)(to - from) / 1e9;
}

static int dd_by_value(const void *x, const void *y)
{
	const double *a = x;
	const double *b = y;

	return (*a > *b) - (*a < *b);
}

static void dd_rates(struct workload *w)
{
	double *rate = arena_array(w->arena, w->children, sizeof(*rate));
	unsigned n = w->children;

	for (unsigned i = 0; i < n; i++) {
		const struct workload_child *c = &w->child[i];

		rate[i] = (double)c->bytes / DD_MB /
			  dd_span_s(c->start_ns, c->end_ns);
		if (n <= DD_RATES_MAX)
			metrics_add(w->metrics,
				    arena_printf(w->arena, "%s_rate", c->name),
				    rate[i], "MB/s");
	}
	if (n < 2)
		return;
	qsort(rate, n, sizeof(*rate), dd_by_value);
	metrics_add(w->metrics, "dd_rate_min", rate[0], "MB/s");
	metrics_add(w->metrics, "dd_rate_median",
		    (rate[(n - 1) / 2] + rate[n / 2]) / 2.0, "MB/s");
	metrics_add(w->metrics, "dd_rate_max", rate[n - 1], "MB/s");
}

static void dd_metrics(struct workload *w)
{
	double mb = (double)workload_bytes(w) / DD_MB;
	double run_s = dd_span_s(w->start_ns, w->end_ns);
	double sync_s = (double)w->sync_ns / 1e9;

	dd_rates(w);
	metrics_add(w->metrics, "first_done",
		    dd_span_s(w->start_ns, w->first_done_ns), "s");
	metrics_add(w->metrics, "last_done", run_s, "s");
	metrics_add(w->metrics, "sync", sync_s, "s");
	metrics_add(w->metrics, "rate", mb / run_s, "MB/s");
	metrics_add(w->metrics, "rate_synced", mb / (run_s + sync_s), "MB/s");
}

static int dd_run(struct workload *w, struct err *err)
{
	const struct dd *dd = w->state;
	int rc = dd_plan(w, err);

	if (!rc)
		rc = jobs_run(w, (uint64_t)(dd->seconds * 1e3), SIGINT, err);
	if (!rc)
		rc = dd_count_bytes(w, err);
	if (!rc)
		rc = jobs_sync(w, err);
	if (!rc)
		dd_metrics(w);
	return rc;
}

const struct workload_kind workload_dd_write = {
	.name = "dd-write",
	.params = dd_params,
	.check = dd_check,
	.run = dd_run,
	.seconds = dd_seconds,
	.state_bytes = sizeof(struct dd),
};
