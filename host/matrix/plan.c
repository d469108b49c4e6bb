#include "host/matrix/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/axis.h"
#include "host/matrix/name.h"
#include "host/matrix/work.h"
#include "host/util/parse.h"

#define AXES_MAX 128

/* Seconds of a cell outside its workload, until the journal knows better. */
#define OVERHEAD_S 15.0
#define UNKNOWN_S  60.0

/* Hang guard of a cell whose length its workload cannot say. */
#define UNKNOWN_GUARD_S (6 * 3600u)

/* One combination of values, one repeat of it. */
struct point {
	unsigned at[AXES_MAX]; /* index into each axis' values */
	unsigned kernel, compare, repeat;
	size_t block; /* rank among combinations of all other axes */
	size_t place; /* where the shuffle of its repeat puts the block */
	uint64_t sort[3];
};

struct points {
	struct point *list;
	size_t n, size;
};

/* ---- which cells ------------------------------------------------------ */

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

static Bay__Cell *new_cell(void)
{
	Bay__Cell *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	bay__cell__init(c);
	c->array = malloc(sizeof(*c->array));
	c->fs = malloc(sizeof(*c->fs));
	c->workload = malloc(sizeof(*c->workload));
	if (c->array)
		bay__array_spec__init(c->array);
	if (c->fs)
		bay__fs_spec__init(c->fs);
	if (c->workload)
		bay__workload_spec__init(c->workload);
	if (!c->array || !c->fs || !c->workload) {
		bay__cell__free_unpacked(c, NULL);
		return NULL;
	}
	return c;
}

/* Fill a cell from one point. *same is set when the point differs from an
 * earlier one only in keys that mean nothing here: a chunk for a mirror. */
static int fill_cell(const struct matrix *m, const unsigned *at,
		     struct axis_cell *c, bool *same)
{
	unsigned i;
	int ret = 0;

	*same = false;
	for (i = 0; i < m->n_axes && ret == 0; i++) {
		const struct axis *a = &m->axes[i];

		if (a->kind->applies && !a->kind->applies(a, c->cell)) {
			*same |= at[i] > 0;
			continue;
		}
		ret = a->kind->apply(a, a->values[at[i]], c);
	}
	return ret;
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

/* Does this point describe a cell of its own? 1, 0 or an error; err says what
 * is wrong. The cell is scratch. */
static int judge(const struct matrix *m, const unsigned *at,
		 const struct axis_cell *disks, struct axis_cell *c,
		 struct seen *seen, struct err *err)
{
	struct err why = { 0 };
	const char *wrong;
	bool same;
	int ret;

	ret = fill_cell(m, at, c, &same);
	if (ret != 0 && ret != -ENODEV)
		return err_sys(err, ret, "planning the matrix");
	/* Without a cell of its own it is nothing that a rule could mean. */
	if (same || !wanted(m, at, seen))
		return 0;
	if (ret == -ENODEV)
		return too_few_disks(m, at, disks, err);
	ret = work_check(c->cell, NULL, &wrong, &why);
	if (ret == -EINVAL)
		return refused(m, at, wrong, why.text, err);
	return ret < 0 ? err_sys(err, ret, "planning the matrix") : 1;
}

static int is_cell(const struct matrix *m, const unsigned *at,
		   const struct axis_cell *disks, struct seen *seen,
		   struct err *err)
{
	struct axis_cell c = *disks;
	int ret;

	c.cell = new_cell();
	if (!c.cell)
		return err_sys(err, -ENOMEM, "planning the matrix");
	ret = judge(m, at, disks, &c, seen, err);
	bay__cell__free_unpacked(c.cell, NULL);
	return ret;
}

static int check_product(const struct matrix *m, struct err *err)
{
	uint64_t n = m->repeats;
	unsigned i;

	for (i = 0; i < m->n_axes; i++) {
		const struct axis *a = &m->axes[i];

		if (i == AXES_MAX)
			return conf_fail(m->file, err, -E2BIG, a->path,
					 "more than %d keys vary", AXES_MAX);
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

static int find_points(const struct matrix *m, const struct axis_cell *disks,
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

/* ---- in which order ---------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood 2014): any seed is a good one. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void shuffle(size_t *list, size_t n, uint64_t seed)
{
	size_t i, k, t;

	for (i = 0; i < n; i++)
		list[i] = i;
	for (i = n; i > 1; i--) {
		k = (size_t)(next_random(&seed) % i);
		t = list[i - 1];
		list[i - 1] = list[k];
		list[k] = t;
	}
}

/* Which axes have a place of their own in the order. */
struct special {
	int kernel, compare; /* index of the axis, -1 = none */
};

static struct special find_special(const struct matrix *m)
{
	const struct axis *kernel = axis_find(m, "kernel");
	const struct axis *compare =
		m->compare ? axis_find(m, m->compare) : NULL;
	struct special s;

	s.kernel = kernel ? (int)(kernel - m->axes) : -1;
	s.compare = compare ? (int)(compare - m->axes) : -1;
	/* Kernels are compared if nothing else was asked for. */
	if (!m->compare && kernel && kernel->n > 1)
		s.compare = s.kernel;
	return s;
}

static bool same_block(const struct matrix *m, const struct special *s,
		       const struct point *a, const struct point *b)
{
	unsigned i;

	for (i = 0; i < m->n_axes; i++)
		if ((int)i != s->kernel && (int)i != s->compare &&
		    a->at[i] != b->at[i])
			return false;
	return true;
}

/* Number the combinations of all other axes. Quadratic only in the number of
 * blocks; the limit on cells keeps it bearable. */
static size_t number_blocks(const struct matrix *m, const struct special *s,
			    struct points *p, size_t *first)
{
	size_t n = 0, i, b;

	for (i = 0; i < p->n; i++) {
		struct point *pt = &p->list[i];

		pt->kernel = s->kernel < 0 ? 0 : pt->at[s->kernel];
		pt->compare = s->compare < 0 ? 0 : pt->at[s->compare];
		/* Neighbours mostly share the block: look backwards. */
		for (b = n; b > 0; b--)
			if (same_block(m, s, pt, &p->list[first[b - 1]]))
				break;
		if (!b) {
			first[n++] = i;
			b = n;
		}
		pt->block = b - 1;
	}
	return n;
}

/* A B | B A | A B: turned in every second repeat, so that a drift hits both
 * sides alike. */
static unsigned turned(unsigned index, unsigned n, bool turn)
{
	return turn ? n - 1 - index : index;
}

static void set_sort(const struct matrix *m, const struct special *s,
		     struct point *p)
{
	unsigned kernels = s->kernel < 0 ? 1 : m->axes[s->kernel].n;
	unsigned sides = s->compare < 0 ? 1 : m->axes[s->compare].n;
	bool odd_repeat = p->repeat & 1;

	if (s->compare == s->kernel) {
		p->sort[0] = (uint64_t)p->repeat * kernels +
			     turned(p->kernel, kernels, odd_repeat);
		p->sort[2] = 0;
	} else {
		p->sort[0] = (uint64_t)p->kernel * m->repeats + p->repeat;
		p->sort[2] =
			turned(p->compare, sides, odd_repeat ^ (p->place & 1));
	}
	p->sort[1] = p->place;
}

static int by_sort(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int i;

	for (i = 0; i < 3; i++)
		if (x->sort[i] != y->sort[i])
			return x->sort[i] < y->sort[i] ? -1 : 1;
	return 0;
}

static int order_points(const struct matrix *m, struct points *p)
{
	struct special s = find_special(m);
	size_t *first, *place, blocks, i, k;
	uint64_t seed;
	unsigned r;

	if (!p->n || !p->list)
		return 0;
	first = malloc(p->n * sizeof(*first));
	place = malloc(p->n * sizeof(*place));
	if (!first || !place) {
		free(first);
		free(place);
		return -ENOMEM;
	}
	blocks = number_blocks(m, &s, p, first);
	for (r = 0; r < m->repeats; r++) {
		seed = m->seed + r * UINT64_C(0x632be59bd9b4e019);
		shuffle(first, blocks, next_random(&seed));
		for (k = 0; k < blocks; k++)
			place[first[k]] = k;
		for (i = 0; i < p->n; i++)
			if (p->list[i].repeat == r)
				p->list[i].place = place[p->list[i].block];
	}
	free(first);
	free(place);
	for (i = 0; i < p->n; i++)
		set_sort(m, &s, &p->list[i]);
	qsort(p->list, p->n, sizeof(*p->list), by_sort);
	return 0;
}

/* ---- cells ------------------------------------------------------------ */

/* Length of the measured part; 0.0: its workload cannot say. */
static double workload_s(const Bay__Cell *cell)
{
	double seconds = 0.0;

	return work_check(cell, &seconds, NULL, NULL) < 0 ? 0.0 : seconds;
}

double plan_cell_estimate_s(const Bay__Cell *cell)
{
	double seconds = workload_s(cell);

	return (seconds > 0.0 ? seconds : UNKNOWN_S) + OVERHEAD_S;
}

static uint32_t timeout_s(const struct matrix *m, const Bay__Cell *c)
{
	double seconds;

	if (m->timeout_s)
		return m->timeout_s;
	seconds = workload_s(c);
	if (seconds <= 0.0)
		return UNKNOWN_GUARD_S;
	/* Writeback of a full page cache may take its time. */
	return (uint32_t)(4 * (seconds + OVERHEAD_S) + 120);
}

/* FNV-1a, 128 bits. */
static void hash_text(const uint8_t *data, size_t len, char key[PLAN_KEY_BYTES])
{
	const unsigned __int128 prime =
		((unsigned __int128)1 << 88) + ((1u << 8) | 0x3b);
	unsigned __int128 h =
		((unsigned __int128)UINT64_C(0x6c62272e07bb0142) << 64) |
		UINT64_C(0x62b821756295c58d);
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ data[i]) * prime;
	snprintf(key, PLAN_KEY_BYTES, "%016llx%016llx",
		 (unsigned long long)(h >> 64), (unsigned long long)h);
}

int plan_cell_key(const Bay__Cell *cell, char key[PLAN_KEY_BYTES])
{
	Bay__Cell bare = *cell;
	uint8_t *buf;
	size_t len;

	bare.key = (char *)protobuf_c_empty_string;
	bare.case_name = (char *)protobuf_c_empty_string;
	bare.order = 0;
	len = bay__cell__get_packed_size(&bare);
	buf = malloc(len ? len : 1);
	if (!buf)
		return -ENOMEM;
	bay__cell__pack(&bare, buf);
	hash_text(buf, len, key);
	free(buf);
	return 0;
}

static int finish_cell(const struct matrix *m, const struct point *p,
		       Bay__Cell *c)
{
	char key[PLAN_KEY_BYTES], name[CASE_NAME_BYTES];

	c->repeat = p->repeat + 1;
	c->sample_hz = m->sample_hz;
	c->timeout_s = timeout_s(m, c);
	c->experiment = strdup(m->experiment);
	case_name(m, p->at, c, name);
	c->case_name = strdup(name);
	if (!c->experiment || !c->case_name)
		return -ENOMEM;
	if (plan_cell_key(c, key) < 0)
		return -ENOMEM;
	c->key = strdup(key);
	return c->key ? 0 : -ENOMEM;
}

static int make_cells(const struct matrix *m, const struct axis_cell *disks,
		      const struct points *points, struct plan *out)
{
	size_t i;
	bool same;
	int ret = 0;

	out->cell = calloc(points->n, sizeof(*out->cell));
	if (!out->cell)
		return -ENOMEM;
	for (i = 0; i < points->n && ret == 0; i++) {
		struct axis_cell c = *disks;

		c.cell = new_cell();
		if (!c.cell)
			return -ENOMEM;
		out->cell[out->n++] = c.cell;
		ret = fill_cell(m, points->list[i].at, &c, &same);
		if (ret == 0)
			ret = finish_cell(m, &points->list[i], c.cell);
		c.cell->order = (uint32_t)i;
		out->estimate_s += plan_cell_estimate_s(c.cell);
		if (i == 0 ||
		    strcmp(c.cell->kernel, out->cell[i - 1]->kernel) != 0)
			out->boots++;
	}
	return ret;
}

static int by_key(const void *a, const void *b)
{
	const Bay__Cell *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

/* At the value in which they differ that stands later. */
static int are_same(const struct matrix *m, const struct points *points,
		    const Bay__Cell *x, const Bay__Cell *y, struct err *err)
{
	const unsigned *a = points->list[x->order].at;
	const unsigned *b = points->list[y->order].at;
	char path[AXIS_PLACE_BYTES] = "";
	unsigned i;

	for (i = 0; i < m->n_axes && a[i] == b[i]; i++)
		;
	if (i < m->n_axes)
		axis_place(&m->axes[i], a[i] > b[i] ? a[i] : b[i], path);
	return conf_fail(m->file, err, -EINVAL, path,
			 "%s and %s are the same cell; drop one of the two "
			 "values",
			 x->case_name, y->case_name);
}

/* Two spellings of one value (1G, 1024M) would be one cell run twice. */
static int check_keys(const struct matrix *m, const struct points *points,
		      const struct plan *p, struct err *err)
{
	Bay__Cell **sorted;
	size_t i;
	int ret = 0;

	sorted = malloc(p->n * sizeof(*sorted));
	if (!sorted)
		return err_sys(err, -ENOMEM, "planning the matrix");
	memcpy(sorted, p->cell, p->n * sizeof(*sorted));
	qsort(sorted, p->n, sizeof(*sorted), by_key);
	for (i = 1; i < p->n && ret == 0; i++)
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			ret = are_same(m, points, sorted[i - 1], sorted[i],
				       err);
	free(sorted);
	return ret;
}

int plan_make(const struct matrix *m, const char *const *serial,
	      unsigned n_serial, struct plan *out, struct err *err)
{
	struct axis_cell disks = { .serial = serial, .n_serial = n_serial };
	struct points points = { 0 };
	int ret;

	memset(out, 0, sizeof(*out));
	if (m->n_disks) {
		disks.serial = (const char *const *)m->disks;
		disks.n_serial = m->n_disks;
	}
	ret = check_product(m, err);
	if (ret < 0)
		return ret;
	ret = find_points(m, &disks, &points, err);
	if (ret < 0)
		goto out;
	ret = order_points(m, &points);
	if (ret == 0)
		ret = make_cells(m, &disks, &points, out);
	if (ret < 0)
		err_sys(err, ret, "planning the matrix");
	else
		ret = check_keys(m, &points, out, err);
	if (ret < 0)
		plan_free(out);
out:
	free(points.list);
	return ret;
}

void plan_free(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		bay__cell__free_unpacked(p->cell[i], NULL);
	free(p->cell);
	memset(p, 0, sizeof(*p));
}
