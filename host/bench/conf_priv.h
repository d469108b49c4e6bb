/* host/bench/conf_priv.h - what the files of conf share. */
#ifndef HOST_BENCH_CONF_PRIV_H
#define HOST_BENCH_CONF_PRIV_H

#include <yaml.h>

#include "host/bench/conf_load.h"
#include "host/util/buf.h"

/* Deepest nesting that a schema of ours reaches, with room to spare. */
#define CONF_DEPTH_MAX 16

/* Of a path and of its words. */
#define CONF_PATH_BYTES 512

struct conf {
	char *name;
	char *text;
	yaml_document_t doc;
};

/* A node of the tree by its number. */
yaml_node_t *conf_node(const struct conf *f, int id);

/* A path as the file's reader would write it: "[3][0]" is "params.n"; what is
 * not in the file is left out. "" for the top. */
const char *conf_words(const struct conf *f, const char *path,
		       char words[CONF_PATH_BYTES]);

/* Which pair of the mapping at path has that key, for a path "[i]": the key
 * may hold dots and brackets itself. */
size_t conf_pair(const struct conf *f, const char *path, const char *key);

/* The value of a mapping's field; NULL: it has none of that name. */
const cyaml_schema_value_t *conf_field(const cyaml_schema_value_t *map,
				       const char *key, size_t len);

/* What the schema sees of the tree. libcyaml takes 1h for 1 and 010 for 8, so
 * whole numbers are checked here. The caller frees out in any case. 0,
 * -EINVAL and a sentence, -ENOMEM. */
int conf_normalise(const struct conf *f, const cyaml_schema_value_t *schema,
		   conf_shape_fn fn, struct buf *out, struct err *err);

#endif
