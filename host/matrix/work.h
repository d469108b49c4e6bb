/* host/matrix/work.h - the workload of a cell as its kind sees it, before any
 * disk is touched. */
#ifndef HOST_MATRIX_WORK_H
#define HOST_MATRIX_WORK_H

#include <stdbool.h>

#include "host/util/buf.h"
#include "host/util/err.h"
#include "proto/result.pb-c.h"

bool work_is_kind(const char *kind);
/* Add the names that there are, with commas. 0, -ENOMEM. */
int work_list_kinds(struct buf *out);
int work_list_params(const char *kind, struct buf *out);
/* False as well for a kind that does not exist. */
bool work_has_param(const char *kind, const char *param);

/* Check the values together, as the agent will.
 *   seconds  out: the measured part's length, 0 = the kind cannot say; may be
 *            NULL
 *   wrong    out: the parameter at fault after -EINVAL, of the cell or static;
 *            NULL: none in particular; may be NULL
 * 0; -EINVAL and a sentence; -ENOMEM. */
int work_check(const Bay__Cell *cell, double *seconds, const char **wrong,
	       struct err *err);

#endif
