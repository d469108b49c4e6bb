/* Which cells a matrix has. */
#include "host/matrix/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/work.h"

static bool pair_matches(const struct matrix *m, const struct matrix_pair *p,
			 const unsigned *at)
{
	const struct axis *a = axis_find(m, p->name);
	unsigned i;

	for (i = 0; i < p->n_values; i++)
		if (strcmp(a->values[at[a - m->axes]], p->values[i]) == 0)
			return true;
	return false;
}

/* Which rules have matched a cell. */
struct seen {
	bool include[MATRIX_RULES_MAX], exclude[MATRIX_RULES_MAX];
};

/* All rules are tried, so that those without any cell are found. */
static bool any_matches(const struct matrix *m, const struct matrix_rule *rules,
			unsigned n, const unsigned *at, bool *seen)
{
	bool any = false;
	unsigned i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < rules[i].n_pairs; k++)
			if (!pair_matches(m, &rules[i].pairs[k], at))
				break;
		if (k < rules[i].n_pairs)
			continue;
		seen[i] = true;
		any = true;
	}
	return any;
}

static bool wanted(const struct matrix *m, const unsigned *at,
		   struct seen *seen)
{
	bool in = any_matches(m, m->include, m->n_include, at, seen->include);
	bool out = any_matches(m, m->exclude, m->n_exclude, at, seen->exclude);

	return (in || !m->n_include) && !out;
}

static int check_seen(const struct matrix *m, const char *key, const bool *seen,
		      unsigned n, struct err *err)
{
	char path[64];
	unsigned i;

	for (i = 0; i < n && seen[i]; i++)
		;
	snprintf(path, sizeof(path), "%s[%u]", key, i);
	return i == n ? 0
		      : conf_fail(m->file, err, -EINVAL, path,
				  "%s: the rule matches no cell; mend it or "
				  "drop it",
				  key);
}

static int add_point(struct points *p, const struct point *pt)
{
	if (p->n == p->size) {
		size_t size = p->size ? 2 * p->size : 64;
		struct point *list = realloc(p->list, size * sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->list = list;
		p->size = size;
	}
	p->list[p->n++] = *pt;
	return 0;
}

/* The next combination, the last axis fastest. False after the last one. */
static bool step(const struct matrix *m, unsigned *at)
{
	unsigned i;

	for (i = m->n_axes; i > 0; i--) {
		if (++at[i - 1] < m->axes[i - 1].n)
			return true;
		at[i - 1] = 0;
	}
	return false;
}

/* At the parameter's value, or where the workload is named. */
static int refused(const struct matrix *m, const unsigned *at,
		   const char *param, const char *why, struct err *err)
{
	const struct axis *a = param ? axis_find(m, param) : NULL;
	char path[AXIS_PLACE_BYTES];

	if (!a)
		a = axis_find(m, "workload");
	return conf_fail(m->file, err, -EINVAL,
			 axis_place(a, at[a - m->axes], path), "%s", why);
}

static int too_few_disks(const struct matrix *m, const unsigned *at,
			 const struct axis_cell *disks, struct err *err)
{
	const struct axis *a = axis_find(m, "layout");
	unsigned i = at[a - m->axes];
	char path[AXIS_PLACE_BYTES];

	return conf_fail(m->file, err, -ENODEV, axis_place(a, i, path),
			 "%s wants more disks than the bench's %u; add disks "
			 "to the bench or drop the layout",
			 a->values[i], disks->n_serial);
}

static int too_short(const struct matrix *m, double seconds, struct err *err)
{
	return conf_fail(m->file, err, -EINVAL, "timeout_s",
			 "timeout_s: %u s would end a cell before its workload "
			 "of %.0f s is done",
			 m->timeout_s, seconds);
}

/* Does this point describe a cell of its own? 1, 0 or an error; err says what
 * is wrong. The cell is scratch. */
static int judge(const struct matrix *m, const unsigned *at,
		 const struct axis_cell *disks, struct axis_cell *c,
		 struct seen *seen, struct err *err)
{
	struct err why = { 0 };
	const char *wrong;
	double seconds = 0.0;
	bool same;
	int ret;

	ret = plan_fill_cell(m, at, c, &same);
	if (ret != 0 && ret != -ENODEV)
		return err_sys(err, ret, "planning the matrix");
	/* Without a cell of its own it is nothing that a rule could mean. */
	if (same || !wanted(m, at, seen))
		return 0;
	if (ret == -ENODEV)
		return too_few_disks(m, at, disks, err);
	ret = work_check(c->cell, &seconds, &wrong, &why);
	if (ret == -EINVAL)
		return refused(m, at, wrong, why.text, err);
	if (ret < 0)
		return err_sys(err, ret, "planning the matrix");
	return m->timeout_s && seconds >= m->timeout_s
		       ? too_short(m, seconds, err)
		       : 1;
}

static int is_cell(const struct matrix *m, const unsigned *at,
		   const struct axis_cell *disks, struct seen *seen,
		   struct err *err)
{
	struct axis_cell c = *disks;
	int ret;

	c.cell = plan_new_cell();
	if (!c.cell)
		return err_sys(err, -ENOMEM, "planning the matrix");
	ret = judge(m, at, disks, &c, seen, err);
	bay__cell__free_unpacked(c.cell, NULL);
	return ret;
}

int plan_check_product(const struct matrix *m, struct err *err)
{
	uint64_t n = m->repeats;
	unsigned i;

	for (i = 0; i < m->n_axes; i++) {
		const struct axis *a = &m->axes[i];

		if (i == PLAN_AXES_MAX)
			return conf_fail(m->file, err, -E2BIG, a->path,
					 "more than %d keys vary",
					 PLAN_AXES_MAX);
		n *= a->n;
		if (n > PLAN_CELLS_MAX)
			return conf_fail(m->file, err, -E2BIG, a->path,
					 "up to here the lists of the matrix "
					 "multiply to more than %u cells; "
					 "shorten some",
					 PLAN_CELLS_MAX);
	}
	return 0;
}

static int check_found(const struct matrix *m, const struct points *points,
		       const struct seen *seen, struct err *err)
{
	int ret;

	ret = check_seen(m, "include", seen->include, m->n_include, err);
	if (ret == 0)
		ret = check_seen(m, "exclude", seen->exclude, m->n_exclude,
				 err);
	if (ret == 0 && !points->n)
		ret = conf_fail(m->file, err, -EINVAL,
				m->n_exclude ? "exclude" : "include",
				"no cell is left after include and exclude");
	return ret;
}

int plan_find_points(const struct matrix *m, const struct axis_cell *disks,
		     struct points *points, struct err *err)
{
	struct point pt = { .repeat = 0 };
	struct seen seen = { 0 };
	int ret;

	do {
		ret = is_cell(m, pt.at, disks, &seen, err);
		for (pt.repeat = 0; ret > 0 && pt.repeat < m->repeats;
		     pt.repeat++)
			if (add_point(points, &pt) < 0)
				ret = err_sys(err, -ENOMEM,
					      "planning the matrix");
	} while (ret >= 0 && step(m, pt.at));
	return ret < 0 ? ret : check_found(m, points, &seen, err);
}
