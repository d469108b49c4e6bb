/* host/matrix/plan_priv.h - what the files of plan share: points, the places in
 * the product of all axes that are to be cells. */
#ifndef HOST_MATRIX_PLAN_PRIV_H
#define HOST_MATRIX_PLAN_PRIV_H

#include "host/matrix/axis.h"
#include "host/matrix/plan.h"

#define PLAN_AXES_MAX 128

/* One combination of values, one repeat of it. */
struct point {
	unsigned at[PLAN_AXES_MAX]; /* index into each axis' values */
	unsigned kernel, compare, repeat;
	size_t block; /* rank among combinations of all other axes */
	size_t place; /* where the shuffle of its repeat puts the block */
	uint64_t sort[3];
};

struct points {
	struct point *list;
	size_t n, size;
};

/* An empty cell with all its parts; NULL: no memory. */
Bay__Cell *plan_new_cell(void);

/* Fill a cell from one point.
 *   same  out: the point differs from an earlier one only in keys that mean
 *         nothing here: a chunk for a mirror
 * 0, -ENOMEM, -ENODEV: too few disks. */
int plan_fill_cell(const struct matrix *m, const unsigned *at,
		   struct axis_cell *c, bool *same);

/* Whether the product is small enough. 0, -E2BIG and a sentence. */
int plan_check_product(const struct matrix *m, struct err *err);

/* Find the points of a matrix, each as often as it is repeated.
 *   disks   with those of the matrix or the bench; its cell is not used
 *   points  empty; the caller frees its list in any case
 * 0 with at least one point; an error of plan_make() and a sentence. */
int plan_find_points(const struct matrix *m, const struct axis_cell *disks,
		     struct points *points, struct err *err);

/* Put them into the order in which they run. 0, -ENOMEM. */
int plan_order_points(const struct matrix *m, struct points *p);

#endif
