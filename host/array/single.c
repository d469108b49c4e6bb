#include "host/array/array.h"

const struct array_kind array_single = {
	.layout = "single",
	.min_members = 1,
	.max_members = 1,
};
