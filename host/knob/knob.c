#include "host/knob/knob.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/util/fs.h"
#include "host/util/parse.h"

const struct knob_kind *knob_kind_find(const char *name)
{
	for (const struct knob_kind *k = knob_kinds; k->name; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

static int knob_check_text(const struct knob_kind *kind, const char *value,
			   struct err *err)
{
	size_t n = strlen(value);

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)value[i];

		if (!isprint(c) && c != '\t')
			return err_set(err, -EINVAL,
				       "%s: the value is not one line of text",
				       kind->name);
		if (kind->form == KNOB_WORD && isspace(c))
			return err_set(err, -EINVAL, "%s: one word, not \"%s\"",
				       kind->name, value);
	}
	if (n == 0 || n >= KNOB_VALUE_BYTES)
		return err_set(err, -EINVAL,
			       "%s: the value is empty or longer than %u bytes",
			       kind->name, KNOB_VALUE_BYTES - 1);
	return 0;
}

int knob_check_value(const struct knob_kind *kind, const char *value,
		     struct err *err)
{
	uint64_t v;

	if (kind->form != KNOB_NUMBER)
		return knob_check_text(kind, value, err);
	if (parse_u64_range(value, kind->min, kind->max, &v) == 0)
		return 0;
	return err_set(err, -EINVAL,
		       "%s: \"%.40s\" is not a number from %" PRIu64
		       " to %" PRIu64,
		       kind->name, value, kind->min, kind->max);
}

void knob_shown_value(enum knob_form form, char *line)
{
	char *open = strchr(line, '[');
	char *close = open ? strchr(open, ']') : NULL;

	if (form != KNOB_WORD || !close)
		return;
	*close = '\0';
	memmove(line, open + 1, strlen(open + 1) + 1);
}

static int knob_path(char path[KNOB_PATH_BYTES], const char *root,
		     const char *middle, const char *rest)
{
	int n = snprintf(path, KNOB_PATH_BYTES, "%s%s%s", root, middle, rest);

	return n < 0 || n >= (int)KNOB_PATH_BYTES ? -ENAMETOOLONG : 0;
}

/* vm.dirty_ratio or vm/dirty_ratio; nothing that leaves /proc/sys. */
static int knob_sysctl_name(const char *target, char *name, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_./-";
	size_t n = strlen(target);

	if (n == 0 || n >= KNOB_PATH_BYTES || strspn(target, allowed) != n ||
	    strstr(target, "..") || target[0] == '/' || target[0] == '.')
		return err_set(err, -EINVAL,
			       "\"%.60s\" is not the name of a sysctl", target);
	for (size_t i = 0; i <= n; i++)
		name[i] = (char)(target[i] == '.' ? '/' : target[i]);
	return 0;
}

/* A sysctl that has a row of its own keeps that row's twin and range. */
static const struct knob_kind *knob_row_of_sysctl(const char *name)
{
	for (const struct knob_kind *k = knob_kinds; k->name; k++) {
		if (k->scope == KNOB_MACHINE && strcmp(k->path, name) == 0)
			return k;
	}
	return NULL;
}

static int knob_resolve_machine(struct knob_ref *ref, const char *root,
				const char *name)
{
	int rc = knob_path(ref->path, root, "/proc/sys/", name);

	if (!rc && ref->kind->twin)
		rc = knob_path(ref->twin, root, "/proc/sys/", ref->kind->twin);
	return rc;
}

static int knob_resolve_queue(struct knob_ref *ref, const char *root,
			      const char *node)
{
	char middle[KNOB_PATH_BYTES];
	int rc;

	(void)snprintf(middle, sizeof(middle), "/sys/block/%s/", node);
	rc = knob_path(ref->path, root, middle, ref->kind->path);
	if (!rc)
		rc = knob_path(ref->guard, root, middle, "diskseq");
	return rc;
}

int knob_resolve(struct knob_ref *ref, const struct knob_kind *kind,
		 const char *root, const char *node, const char *target,
		 struct err *err)
{
	char name[KNOB_PATH_BYTES];
	const struct knob_kind *row;
	int rc;

	*ref = (struct knob_ref){ .kind = kind };
	if (kind->scope == KNOB_MACHINE)
		return knob_resolve_machine(ref, root, kind->path);
	if (kind->scope == KNOB_QUEUE)
		return knob_resolve_queue(ref, root, node);
	rc = knob_sysctl_name(target, name, err);
	if (rc)
		return rc;
	row = knob_row_of_sysctl(name);
	if (row)
		ref->kind = row;
	return knob_resolve_machine(ref, root, name);
}

static int knob_files_read_line(void *arg, const char *path, char *text,
				size_t size)
{
	(void)arg;
	return fs_read_line(path, text, size);
}

static int knob_files_write_text(void *arg, const char *path, const char *text)
{
	(void)arg;
	return fs_write_text(path, text);
}

static int knob_files_load(void *arg, const char *path, struct buf *out)
{
	(void)arg;
	return fs_read(path, KNOB_MAX * sizeof(struct knob_entry), out);
}

static int knob_files_save(void *arg, const char *path, const void *data,
			   size_t len)
{
	(void)arg;
	return fs_write_atomic(path, data, len);
}

static int knob_files_remove(void *arg, const char *path)
{
	(void)arg;
	return fs_unlink_sync(path);
}

static int knob_files_set_aside(void *arg, const char *path, char *aside)
{
	(void)arg;
	return fs_set_aside(path, aside);
}

const struct knob_ops knob_ops_files = {
	.read_line = knob_files_read_line,
	.write_text = knob_files_write_text,
	.load = knob_files_load,
	.save = knob_files_save,
	.remove = knob_files_remove,
	.set_aside = knob_files_set_aside,
};
