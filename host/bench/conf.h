/* host/bench/conf.h - YAML files of ours, bench.yaml and matrix.yaml, as a tree
 * that knows its lines, so that errors can say where. See conf_load.h for the
 * way from the tree to a struct. */
#ifndef HOST_BENCH_CONF_H
#define HOST_BENCH_CONF_H

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

/* All of the file as it was read; valid until conf_free(). */
const char *conf_text(const struct conf *f);

/* Line (from 1) of a key or list entry by its path, e.g. "disks[1].serial";
 * the line of the key itself for mappings; [i] of a mapping is its
 * i-th pair. 0: not there. */
unsigned conf_line(const struct conf *f, const char *path);

/* Record "FILE:LINE: text" in err and return code. The line is that of path;
 * parts of it that are not there are passed over, and "" is the top. The text
 * is kept to one line: control characters become '?'. */
int conf_fail(const struct conf *f, struct err *err, int code, const char *path,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
