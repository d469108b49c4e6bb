/* host/bench/conf_load.h - from the tree of a YAML file to a struct, checked by
 * a libcyaml schema. */
#ifndef HOST_BENCH_CONF_LOAD_H
#define HOST_BENCH_CONF_LOAD_H

#include <cyaml/cyaml.h>

#include "host/bench/conf.h"

/* How the value of a key reaches the schema. */
enum conf_shape {
	CONF_AS_IS,
	CONF_LIST,  /* one scalar stands for a list of one */
	CONF_PAIRS, /* a mapping of free keys, {n: [1, 10], bs: 4k}, becomes
		     * [{name: n, values: [1, 10]}, {name: bs, values: [4k]}] */
	CONF_RULES, /* a list of such mappings: each becomes {pairs: [...]} */
	CONF_RULE,  /* one of these */
	CONF_VALUE, /* one scalar */
	CONF_TYPE,  /* one scalar stands for {type: scalar} */
};

/* The shape of a key, by the key of the mapping around it ("" at the top). */
typedef enum conf_shape (*conf_shape_fn)(const char *parent, const char *key);

/* Load by the schema, whose top value is a pointer to a mapping.
 *   fn    may be NULL: all as it is
 *   data  freed with conf_data_free(); valid without f
 * 0, -EINVAL, -ENOMEM; err says where and why. */
int conf_load(const struct conf *f, const cyaml_schema_value_t *schema,
	      conf_shape_fn fn, void **data, struct err *err);

void conf_data_free(const cyaml_schema_value_t *schema, void *data);

#endif
