#include "host/array/array.h"

const struct array_kind *const array_kinds[] = {
	&array_single, &array_jbod, &array_raid0, &array_raid1, NULL,
};
