/* host/knob/knob.h - kernel settings that a cell may change, and the journal
 * that puts them back. One table row a setting; see table.c. */
#ifndef HOST_KNOB_KNOB_H
#define HOST_KNOB_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/buf.h"
#include "host/util/err.h"

#define KNOB_PATH_BYTES  256u
#define KNOB_VALUE_BYTES 256u
#define KNOB_MAX         128u /* settings changed at one time */

enum knob_scope {
	KNOB_MACHINE, /* path is below /proc/sys */
	KNOB_QUEUE,   /* path is below /sys/block/NODE */
	KNOB_SYSCTL,  /* the target names it: vm.swappiness */
};

enum knob_form {
	KNOB_NUMBER, /* min..max */
	KNOB_WORD,   /* one word; the file shows "a [b] c" */
	KNOB_TEXT,   /* any line */
};

struct knob_kind {
	const char *name;
	enum knob_scope scope;
	const char *path;
	/* The other file of a pair of which the kernel zeroes one when the
	 * other is set (dirty_bytes and dirty_ratio); NULL: none. */
	const char *twin;
	enum knob_form form;
	uint64_t min, max;
};

/* Ended by a row without name. */
extern const struct knob_kind knob_kinds[];

/* NULL: no such knob. */
const struct knob_kind *knob_kind_find(const char *name);

/* -EINVAL and a sentence when value cannot be one of kind's. */
int knob_check_value(const struct knob_kind *kind, const char *value,
		     struct err *err);

/* One setting of this machine, with full paths. */
struct knob_ref {
	const struct knob_kind *kind;
	char path[KNOB_PATH_BYTES];
	char twin[KNOB_PATH_BYTES];  /* "" : none */
	char guard[KNOB_PATH_BYTES]; /* file that changes when the disk is
				      * another one; "" : none */
};

/* Files of a knob. node: kernel name of the device, for KNOB_QUEUE; target:
 * name of the sysctl, for KNOB_SYSCTL. -EINVAL, -ENAMETOOLONG. */
int knob_resolve(struct knob_ref *ref, const struct knob_kind *kind,
		 const char *root, const char *node, const char *target,
		 struct err *err);

/* What the journal does to the world: a seam for tests, which fail the n-th
 * call. Each returns 0 or -errno. */
struct knob_ops {
	int (*read_line)(void *arg, const char *path, char *text, size_t size);
	int (*write_text)(void *arg, const char *path, const char *text);
	int (*load)(void *arg, const char *path, struct buf *out);
	/* Durable, all or nothing. */
	int (*save)(void *arg, const char *path, const void *data, size_t len);
	int (*remove)(void *arg, const char *path);
	/* Durable, to a name that is free: aside, KNOB_ASIDE_BYTES. */
	int (*set_aside)(void *arg, const char *path, char *aside);
	void *arg;
};

#define KNOB_ASIDE_BYTES 1024u

extern const struct knob_ops knob_ops_files;

struct knob_entry {
	char path[KNOB_PATH_BYTES];
	char before[KNOB_VALUE_BYTES];
	char twin[KNOB_PATH_BYTES];
	char twin_before[KNOB_VALUE_BYTES];
	char guard[KNOB_PATH_BYTES];
	char guard_before[KNOB_VALUE_BYTES];
};

/* Invariant: while a setting differs from what it was, the file on disk holds
 * what it was. */
struct knob_journal {
	const struct knob_ops *ops;
	char path[KNOB_PATH_BYTES];
	char boot_id[64];
	struct knob_entry entry[KNOB_MAX]; /* oldest change first */
	unsigned count;
};

/* Read what an earlier agent left. Entries of another boot are dropped: the
 * settings died with that kernel. 0 or -errno; -EBADMSG: the file is damaged
 * and was moved aside. */
int knob_journal_open(struct knob_journal *j, const struct knob_ops *ops,
		      const char *path, const char *boot_id, struct err *err);

/* Journal, set, and read back. before (original value, kept over several sets)
 * and now have KNOB_VALUE_BYTES. -EINVAL: bad value; -ENOENT: this machine or
 * device has no such setting; -EIO: the kernel took another value. After a
 * failure knob_restore still puts everything back. */
int knob_set(struct knob_journal *j, const struct knob_ref *ref,
	     const char *value, char *before, char *now, struct err *err);

/* Put everything back, newest change first. restored: how many. The first
 * failure is in err and returned after the rest was tried; what failed stays
 * in the journal. Settings of a device that is gone or was replaced are
 * dropped: they went with it. */
int knob_restore(struct knob_journal *j, unsigned *restored, struct err *err);

/* The value out of a file's line: "a [b] c" gives b for KNOB_WORD. */
void knob_shown_value(enum knob_form form, char *line);

/* Text form of the journal, see journal.c. -EBADMSG. */
int knob_journal_parse(struct knob_journal *j, const char *text, size_t len,
		       char *boot_id, size_t boot_id_size);

#endif
