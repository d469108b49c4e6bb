#include "host/workload/workload.h"

#include <stddef.h>

/* One line a kind; each is defined in the file of its name. */
#define WORKLOAD_KINDS(X) X(workload_dd_write)

#define DECLARE(kind) extern const struct workload_kind kind;
#define LIST(kind)    &(kind),

WORKLOAD_KINDS(DECLARE)

const struct workload_kind *const workload_kinds[] = {
	WORKLOAD_KINDS(LIST) NULL,
};
