/* host/rig/rig_bench.h - where the rig of a bench description is. */
#ifndef HOST_RIG_RIG_BENCH_H
#define HOST_RIG_RIG_BENCH_H

#include <stddef.h>

#include "host/bench/bench.h"
#include "host/rig/rig.h"

/* Fill *a from b, whose texts it borrows.
 *   path  memory for a path made here, as long as *a is used
 * 0; -EINVAL: the bench has no rig or a bad USB id; -ENAMETOOLONG. */
int rig_bench_address(const struct bench *b, struct rig_address *a, char *path,
		      size_t size, struct err *err);

#endif
