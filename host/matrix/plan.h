/* host/matrix/plan.h - from a matrix to ordered cells. Pure: the same matrix,
 * disks and seed give the same cells in the same order with the same keys. */
#ifndef HOST_MATRIX_PLAN_H
#define HOST_MATRIX_PLAN_H

#include "host/matrix/matrix.h"
#include "proto/result.pb-c.h"

#define PLAN_CELLS_MAX 100000u
#define PLAN_KEY_BYTES 33 /* 32 hexadecimal digits */

struct plan {
	Bay__Cell **cell; /* in the order in which they run */
	size_t n;
	unsigned boots;    /* changes of kernel, the first included */
	double estimate_s; /* before anything was measured */
};

/* Multiply the axes out, apply include and exclude, and order the cells.
 *   serial  the bench's disks in order; used where the matrix names none
 * 0; -ENODEV: a layout wants more disks; -E2BIG: more than PLAN_CELLS_MAX;
 * -EINVAL: a value that its workload refuses, a rule without a cell, nothing
 * is left; -ENOMEM. err names file and line. Free with plan_free(). */
int plan_make(const struct matrix *m, const char *const *serial,
	      unsigned n_serial, struct plan *out, struct err *err);
void plan_free(struct plan *p);

/* The cell's stable key: a hash of everything in it but key, case_name and
 * order, so that a matrix may grow without renaming its cells. 0, -ENOMEM. */
int plan_cell_key(const Bay__Cell *cell, char key[PLAN_KEY_BYTES]);

/* Expected time of a cell without any measurement, s. */
double plan_cell_estimate_s(const Bay__Cell *cell);

#endif
