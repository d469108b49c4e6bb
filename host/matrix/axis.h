/* host/matrix/axis.h - what a key of matrix.yaml does to a cell: one row of
 * axis_kinds a key. */
#ifndef HOST_MATRIX_AXIS_H
#define HOST_MATRIX_AXIS_H

#include "host/matrix/matrix.h"
#include "host/util/buf.h"
#include "proto/result.pb-c.h"

/* Alternatives of one key. Strings belong to the matrix. */
struct axis {
	const struct axis_kind *kind;
	const char *name;  /* in rules: layout, n, vm.swappiness, mkfs.xfs */
	const char *scope; /* mkfs, mount: the file system they are for */
	char **values;
	unsigned n;
	char path[64]; /* in the file, for errors */
};

/* What apply() works on: a cell that is being filled, and where its disks
 * come from. */
struct axis_cell {
	Bay__Cell *cell;
	const char *const *serial;
	unsigned n_serial;
};

struct axis_kind {
	const char *key;
	/* NULL when the value is good, else what it should be. */
	const char *(*check)(const char *value);
	/* Add the names of the good values, where they are a table of another
	 * module. 0, -ENOMEM. NULL: check() says them. */
	int (*known)(struct buf *out);
	/* Does it change anything in a cell with what was applied before it?
	 * NULL: always. */
	bool (*applies)(const struct axis *a, const Bay__Cell *cell);
	/* Fill the cell. 0, -ENOMEM, -ENODEV: too few disks. */
	int (*apply)(const struct axis *a, const char *value,
		     struct axis_cell *c);
	bool in_name;  /* named in the case even when it does not vary */
	bool own_name; /* has its own place in the case's name */
	bool key_name; /* named by its key: the scope stands elsewhere */
};

/* Build m->axes, in the order in which they are applied. 0, -ENOMEM. */
int axes_build(struct matrix *m);

#define AXIS_PLACE_BYTES 96

/* Where in the file its i-th value stands, a path for conf_fail(). */
const char *axis_place(const struct axis *a, unsigned i,
		       char path[AXIS_PLACE_BYTES]);

/* NULL: no axis of that name. */
const struct axis *axis_find(const struct matrix *m, const char *name);

#endif
