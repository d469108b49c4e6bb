/* host/matrix/name.h - the established grammar of case names:
 *
 *   bay/RAID0-2HDD-thresh=100M/xfs-10dd-1-6.12.9
 *       array      what varies fs  work  repeat, kernel release
 *
 * A single disk has no array part: bay/thresh=1M/..., or bay/single/... when
 * nothing else stands there. */
#ifndef HOST_MATRIX_NAME_H
#define HOST_MATRIX_NAME_H

#include "host/matrix/axis.h"

#define CASE_NAME_BYTES 512

/* The name without the kernel's part, which is known when it has run.
 *   at  index of the value on each axis of m
 *   c   the filled cell */
void case_name(const struct matrix *m, const unsigned *at, const Bay__Cell *c,
	       char name[CASE_NAME_BYTES]);

/* The name with a kernel release behind it ("" = none). */
void case_name_with_kernel(const char *case_name, const char *release,
			   char name[CASE_NAME_BYTES]);

#endif
