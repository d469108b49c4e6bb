#include "host/report/compare.h"
#include "host/report/compare_priv.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct compare *compare_new(const char *label_a, const char *label_b)
{
	struct compare *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->label[COMPARE_A] = strdup(label_a);
	c->label[COMPARE_B] = strdup(label_b);
	if (!c->label[COMPARE_A] || !c->label[COMPARE_B]) {
		compare_free(c);
		return NULL;
	}
	return c;
}

int compare_label(struct compare *c, enum compare_side side, const char *label)
{
	char *copy = strdup(label);

	if (!copy)
		return -ENOMEM;
	free(c->label[side]);
	c->label[side] = copy;
	return 0;
}

static void free_metric(struct metric *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->row[i].name);
	free(m->row);
	free(m->out);
	free(m->name);
	free(m->unit);
}

void compare_free(struct compare *c)
{
	size_t i;
	int side;

	if (!c)
		return;
	for (i = 0; i < c->n_metric; i++)
		free_metric(&c->metric[i]);
	free(c->metric);
	for (i = 0; i < c->n_setting; i++) {
		free(c->setting[i].name);
		for (side = 0; side < COMPARE_SIDES; side++)
			free(c->setting[i].value[side]);
	}
	free(c->setting);
	free(c->tainted);
	free(c->label[COMPARE_A]);
	free(c->label[COMPARE_B]);
	free(c);
}

/* One more element at the end of a growing array, zeroed. NULL: no memory. */
static void *grow(void *array, size_t *n, size_t *cap, size_t size, void **base)
{
	void *bigger;
	char *end;

	if (*n == *cap) {
		bigger = realloc(array, (*cap ? 2 * *cap : 16) * size);
		if (!bigger)
			return NULL;
		*cap = *cap ? 2 * *cap : 16;
		*base = bigger;
		array = bigger;
	}
	end = (char *)array + *n * size;
	memset(end, 0, size);
	(*n)++;
	return end;
}

static struct metric *find_metric(struct compare *c, const char *name,
				  const char *unit)
{
	struct metric *m;
	void *base = c->metric;
	size_t i;

	for (i = 0; i < c->n_metric; i++)
		if (strcmp(c->metric[i].name, name) == 0)
			return &c->metric[i];
	m = grow(c->metric, &c->n_metric, &c->cap_metric, sizeof(*m), &base);
	c->metric = base;
	if (!m)
		return NULL;
	m->name = strdup(name);
	m->unit = strdup(unit ? unit : "");
	if (m->name && m->unit)
		return m;
	free(m->name);
	free(m->unit);
	c->n_metric--;
	return NULL;
}

static struct row *find_row(struct metric *m, const char *name)
{
	struct row *r;
	void *base = m->row;
	size_t i;

	/* From the end: values come case by case. */
	for (i = m->n; i > 0; i--)
		if (strcmp(m->row[i - 1].name, name) == 0)
			return &m->row[i - 1];
	r = grow(m->row, &m->n, &m->cap, sizeof(*r), &base);
	m->row = base;
	if (!r)
		return NULL;
	r->name = strdup(name);
	if (r->name)
		return r;
	m->n--;
	return NULL;
}

int compare_add(struct compare *c, enum compare_side side,
		const char *case_name, const char *metric, const char *unit,
		double value)
{
	struct metric *m;
	struct row *r;

	if (!isfinite(value))
		return -EINVAL;
	m = find_metric(c, metric, unit);
	r = m ? find_row(m, case_name) : NULL;
	if (!r)
		return -ENOMEM;
	r->sum[side] += value;
	r->runs[side]++;
	return 0;
}

static struct setting *find_setting(struct compare *c, const char *name)
{
	struct setting *s;
	void *base = c->setting;
	size_t i;

	for (i = 0; i < c->n_setting; i++)
		if (strcmp(c->setting[i].name, name) == 0)
			return &c->setting[i];
	s = grow(c->setting, &c->n_setting, &c->cap_setting, sizeof(*s), &base);
	c->setting = base;
	if (!s)
		return NULL;
	s->name = strdup(name);
	if (s->name)
		return s;
	c->n_setting--;
	return NULL;
}

/* Are the len bytes at value one of the lines of list? */
static bool has_line(const char *list, const char *value, size_t len)
{
	const char *end;

	for (; list; list = end ? end + 1 : NULL) {
		end = strchr(list, '\n');
		if (strncmp(list, value, len) == 0 &&
		    (list[len] == '\n' || list[len] == 0))
			return true;
	}
	return false;
}

/* One more line, unless it is there: 1, 0 or -ENOMEM. */
static int add_line(char **list, const char *value)
{
	size_t have = *list ? strlen(*list) + 1 : 0;
	char *longer;

	if (*list && has_line(*list, value, strlen(value)))
		return 0;
	longer = realloc(*list, have + strlen(value) + 1);
	if (!longer)
		return -ENOMEM;
	if (have)
		longer[have - 1] = '\n';
	strcpy(longer + have, value);
	*list = longer;
	return 1;
}

int compare_setting(struct compare *c, enum compare_side side, const char *name,
		    const char *value)
{
	struct setting *s = find_setting(c, name);
	int ret = s ? add_line(&s->value[side], value) : -ENOMEM;

	return ret < 0 ? ret : 0;
}

int compare_taint(struct compare *c, const char *run)
{
	return add_line(&c->tainted, run);
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int main_first(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;
	int xm = strcmp(x->name, COMPARE_MAIN_METRIC) != 0;
	int ym = strcmp(y->name, COMPARE_MAIN_METRIC) != 0;

	if (xm != ym)
		return xm - ym;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void fill_rows(struct metric *m)
{
	struct compare_row *o;
	size_t i;
	int side;

	for (i = 0; i < m->n; i++) {
		o = &m->out[i];
		o->case_name = m->row[i].name;
		for (side = 0; side < COMPARE_SIDES; side++) {
			o->runs[side] = m->row[i].runs[side];
			if (o->runs[side])
				o->value[side] =
					m->row[i].sum[side] / o->runs[side];
		}
	}
}

bool compare_is_paired(const struct compare_row *r)
{
	return r->runs[COMPARE_A] && r->runs[COMPARE_B];
}

static int sum_rows(struct metric *m, struct compare_total *t)
{
	double *pair = calloc(m->n ? 2 * m->n : 1, sizeof(*pair));
	double *a = pair, *b = pair ? pair + m->n : NULL;
	size_t i;

	if (!pair)
		return -ENOMEM;
	for (i = 0; i < m->n; i++) {
		if (!compare_is_paired(&m->out[i]))
			continue;
		a[t->n] = m->out[i].value[COMPARE_A];
		b[t->n] = m->out[i].value[COMPARE_B];
		t->value[COMPARE_A] += a[t->n];
		t->value[COMPARE_B] += b[t->n];
		t->n++;
	}
	t->ratio = stats_ratio(a, b, t->n, 0.95);
	free(pair);
	return 0;
}

static int finish_metric(struct metric *m)
{
	qsort(m->row, m->n, sizeof(*m->row), by_name);
	m->out = calloc(m->n ? m->n : 1, sizeof(*m->out));
	if (!m->out)
		return -ENOMEM;
	fill_rows(m);
	m->total = (struct compare_total){
		.metric = m->name, .unit = m->unit, .row = m->out, .n_row = m->n
	};
	return sum_rows(m, &m->total);
}

int compare_finish(struct compare *c)
{
	size_t i;
	int ret;

	for (i = 0; i < c->n_metric; i++)
		c->metric[i].place = i;
	if (c->n_metric)
		qsort(c->metric, c->n_metric, sizeof(*c->metric), main_first);
	for (i = 0; i < c->n_metric; i++) {
		ret = finish_metric(&c->metric[i]);
		if (ret < 0)
			return ret;
	}
	return 0;
}

size_t compare_metrics(const struct compare *c)
{
	return c->n_metric;
}

const struct compare_total *compare_metric(const struct compare *c, size_t i)
{
	return &c->metric[i].total;
}

size_t compare_unpaired(const struct compare *c)
{
	size_t i, j, n = 0;

	for (i = 0; i < c->n_metric; i++)
		for (j = 0; j < c->metric[i].n; j++)
			n += !compare_is_paired(&c->metric[i].out[j]);
	return n;
}

static const struct compare_row *row_of(const struct metric *m,
					const char *case_name)
{
	const struct row key = { .name = (char *)(uintptr_t)case_name };
	const struct row *r = bsearch(&key, m->row, m->n, sizeof(key), by_name);

	return r ? &m->out[r - m->row] : NULL;
}

bool compare_is_only_in(const struct compare *c, size_t i,
			const char *case_name, enum compare_side side)
{
	const struct compare_row *r = row_of(&c->metric[i], case_name);

	return r && r->runs[side] && !compare_is_paired(r);
}

bool compare_has_case(const struct compare *c, enum compare_side side,
		      const char *case_name)
{
	const struct compare_row *r;
	size_t i;

	for (i = 0; i < c->n_metric; i++) {
		r = row_of(&c->metric[i], case_name);
		if (r && r->runs[side])
			return true;
	}
	return false;
}

bool compare_percent(double a, double b, double *percent)
{
	if (a == 0 || b == 0)
		return false;
	*percent = 100 * (b - a) / a;
	return true;
}

size_t compare_regressions(const struct compare *c, double limit_percent)
{
	const struct compare_total *t;
	size_t i, n = 0;
	double p;

	if (!c->n_metric || strcmp(c->metric[0].name, COMPARE_MAIN_METRIC) != 0)
		return 0;
	t = &c->metric[0].total;
	for (i = 0; i < t->n_row; i++)
		if (compare_is_paired(&t->row[i]) &&
		    compare_percent(t->row[i].value[COMPARE_A],
				    t->row[i].value[COMPARE_B], &p))
			n += p < -limit_percent;
	return n;
}

/* Are all lines of a in b? */
static bool within(const char *a, const char *b)
{
	size_t len;

	for (; a; a = a[len] ? a + len + 1 : NULL) {
		len = strcspn(a, "\n");
		if (!has_line(b, a, len))
			return false;
	}
	return true;
}

bool compare_differs(const struct setting *s)
{
	const char *a = s->value[COMPARE_A], *b = s->value[COMPARE_B];

	/* Order is that of the cells, and says nothing. */
	return !a || !b || !within(a, b) || !within(b, a);
}

bool compare_is_kernel(const struct setting *s)
{
	return strncmp(s->name, "kernel", strlen("kernel")) == 0;
}
