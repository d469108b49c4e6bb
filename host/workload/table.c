#include "host/workload/workload.h"

const struct workload_kind *const workload_kinds[] = {
	&workload_dd_write,
	NULL,
};
