/* host/bench/conf.h - YAML files checked by a libcyaml schema, with errors
 * that say file, line and what to do. Used for bench.yaml and matrix.yaml. */
#ifndef HOST_BENCH_CONF_H
#define HOST_BENCH_CONF_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stddef.h>

#include "host/util/err.h"

struct conf;

/* Largest file that is read. */
#define CONF_FILE_MAX (1u << 20)

/* Parse a file into a tree of nodes. The caller frees *out with
 * conf_free(). 0, an error of open(2) or read(2), -EINVAL: not YAML,
 * -EFBIG, -ENOMEM; err says it in one sentence. */
int conf_open(const char *path, struct conf **out, struct err *err);

/* The same from memory, which may be freed afterwards. */
int conf_parse(const char *name, const char *text, size_t len,
	       struct conf **out, struct err *err);

void conf_free(struct conf *f);

/* How the value of a key reaches the schema. */
enum conf_shape {
	CONF_AS_IS,
	CONF_LIST,  /* one scalar stands for a list of one */
	CONF_PAIRS, /* a mapping of free keys, {n: [1, 10], bs: 4k}, becomes
		     * [{name: n, values: [1, 10]}, {name: bs, values: [4k]}] */
	CONF_RULES, /* a list of such mappings: each becomes {pairs: [...]} */
	CONF_TYPE,  /* one scalar stands for {type: scalar} */
};

/* The shape of a key, by the key of the mapping around it ("" at the top). */
typedef enum conf_shape (*conf_shape_fn)(const char *parent, const char *key);

/* Load by the schema, whose top value is a pointer to a mapping.
 *   fn    may be NULL: all as it is
 *   data  freed with conf_data_free(); valid without f
 * 0, -EINVAL, -ENOMEM; conf_error() says why. */
int conf_load(struct conf *f, const cyaml_schema_value_t *schema,
	      conf_shape_fn fn, void **data);

void conf_data_free(const cyaml_schema_value_t *schema, void *data);

/* Line (from 1) of a key or list entry by its path, e.g. "disks[1].serial";
 * the line of the key itself for mappings; [i] of a mapping is its
 * i-th pair. 0: not there. */
unsigned conf_line(const struct conf *f, const char *path);

/* Record "FILE:LINE: text" for the deepest part of path that exists, and
 * return -EINVAL. */
int conf_fail(struct conf *f, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

const char *conf_error(const struct conf *f);

#endif
