#include "host/array/array.h"

#include <errno.h>

#define RAID0_CHUNK_MIN_KIB 4u
#define RAID0_CHUNK_MAX_KIB 1048576u

static int raid0_check(const struct array_spec *spec, struct err *err)
{
	uint32_t chunk = spec->chunk_kib;

	if (chunk == 0)
		return 0;
	if (chunk < RAID0_CHUNK_MIN_KIB || chunk > RAID0_CHUNK_MAX_KIB ||
	    (chunk & (chunk - 1)))
		return err_set(err, -EINVAL,
			       "chunk_kib %u is not a power of two from %u to "
			       "%u",
			       chunk, RAID0_CHUNK_MIN_KIB, RAID0_CHUNK_MAX_KIB);
	return 0;
}

static void raid0_create_args(const struct array_spec *spec, struct argv *v)
{
	uint32_t chunk =
		spec->chunk_kib ? spec->chunk_kib : ARRAY_CHUNK_DEFAULT_KIB;

	argv_add(v, "--level=0");
	argv_addf(v, "--chunk=%uK", chunk);
}

const struct array_kind array_raid0 = {
	.layout = "raid0",
	.min_members = 2,
	.max_members = ARRAY_MEMBERS_MAX,
	.is_md = true,
	.create_args = raid0_create_args,
	.check = raid0_check,
};
