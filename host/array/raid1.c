#include "host/array/array.h"

#include <errno.h>
#include <string.h>

static int raid1_check(const struct array_spec *spec, struct err *err)
{
	if (strcmp(spec->bitmap, "none") != 0 &&
	    strcmp(spec->bitmap, "internal") != 0)
		return err_set(err, -EINVAL,
			       "bitmap \"%.20s\" is neither none nor internal",
			       spec->bitmap);
	if (spec->chunk_kib)
		return err_set(err, -EINVAL, "raid1 has no chunk size");
	return 0;
}

/* --assume-clean: an initial resync would compete with the workload for hours
 * and proves nothing about an array that is about to be overwritten. */
static void raid1_create_args(const struct array_spec *spec, struct argv *v)
{
	argv_add(v, "--level=1");
	argv_addf(v, "--bitmap=%s", spec->bitmap);
	if (!spec->initial_sync)
		argv_add(v, "--assume-clean");
}

const struct array_kind array_raid1 = {
	.layout = "raid1",
	.min_members = 2,
	.max_members = ARRAY_MEMBERS_MAX,
	.is_md = true,
	.mirrored = true,
	.create_args = raid1_create_args,
	.check = raid1_check,
};
