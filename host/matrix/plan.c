#include "host/matrix/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/name.h"
#include "host/matrix/work.h"

/* Seconds of a cell outside its workload, until the journal knows better. */
#define OVERHEAD_S 15.0
#define UNKNOWN_S  60.0

/* Hang guard of a cell whose length its workload cannot say. */
#define UNKNOWN_GUARD_S (6 * 3600u)

Bay__Cell *plan_new_cell(void)
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

int plan_fill_cell(const struct matrix *m, const unsigned *at,
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

		c.cell = plan_new_cell();
		if (!c.cell)
			return -ENOMEM;
		out->cell[out->n++] = c.cell;
		ret = plan_fill_cell(m, points->list[i].at, &c, &same);
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
	ret = plan_check_product(m, err);
	if (ret < 0)
		return ret;
	ret = plan_find_points(m, &disks, &points, err);
	if (ret < 0)
		goto out;
	ret = plan_order_points(m, &points);
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
