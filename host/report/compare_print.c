#include "host/report/compare_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const char rule[] = "------------------------";

/* One line in the published form: the base in 24 columns, the change in 11,
 * the other side in 12, then the case. */
static int print_pair(struct buf *out, double a, double b, const char *name)
{
	double percent;
	int ret;

	ret = buf_printf(out, "%24.2f  ", a);
	if (ret == 0 && compare_percent(a, b, &percent))
		ret = buf_printf(out, "%+10.1f%% ", percent);
	else if (ret == 0)
		ret = buf_printf(out, "%12s", "");
	if (ret == 0)
		ret = buf_printf(out, "%12.2f  %s", b, name);
	return ret;
}

static int print_row(const struct compare *c, const struct compare_row *r,
		     struct buf *out)
{
	int ret;

	ret = print_pair(out, r->value[COMPARE_A], r->value[COMPARE_B],
			 r->case_name);
	/* The published case names end in the base's kernel. */
	return ret == 0 ? buf_printf(out, "-%s\n", c->label[COMPARE_A]) : ret;
}

static int print_rows(const struct compare *c, const struct compare_total *t,
		      struct buf *out)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < t->n_row && ret == 0; i++)
		if (compare_is_paired(&t->row[i]))
			ret = print_row(c, &t->row[i], out);
	return ret;
}

static int print_total(const struct compare_total *t, struct buf *out)
{
	int ret;

	ret = print_pair(out, t->value[COMPARE_A], t->value[COMPARE_B],
			 "TOTAL ");
	if (ret == 0)
		ret = buf_printf(out, "%s  (N %zu", t->metric, t->n);
	if (ret == 0 && t->ratio.n)
		ret = buf_printf(out, "; geometric mean of %zu ratios %.4f",
				 t->ratio.n, t->ratio.mean);
	if (ret == 0 && t->ratio.n > 1)
		ret = buf_printf(out, ", 95 %% CI %.4f..%.4f", t->ratio.low,
				 t->ratio.high);
	return ret == 0 ? buf_printf(out, ")\n") : ret;
}

/* A sum over cases says something of rates and shares; of a point in time or
 * a count of samples it does not. Those are in the CSV and JSON. */
static bool has_total(const char *metric)
{
	return strcmp(metric, COMPARE_MAIN_METRIC) == 0 ||
	       strncmp(metric, "io_", 3) == 0 ||
	       strncmp(metric, "cpu_", 4) == 0;
}

static int print_totals(const struct compare *c, struct buf *out)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < c->n_metric && ret == 0; i++) {
		if (!has_total(c->metric[i].name))
			continue;
		ret = print_total(&c->metric[i].total, out);
		if (ret == 0 && i == 0 && c->n_metric > 1)
			ret = buf_printf(out, "\n");
	}
	return ret;
}

/* Whether an earlier metric than the i-th has named it. */
static bool is_named(const struct compare *c, size_t i, const char *case_name,
		     enum compare_side side)
{
	while (i > 0)
		if (compare_is_only_in(c, --i, case_name, side))
			return true;
	return false;
}

/* The metrics from the i-th on that the other side lacks of a case. */
static int print_lacking(const struct compare *c, size_t i,
			 const char *case_name, enum compare_side side,
			 struct buf *out)
{
	const char *before = " (";
	int ret = 0;

	for (; i < c->n_metric && ret == 0; i++) {
		if (!compare_is_only_in(c, i, case_name, side))
			continue;
		ret = buf_printf(out, "%s%s", before, c->metric[i].name);
		before = ", ";
	}
	return ret == 0 ? buf_printf(out, ")") : ret;
}

/* One line for a case, however many metrics it has. */
static int print_only_in(const struct compare *c, size_t i,
			 const struct compare_row *r, struct buf *out)
{
	enum compare_side side = r->runs[COMPARE_A] ? COMPARE_A : COMPARE_B;
	enum compare_side other = side == COMPARE_A ? COMPARE_B : COMPARE_A;
	int ret;

	if (compare_is_paired(r) || is_named(c, i, r->case_name, side))
		return 0;
	ret = buf_printf(out, "only in %s: %s", c->label[side], r->case_name);
	if (ret == 0 && compare_has_case(c, other, r->case_name))
		ret = print_lacking(c, i, r->case_name, side, out);
	return ret == 0 ? buf_printf(out, "\n") : ret;
}

static int print_unpaired(const struct compare *c, struct buf *out)
{
	size_t i, j;
	int ret = 0;

	for (i = 0; i < c->n_metric; i++)
		for (j = 0; j < c->metric[i].n && ret == 0; j++)
			ret = print_only_in(c, i, &c->metric[i].out[j], out);
	return ret;
}

/* Values of a side in one line. */
static int print_values(const char *lines, struct buf *out)
{
	size_t len;
	int ret = 0;

	if (!lines)
		return buf_printf(out, "(not there)");
	for (; lines && ret == 0; lines = lines[len] ? lines + len + 1 : NULL) {
		len = strcspn(lines, "\n");
		ret = buf_printf(out, "%.*s%s", (int)len, lines,
				 lines[len] ? " | " : "");
	}
	return ret;
}

static int print_setting(const struct setting *s, struct buf *out)
{
	int ret;

	ret = buf_printf(out, "  %s: ", s->name);
	if (ret == 0)
		ret = print_values(s->value[COMPARE_A], out);
	if (ret == 0)
		ret = buf_printf(out, " -> ");
	if (ret == 0)
		ret = print_values(s->value[COMPARE_B], out);
	return ret == 0 ? buf_printf(out, "\n") : ret;
}

static size_t count_differing(const struct compare *c, size_t *other)
{
	size_t i, n = 0;

	*other = 0;
	for (i = 0; i < c->n_setting; i++) {
		if (!compare_differs(&c->setting[i]))
			continue;
		n++;
		*other += !compare_is_kernel(&c->setting[i]);
	}
	return n;
}

static const char *settings_head(size_t differing, size_t other)
{
	if (!differing)
		return "no setting differs\n";
	return other ? "settings that differ:\n" : "only the kernel differs:\n";
}

static int print_settings(const struct compare *c, struct buf *out)
{
	size_t i, n, other;
	int ret;

	if (!c->n_setting)
		return 0;
	n = count_differing(c, &other);
	ret = buf_printf(out, "\n%s", settings_head(n, other));
	for (i = 0; i < c->n_setting && ret == 0; i++)
		if (compare_differs(&c->setting[i]))
			ret = print_setting(&c->setting[i], out);
	return ret;
}

int compare_text(const struct compare *c, struct buf *out)
{
	int ret;

	ret = buf_printf(out, "%24s  %24s\n%s  %s\n", c->label[COMPARE_A],
			 c->label[COMPARE_B], rule, rule);
	if (ret == 0 && c->n_metric)
		ret = print_rows(c, &c->metric[0].total, out);
	if (ret == 0)
		ret = print_totals(c, out);
	if (ret == 0 && compare_unpaired(c))
		ret = buf_printf(out, "\n");
	if (ret == 0)
		ret = print_unpaired(c, out);
	return ret == 0 ? print_settings(c, out) : ret;
}

static int csv_value(const struct compare_row *r, enum compare_side side,
		     struct buf *out)
{
	if (!r->runs[side])
		return buf_printf(out, ",");
	return buf_printf(out, ",%.17g", r->value[side]);
}

int compare_csv(const struct compare *c, struct buf *out)
{
	const struct compare_row *r;
	size_t i, j;
	int ret;

	ret = buf_printf(out, "case,metric,unit,a,b,runs_a,runs_b\n");
	for (i = 0; i < c->n_metric; i++)
		for (j = 0; j < c->metric[i].n && ret == 0; j++) {
			r = &c->metric[i].out[j];
			/* Names of cases and metrics have no comma or quote:
			 * the plan's grammar keeps them out. */
			ret = buf_printf(out, "%s,%s,%s", r->case_name,
					 c->metric[i].name, c->metric[i].unit);
			if (ret == 0)
				ret = csv_value(r, COMPARE_A, out);
			if (ret == 0)
				ret = csv_value(r, COMPARE_B, out);
			if (ret == 0)
				ret = buf_printf(out, ",%u,%u\n",
						 r->runs[COMPARE_A],
						 r->runs[COMPARE_B]);
		}
	return ret;
}

/* JSON has no NAN: what is not known is null. */
static json_t *json_number(bool known, double v)
{
	return known && isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_percent(double a, double b)
{
	double p = NAN;
	bool known = compare_percent(a, b, &p);

	return json_number(known, p);
}

static json_t *json_row(const struct compare_row *r)
{
	const double *v = r->value;
	const unsigned *runs = r->runs;

	return json_pack(
		"{s:s, s:o, s:o, s:i, s:i, s:o}", "case", r->case_name, "a",
		json_number(runs[COMPARE_A], v[COMPARE_A]), "b",
		json_number(runs[COMPARE_B], v[COMPARE_B]), "runs_a",
		(int)runs[COMPARE_A], "runs_b", (int)runs[COMPARE_B], "percent",
		compare_is_paired(r) ? json_percent(v[COMPARE_A], v[COMPARE_B])
				     : json_null());
}

static json_t *json_metric(const struct compare_total *t)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < t->n_row; i++)
		json_array_append_new(rows, json_row(&t->row[i]));
	return json_pack("{s:s, s:s, s:o, s:{s:i, s:f, s:f, s:o}, "
			 "s:{s:i, s:o, s:o, s:o}}",
			 "metric", t->metric, "unit", t->unit, "rows", rows,
			 "total", "n", (int)t->n, "a", t->value[COMPARE_A], "b",
			 t->value[COMPARE_B], "percent",
			 json_percent(t->value[COMPARE_A], t->value[COMPARE_B]),
			 "ratio", "n", (int)t->ratio.n, "geometric_mean",
			 json_number(true, t->ratio.mean), "low",
			 json_number(true, t->ratio.low), "high",
			 json_number(true, t->ratio.high));
}

static json_t *json_settings(const struct compare *c)
{
	json_t *list = json_array();
	const struct setting *s;
	size_t i;

	for (i = 0; i < c->n_setting; i++) {
		s = &c->setting[i];
		if (compare_differs(s))
			json_array_append_new(
				list,
				json_pack("{s:s, s:s?, s:s?}", "name", s->name,
					  "a", s->value[COMPARE_A], "b",
					  s->value[COMPARE_B]));
	}
	return list;
}

int compare_json(const struct compare *c, struct buf *out)
{
	json_t *metrics = json_array(), *top;
	size_t i, other, differing = count_differing(c, &other);
	char *text;
	int ret;

	for (i = 0; i < c->n_metric; i++)
		json_array_append_new(metrics,
				      json_metric(&c->metric[i].total));
	top = json_pack("{s:s, s:s, s:o, s:i, s:o, s:b}", "a",
			c->label[COMPARE_A], "b", c->label[COMPARE_B],
			"metrics", metrics, "unpaired",
			(int)compare_unpaired(c), "settings", json_settings(c),
			"only_kernel_differs", differing > 0 && other == 0);
	text = top ? json_dumps(top, JSON_INDENT(2)) : NULL;
	json_decref(top);
	if (!text)
		return -ENOMEM;
	ret = buf_printf(out, "%s\n", text);
	free(text);
	return ret;
}
