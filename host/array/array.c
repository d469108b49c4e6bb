#include "host/array/array.h"

#include <errno.h>
#include <string.h>

#include "host/array/md.h"

const struct array_kind *array_kind_find(const char *layout)
{
	for (size_t i = 0; array_kinds[i]; i++) {
		if (strcmp(array_kinds[i]->layout, layout) == 0)
			return array_kinds[i];
	}
	return NULL;
}

static bool array_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n >= 1 && n <= ARRAY_NAME_MAX && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static bool array_member_twice(const struct array_spec *spec, unsigned i)
{
	for (unsigned k = 0; k < i; k++) {
		if (strcmp(spec->member[k].serial, spec->member[i].serial) == 0)
			return true;
	}
	return false;
}

int array_check(const struct array_spec *spec, struct err *err)
{
	const struct array_kind *kind = spec->kind;

	if (!array_name_ok(spec->name))
		return err_set(err, -EINVAL,
			       "array name \"%.40s\" is not 1 to %u characters "
			       "of a-z, 0-9 and -",
			       spec->name, ARRAY_NAME_MAX);
	if (spec->count < kind->min_members || spec->count > kind->max_members)
		return err_set(err, -EINVAL,
			       "layout %s takes %u to %u disks, not %u",
			       kind->layout, kind->min_members,
			       kind->max_members, spec->count);
	for (unsigned i = 0; i < spec->count; i++) {
		if (array_member_twice(spec, i))
			return err_set(err, -EINVAL, "disk %s is named twice",
				       spec->member[i].serial);
	}
	return kind->check ? kind->check(spec, err) : 0;
}

unsigned array_copies(const struct array_spec *spec)
{
	return spec->kind->mirrored ? spec->count : 1;
}

int array_create(const struct array_env *env, const struct array_spec *spec,
		 char node[ARRAY_NODE_BYTES], struct err *err)
{
	node[0] = '\0';
	return spec->kind->is_md ? md_create(env, spec, node, err) : 0;
}

int array_assemble(const struct array_env *env, const struct array_spec *spec,
		   char node[ARRAY_NODE_BYTES], struct err *err)
{
	node[0] = '\0';
	return spec->kind->is_md ? md_assemble(env, spec, node, err) : 0;
}
