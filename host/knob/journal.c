/* The journal's file: a line "bay-knobs 1 BOOT_ID COUNT", then for each entry
 * six lines in the order of struct knob_entry, oldest first. It is replaced as
 * a whole by each change, so it is never half a file. */
#include "host/knob/knob.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/util/fs.h"
#include "host/util/parse.h"

#define KNOB_HEADER "bay-knobs 1 "

/* One line without its end into out. False: no whole line, or too long. */
static bool knob_take_line(const char **p, const char *end, char *out,
			   size_t size)
{
	const char *nl = memchr(*p, '\n', (size_t)(end - *p));
	size_t n;

	if (!nl)
		return false;
	n = (size_t)(nl - *p);
	if (n >= size || memchr(*p, '\0', n))
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p = nl + 1;
	return true;
}

static bool knob_take_entry(const char **p, const char *end,
			    struct knob_entry *e)
{
	return knob_take_line(p, end, e->path, sizeof(e->path)) &&
	       knob_take_line(p, end, e->before, sizeof(e->before)) &&
	       knob_take_line(p, end, e->twin, sizeof(e->twin)) &&
	       knob_take_line(p, end, e->twin_before, sizeof(e->twin_before)) &&
	       knob_take_line(p, end, e->guard, sizeof(e->guard)) &&
	       knob_take_line(p, end, e->guard_before,
			      sizeof(e->guard_before)) &&
	       e->path[0] == '/';
}

int knob_journal_parse(struct knob_journal *j, const char *text, size_t len,
		       char *boot_id, size_t boot_id_size)
{
	const char *p = text;
	const char *end = text + len;
	char line[128];
	char *space;
	uint32_t count;

	j->count = 0;
	if (!knob_take_line(&p, end, line, sizeof(line)) ||
	    !str_starts(line, KNOB_HEADER))
		return -EBADMSG;
	space = strrchr(line, ' ');
	if (space < line + strlen(KNOB_HEADER) ||
	    parse_u32_range(space + 1, 0, KNOB_MAX, &count))
		return -EBADMSG;
	*space = '\0';
	if (!str_copy(boot_id, boot_id_size, line + strlen(KNOB_HEADER)))
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		if (!knob_take_entry(&p, end, &j->entry[i]))
			return -EBADMSG;
	}
	if (p != end)
		return -EBADMSG;
	j->count = count;
	return 0;
}

static int knob_journal_save(struct knob_journal *j)
{
	struct buf b = { 0 };
	int rc;

	if (j->count == 0)
		return j->ops->remove(j->ops->arg, j->path);
	rc = buf_printf(&b, KNOB_HEADER "%s %u\n", j->boot_id, j->count);
	for (unsigned i = 0; !rc && i < j->count; i++) {
		const struct knob_entry *e = &j->entry[i];

		rc = buf_printf(&b, "%s\n%s\n%s\n%s\n%s\n%s\n", e->path,
				e->before, e->twin, e->twin_before, e->guard,
				e->guard_before);
	}
	if (!rc)
		rc = j->ops->save(j->ops->arg, j->path, b.data, b.len);
	buf_free(&b);
	return rc;
}

/* A damaged journal is kept for a person to read, out of the way. */
static int knob_journal_set_aside(struct knob_journal *j, struct err *err)
{
	char aside[KNOB_ASIDE_BYTES];
	int rc = j->ops->set_aside(j->ops->arg, j->path, aside);

	j->count = 0;
	if (rc)
		return err_sys(err, rc,
			       "%s is damaged and cannot be moved away",
			       j->path);
	return err_set(err, -EBADMSG,
		       "%s is damaged and was moved to %.300s; settings that "
		       "it held may still be changed",
		       j->path, aside);
}

int knob_journal_open(struct knob_journal *j, const struct knob_ops *ops,
		      const char *path, const char *boot_id, struct err *err)
{
	struct buf b = { 0 };
	char written_by[64] = "";
	int rc;

	*j = (struct knob_journal){ .ops = ops };
	if (!str_copy(j->path, sizeof(j->path), path) ||
	    !str_copy(j->boot_id, sizeof(j->boot_id), boot_id))
		return err_set(err, -ENAMETOOLONG, "%s: path too long", path);
	rc = ops->load(ops->arg, path, &b);
	if (rc == -ENOENT) {
		buf_free(&b);
		return 0;
	}
	/* Much too long, or its medium fails: damaged as well. */
	if (rc && rc != -EFBIG && rc != -EIO)
		rc = err_sys(err, rc, "cannot read %s", path);
	else if (rc || knob_journal_parse(j, buf_str(&b), b.len, written_by,
					  sizeof(written_by)))
		rc = knob_journal_set_aside(j, err);
	else if (strcmp(written_by, boot_id) != 0) {
		j->count = 0;
		rc = ops->remove(ops->arg, path);
	}
	buf_free(&b);
	return rc;
}

static struct knob_entry *knob_journal_find(struct knob_journal *j,
					    const char *path)
{
	for (unsigned i = 0; i < j->count; i++) {
		if (strcmp(j->entry[i].path, path) == 0)
			return &j->entry[i];
	}
	return NULL;
}

static int knob_read(struct knob_journal *j, const struct knob_ref *ref,
		     char value[KNOB_VALUE_BYTES], struct err *err)
{
	int rc = j->ops->read_line(j->ops->arg, ref->path, value,
				   KNOB_VALUE_BYTES);

	if (rc)
		return err_sys(err, rc, "%s cannot be read from %s",
			       ref->kind->name, ref->path);
	knob_shown_value(ref->kind->form, value);
	return 0;
}

/* Kernels before 5.14 have no diskseq: no guard then. */
static int knob_remember_guard(struct knob_journal *j, struct knob_entry *e)
{
	int rc;

	if (!e->guard[0])
		return 0;
	rc = j->ops->read_line(j->ops->arg, e->guard, e->guard_before,
			       sizeof(e->guard_before));
	if (rc == -ENOENT)
		e->guard[0] = e->guard_before[0] = '\0';
	return rc == -ENOENT ? 0 : rc;
}

/* Make the old value durable before anything changes. */
static int knob_remember(struct knob_journal *j, const struct knob_ref *ref,
			 const char *before, struct err *err)
{
	struct knob_entry *e;
	int rc = 0;

	if (knob_journal_find(j, ref->path))
		return 0;
	if (j->count == KNOB_MAX)
		return err_set(err, -ENOSPC,
			       "more than %u settings are changed at once",
			       KNOB_MAX);
	e = &j->entry[j->count];
	*e = (struct knob_entry){ 0 };
	(void)str_copy(e->path, sizeof(e->path), ref->path);
	(void)str_copy(e->before, sizeof(e->before), before);
	(void)str_copy(e->twin, sizeof(e->twin), ref->twin);
	(void)str_copy(e->guard, sizeof(e->guard), ref->guard);
	if (e->twin[0])
		rc = j->ops->read_line(j->ops->arg, e->twin, e->twin_before,
				       sizeof(e->twin_before));
	if (rc)
		return err_sys(err, rc, "cannot read %s", e->twin);
	rc = knob_remember_guard(j, e);
	if (rc)
		return err_sys(err, rc, "cannot read %s", e->guard);
	j->count++;
	rc = knob_journal_save(j);
	if (!rc)
		return 0;
	j->count--;
	return err_sys(err, rc, "cannot write the journal %s", j->path);
}

int knob_set(struct knob_journal *j, const struct knob_ref *ref,
	     const char *value, char *before, char *now, struct err *err)
{
	const struct knob_entry *known = knob_journal_find(j, ref->path);
	int rc = knob_check_value(ref->kind, value, err);

	before[0] = now[0] = '\0';
	if (!rc)
		rc = knob_read(j, ref, now, err);
	if (rc)
		return rc;
	(void)str_copy(before, KNOB_VALUE_BYTES, known ? known->before : now);
	if (strcmp(now, value) == 0)
		return 0;
	rc = knob_remember(j, ref, before, err);
	if (rc)
		return rc;
	rc = j->ops->write_text(j->ops->arg, ref->path, value);
	if (rc)
		return err_sys(err, rc, "%s cannot be set to %s",
			       ref->kind->name, value);
	rc = knob_read(j, ref, now, err);
	if (rc)
		return rc;
	if (strcmp(now, value) != 0)
		return err_set(err, -EIO,
			       "%s was set to %s, but the kernel made it %s",
			       ref->kind->name, value, now);
	return 0;
}

static bool knob_is_zero(const char *value)
{
	return strcmp(value, "0") == 0;
}

/* Whether the device that had this setting is gone, or its name is another's
 * now. -errno when that cannot be told. */
static int knob_device_gone(struct knob_journal *j, const struct knob_entry *e,
			    bool *gone)
{
	char now[KNOB_VALUE_BYTES] = "";
	int rc;

	*gone = false;
	if (!e->guard[0])
		return 0;
	rc = j->ops->read_line(j->ops->arg, e->guard, now, sizeof(now));
	if (rc && rc != -ENOENT && rc != -ENODEV)
		return rc;
	*gone = rc || strcmp(now, e->guard_before) != 0;
	return 0;
}

/* Of a pair the one that was not zero counts: writing the zero back is
 * refused by the kernel, and setting the other does it. */
static int knob_restore_entry(struct knob_journal *j,
			      const struct knob_entry *e, struct err *err)
{
	bool by_twin = e->twin[0] && knob_is_zero(e->before) &&
		       !knob_is_zero(e->twin_before);
	const char *path = by_twin ? e->twin : e->path;
	const char *value = by_twin ? e->twin_before : e->before;
	char now[KNOB_VALUE_BYTES] = "";
	bool gone;
	int rc = knob_device_gone(j, e, &gone);

	if (rc)
		return err_sys(err, rc, "cannot read %s", e->guard);
	if (gone)
		return 0;
	rc = j->ops->write_text(j->ops->arg, path, value);
	if (rc == -ENOENT || rc == -ENODEV)
		return 0;
	if (!rc)
		rc = j->ops->read_line(j->ops->arg, path, now, sizeof(now));
	if (rc)
		return err_sys(err, rc, "%s cannot be put back to %s", path,
			       value);
	if (strchr(now, '['))
		knob_shown_value(KNOB_WORD, now);
	if (strcmp(now, value) != 0)
		return err_set(err, -EIO,
			       "%s was put back to %s, but the kernel made it "
			       "%s",
			       path, value, now);
	return 0;
}

int knob_restore(struct knob_journal *j, unsigned *restored, struct err *err)
{
	struct err part = { 0 };
	unsigned kept = KNOB_MAX; /* failed ones are moved to the end */
	int first = 0;
	int rc;

	*restored = 0;
	for (unsigned i = j->count; i-- > 0;) {
		rc = knob_restore_entry(j, &j->entry[i], &part);
		if (!rc) {
			(*restored)++;
			continue;
		}
		if (!first)
			first = err_set(err, rc, "%s", part.text);
		j->entry[--kept] = j->entry[i];
	}
	memmove(j->entry, &j->entry[kept],
		(KNOB_MAX - kept) * sizeof(j->entry[0]));
	j->count = KNOB_MAX - kept;
	rc = knob_journal_save(j);
	if (rc && !first)
		first = err_sys(err, rc, "cannot write the journal %s",
				j->path);
	return first;
}
