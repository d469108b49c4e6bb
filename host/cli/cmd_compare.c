/* bay compare A B: two sides of the same cases, in the published form. */
#include "host/cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/compare.h"
#include "host/store/store.h"
#include "host/util/parse.h"

enum {
	OPT_RESULTS = 0x20001,
	OPT_MISSING,
	OPT_FAIL_ON,
	OPT_CSV,
};

static const struct cli_option options[] = {
	{ "results", OPT_RESULTS, "FILE", "the journal; default results.db" },
	{ "allow-missing", OPT_MISSING, NULL,
	  "cases without a partner are no error" },
	{ "fail-on", OPT_FAIL_ON, "PERCENT",
	  "exit 1 when a case is slower by more than this" },
	{ "csv", OPT_CSV, NULL, "print comma-separated values" },
	{ 0 },
};

/* Which results stand on one side. */
struct side {
	const char *kernel;     /* NULL: any */
	const char *experiment; /* NULL: any */
	const char *results;    /* file; NULL: that of --results */
	char label[128];        /* as given; then what it stood for */
};

struct request {
	const char *results;
	bool allow_missing;
	bool csv;
	bool fail_on;
	double limit_percent;
	struct side side[COMPARE_SIDES];
};

static int take_option(struct request *q, int opt)
{
	char *end;

	switch (opt) {
	case OPT_RESULTS:
		q->results = optarg;
		return 0;
	case OPT_MISSING:
		q->allow_missing = true;
		return 0;
	case OPT_CSV:
		q->csv = true;
		return 0;
	case OPT_FAIL_ON:
		q->limit_percent = strtod(optarg, &end);
		q->fail_on = true;
		if (end == optarg || *end || !(q->limit_percent >= 0) ||
		    q->limit_percent > 100)
			return cli_usage("--fail-on takes a percentage from 0 "
					 "to 100, not '%s'",
					 optarg);
		return 0;
	default:
		return opt == CLI_HELP ? -1 : BAY_USAGE;
	}
}

/* "6.1", or "kernel=6.1,experiment=night,results=other.db"; cut up in place. */
static int parse_side(struct side *s, char *text)
{
	char *item, *save = NULL;

	snprintf(s->label, sizeof(s->label), "%s", text);
	if (!strchr(text, '=')) {
		s->kernel = text;
		return 0;
	}
	for (item = strtok_r(text, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		if (strncmp(item, "kernel=", 7) == 0)
			s->kernel = item + 7;
		else if (strncmp(item, "experiment=", 11) == 0)
			s->experiment = item + 11;
		else if (strncmp(item, "results=", 8) == 0)
			s->results = item + 8;
		else
			return -EINVAL;
	}
	return 0;
}

/* What reading one side needs. */
struct reading {
	struct compare *c;
	struct store *store;
	struct side *side;
	enum compare_side which;
	int64_t environment[64]; /* those whose settings were read */
	size_t n_environment;
	bool named;
	size_t rows;
	int error;
};

static int take_setting(void *arg, const char *name, const char *value)
{
	struct reading *r = arg;

	return compare_setting(r->c, r->which, name, value);
}

static int take_environment(struct reading *r, int64_t id)
{
	struct err err = { 0 };
	size_t i;

	for (i = 0; i < r->n_environment; i++)
		if (r->environment[i] == id)
			return 0;
	/* Beyond the table a state is only read again, never missed. */
	if (r->n_environment < sizeof(r->environment) / sizeof(int64_t))
		r->environment[r->n_environment++] = id;
	return store_environment(r->store, id, take_setting, r, &err);
}

static bool belongs(const struct side *s, const struct store_metric *m)
{
	if (s->experiment && strcmp(s->experiment, m->experiment) != 0)
		return false;
	return !s->kernel || strcmp(s->kernel, m->kernel) == 0 ||
	       strcmp(s->kernel, m->release) == 0;
}

/* A result has a row a metric, and may stand on both sides. */
static int warn_of_taint(struct reading *r, const struct store_metric *m)
{
	char run[512];
	int ret;

	snprintf(run, sizeof(run), "%s-%s #%u", m->case_name, m->release,
		 m->repeat);
	ret = compare_taint(r->c, run);
	if (ret > 0)
		fprintf(stderr, "bay: tainted, see bay results show: %s\n",
			run);
	return ret < 0 ? ret : 0;
}

static int take_metric(void *arg, const struct store_metric *m)
{
	struct reading *r = arg;

	if (!belongs(r->side, m))
		return 0;
	if (!r->named && r->side->kernel)
		snprintf(r->side->label, sizeof(r->side->label), "%s",
			 m->release);
	r->named = true;
	r->rows++;
	r->error = m->tainted ? warn_of_taint(r, m) : 0;
	if (r->error == 0)
		r->error = compare_add(r->c, r->which, m->case_name, m->name,
				       m->unit, m->value);
	if (r->error == 0)
		r->error = take_environment(r, m->environment);
	return r->error;
}

static int read_side(struct compare *c, struct request *q,
		     enum compare_side which)
{
	struct side *side = &q->side[which];
	struct reading r = { .c = c, .side = side, .which = which };
	const char *path = side->results ? side->results : q->results;
	struct err err = { 0 };
	int ret;

	ret = store_open(path, STORE_READ, NULL, &r.store, &err);
	if (ret == 0)
		ret = store_metrics(r.store, take_metric, &r, &err);
	store_close(r.store);
	if (ret == 0 && r.error == 0 && r.rows)
		return BAY_OK;
	if (ret == 0 && r.error == 0)
		fprintf(stderr,
			"bay: %s has no finished result for '%s'; see bay "
			"results list --results %s\n",
			path, side->label, path);
	else
		fprintf(stderr, "bay: %s\n",
			err.text[0] ? err.text : strerror(-r.error));
	return BAY_USAGE;
}

static int print(struct cli *cli, const struct request *q,
		 const struct compare *c)
{
	struct buf out = { 0 };
	int ret;

	if (cli->json)
		ret = compare_json(c, &out);
	else if (q->csv)
		ret = compare_csv(c, &out);
	else
		ret = compare_text(c, &out);
	if (ret == 0 && (fputs(buf_str(&out), stdout) < 0 || fflush(stdout)))
		ret = -errno;
	buf_free(&out);
	if (ret < 0)
		fprintf(stderr, "bay: cannot print: %s\n", strerror(-ret));
	return ret < 0 ? BAY_FAILED : BAY_OK;
}

static int judge(const struct request *q, const struct compare *c)
{
	size_t n = compare_unpaired(c);

	if (n && !q->allow_missing) {
		fprintf(stderr,
			"bay: the sides do not have the same cases (%zu values "
			"without partner, named above); --allow-missing "
			"compares the common ones\n",
			n);
		return BAY_UNEQUAL;
	}
	n = q->fail_on ? compare_regressions(c, q->limit_percent) : 0;
	if (n)
		fprintf(stderr, "bay: %zu case%s fell by more than %g %%\n", n,
			n == 1 ? "" : "s", q->limit_percent);
	return n ? BAY_REGRESSIONS : BAY_OK;
}

/* Labels are only known once both sides are read: the release that a kernel's
 * name stood for. */
static int compare_sides(struct cli *cli, struct request *q)
{
	struct compare *c = compare_new("", "");
	int which, ret = c ? BAY_OK : BAY_FAILED;

	for (which = COMPARE_A; which < COMPARE_SIDES && ret == BAY_OK; which++)
		ret = read_side(c, q, which);
	if (ret == BAY_OK &&
	    (compare_label(c, COMPARE_A, q->side[COMPARE_A].label) < 0 ||
	     compare_label(c, COMPARE_B, q->side[COMPARE_B].label) < 0 ||
	     compare_finish(c) < 0))
		ret = BAY_FAILED;
	if (ret == BAY_OK)
		ret = print(cli, q, c);
	if (ret == BAY_OK)
		ret = judge(q, c);
	compare_free(c);
	return ret;
}

static int compare_run(struct cli *cli, int argc, char **argv)
{
	struct request q = { .results = "results.db" };
	int opt, i, ret;

	while ((opt = cli_getopt(cli, argc, argv, "", options)) != -1) {
		ret = take_option(&q, opt);
		if (ret)
			return ret < 0 ? BAY_OK : ret;
	}
	if (argc - optind != COMPARE_SIDES)
		return cli_usage("compare needs two sides");
	ret = BAY_OK;
	for (i = 0; i < COMPARE_SIDES && ret == BAY_OK; i++)
		if (parse_side(&q.side[i], argv[optind + i]) < 0)
			ret = cli_usage("a side is a kernel, or kernel=, "
					"experiment= and results= with commas "
					"between, not '%s'",
					q.side[i].label);
	return ret == BAY_OK ? compare_sides(cli, &q) : ret;
}

const struct command cmd_compare = {
	.name = "compare",
	.args = "[--results FILE] [--allow-missing] [--fail-on PERCENT] "
		"[--csv] A B",
	.summary = "print two kernels or experiments side by side",
	.run = compare_run,
};
