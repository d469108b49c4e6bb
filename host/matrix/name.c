#include "host/matrix/name.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Workloads whose name in a case is shorter than their kind: a parameter and
 * a suffix, 10dd. */
static const struct {
	const char *kind, *param, *suffix;
} short_names[] = {
	{ "dd-write", "n", "dd" },
};
#define SHORT_COUNT (sizeof(short_names) / sizeof(short_names[0]))

struct text {
	char *s;
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t,
						      const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, CASE_NAME_BYTES - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n += (size_t)n;
	if (t->n >= CASE_NAME_BYTES)
		t->n = CASE_NAME_BYTES - 1;
}

/* A value must not look like the grammar around it. */
static void put_value(struct text *t, const char *value)
{
	for (; *value; value++)
		put(t, "%c", strchr("/ \t", *value) ? '_' : *value);
}

static int find_short(const char *kind)
{
	size_t i;

	for (i = 0; i < SHORT_COUNT; i++)
		if (strcmp(short_names[i].kind, kind) == 0)
			return (int)i;
	return -1;
}

static const char *param_or(const Bay__Cell *c, const char *name,
			    const char *fallback)
{
	size_t i;

	for (i = 0; i < c->workload->n_param; i++)
		if (strcmp(c->workload->param[i]->name, name) == 0)
			return c->workload->param[i]->value;
	return fallback;
}

static void put_array(struct text *t, const Bay__ArraySpec *a)
{
	const char *kind;

	if (strcmp(a->layout, "single") == 0)
		return;
	for (kind = a->layout; *kind; kind++)
		put(t, "%c", *kind >= 'a' && *kind <= 'z' ? *kind - 32 : *kind);
	put(t, "-%zuHDD", a->n_serial);
}

/* Does the axis stand in the middle part? */
static bool is_shown(const struct axis *a, const Bay__Cell *c)
{
	int s = find_short(c->workload->kind);

	if (a->kind->own_name || (a->kind->applies && !a->kind->applies(a, c)))
		return false;
	if (s >= 0 && strcmp(a->kind->key, "params") == 0 &&
	    strcmp(a->name, short_names[s].param) == 0)
		return false;
	return a->n > 1 || a->kind->in_name;
}

static void put_middle(struct text *t, const struct matrix *m,
		       const unsigned *at, const Bay__Cell *c)
{
	size_t start = t->n;
	unsigned i;

	put_array(t, c->array);
	for (i = 0; i < m->n_axes; i++) {
		const struct axis *a = &m->axes[i];

		if (!is_shown(a, c))
			continue;
		put(t, "%s%s=", t->n > start ? "-" : "",
		    a->kind->key_name ? a->kind->key : a->name);
		put_value(t, a->values[at[i]]);
	}
	if (t->n == start)
		put(t, "single");
}

void case_name(const struct matrix *m, const unsigned *at, const Bay__Cell *c,
	       char name[CASE_NAME_BYTES])
{
	struct text t = { .s = name };
	int s = find_short(c->workload->kind);

	put(&t, "bay/");
	put_middle(&t, m, at, c);
	put(&t, "/%s-", *c->fs->type ? c->fs->type : "raw");
	if (s >= 0)
		put(&t, "%s%s", param_or(c, short_names[s].param, "1"),
		    short_names[s].suffix);
	else
		put_value(&t, c->workload->kind);
	put(&t, "-%u", c->repeat);
}

void case_name_with_kernel(const char *case_name, const char *release,
			   char name[CASE_NAME_BYTES])
{
	snprintf(name, CASE_NAME_BYTES, "%s%s%s", case_name,
		 *release ? "-" : "", release);
}
