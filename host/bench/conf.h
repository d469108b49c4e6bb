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

/* Which scalars stand for a list of one: true for the key's value. depth is 1
 * for keys of the top mapping. */
typedef bool (*conf_list_fn)(const char *key, unsigned depth,
			     const char *parent);

/* Let a scalar stand where the schema wants a list, for the keys that fn
 * accepts. Call before conf_load(). 0, -ENOMEM. */
int conf_wrap_lists(struct conf *f, conf_list_fn fn);

/* Load by the schema (its top value a pointer to a mapping). *data is freed
 * with conf_data_free() and stays valid without f. 0, -EINVAL, -ENOMEM;
 * conf_error() says why. */
int conf_load(struct conf *f, const cyaml_schema_value_t *schema, void **data);

void conf_data_free(const cyaml_schema_value_t *schema, void *data);

/* Line (from 1) of a key or list entry by its path, e.g. "disks[1].serial";
 * the line of the key itself for mappings. 0: not there. */
unsigned conf_line(const struct conf *f, const char *path);

/* Record "FILE:LINE: text" for the deepest part of path that exists, and
 * return -EINVAL. */
int conf_fail(struct conf *f, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

const char *conf_error(const struct conf *f);

#endif
