/* host/bench/conf_priv.h - what the files of conf share. */
#ifndef HOST_BENCH_CONF_PRIV_H
#define HOST_BENCH_CONF_PRIV_H

#include <yaml.h>

#include "host/bench/conf.h"
#include "host/util/buf.h"

/* Deepest nesting that a schema of ours reaches, with room to spare. */
#define CONF_DEPTH_MAX 16

struct conf {
	char *name;
	yaml_document_t doc;
	char error[ERR_TEXT_BYTES];
};

/* A node of the tree by its number. */
yaml_node_t *conf_node(const struct conf *f, int id);

/* What the schema sees of the tree. The caller frees out in any case. 0;
 * -E2BIG: too deep or too large; -EINVAL: a key is no text; -ENOMEM. */
int conf_normalise(struct conf *f, conf_shape_fn fn, struct buf *out);

#endif
