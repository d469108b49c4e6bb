#include "host/bench/conf_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/util/fs.h"

/* ---- reading ---------------------------------------------------------- */

int conf_open(const char *path, struct conf **out, struct err *err)
{
	struct buf text = { 0 };
	int ret;

	ret = fs_read(path, CONF_FILE_MAX, &text);
	if (ret < 0)
		err_sys(err, ret, "cannot read %s", path);
	else
		ret = conf_parse(path, buf_str(&text), text.len, out, err);
	buf_free(&text);
	return ret;
}

static int parse_tree(struct conf *f, const char *text, size_t len,
		      struct err *err)
{
	yaml_parser_t parser;
	int ret = 0;

	if (!yaml_parser_initialize(&parser))
		return err_sys(err, -ENOMEM, "%s", f->name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &f->doc)) {
		ret = parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EINVAL;
		err_set(err, ret, "%s:%zu: is not YAML: %s%s%s", f->name,
			parser.problem_mark.line + 1,
			parser.problem ? parser.problem : "broken",
			parser.context ? ", " : "",
			parser.context ? parser.context : "");
	}
	yaml_parser_delete(&parser);
	return ret;
}

static int check_root(struct conf *f, struct err *err)
{
	const yaml_node_t *root = yaml_document_get_root_node(&f->doc);

	if (root && root->type == YAML_MAPPING_NODE)
		return 0;
	return err_set(err, -EINVAL, "%s:%zu: must hold 'key: value' lines",
		       f->name, root ? root->start_mark.line + 1 : 1);
}

int conf_parse(const char *name, const char *text, size_t len,
	       struct conf **out, struct err *err)
{
	struct conf *f;
	int ret;

	if (len > CONF_FILE_MAX || (len && memchr(text, 0, len)))
		return err_set(err, -EINVAL,
			       "%s: is not a YAML file of UTF-8 text", name);
	f = calloc(1, sizeof(*f));
	if (!f)
		return err_sys(err, -ENOMEM, "%s", name);
	f->name = strdup(name);
	ret = f->name ? parse_tree(f, text, len, err)
		      : err_sys(err, -ENOMEM, "%s", name);
	if (ret < 0)
		goto err_free;
	ret = check_root(f, err);
	if (ret < 0)
		goto err_tree;
	*out = f;
	return 0;

err_tree:
	yaml_document_delete(&f->doc);
err_free:
	free(f->name);
	free(f);
	return ret;
}

void conf_free(struct conf *f)
{
	if (!f)
		return;
	yaml_document_delete(&f->doc);
	free(f->name);
	free(f);
}

const char *conf_error(const struct conf *f)
{
	return f->error;
}

/* ---- lines ------------------------------------------------------------ */

yaml_node_t *conf_node(const struct conf *f, int id)
{
	return yaml_document_get_node((yaml_document_t *)&f->doc, id);
}

static bool scalar_is(const yaml_node_t *n, const char *s, size_t len)
{
	return n && n->type == YAML_SCALAR_NODE &&
	       n->data.scalar.length == len &&
	       memcmp(n->data.scalar.value, s, len) == 0;
}

/* The last pair with that key, so that a repeated key is found at its
 * repetition. */
static yaml_node_t *child_key(const struct conf *f, const yaml_node_t *n,
			      const char *key, size_t len, size_t *line)
{
	const yaml_node_pair_t *p;
	yaml_node_t *value = NULL;

	if (n->type != YAML_MAPPING_NODE)
		return NULL;
	for (p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *k = conf_node(f, p->key);

		if (!scalar_is(k, key, len))
			continue;
		value = conf_node(f, p->value);
		*line = k->start_mark.line;
	}
	return value;
}

static yaml_node_t *child_entry(const struct conf *f, const yaml_node_t *n,
				size_t i, size_t *line)
{
	yaml_node_t *value;

	if (n->type == YAML_MAPPING_NODE) { /* CONF_PAIRS: the i-th pair */
		if (n->data.mapping.pairs.start + i >=
		    n->data.mapping.pairs.top)
			return NULL;
		value = conf_node(f, n->data.mapping.pairs.start[i].key);
		*line = value->start_mark.line;
		return conf_node(f, n->data.mapping.pairs.start[i].value);
	}
	if (n->type != YAML_SEQUENCE_NODE)
		return NULL;
	if (n->data.sequence.items.start + i >= n->data.sequence.items.top)
		return NULL;
	value = conf_node(f, n->data.sequence.items.start[i]);
	if (value)
		*line = value->start_mark.line;
	return value;
}

/* Walk as far as the path exists. Returns whether all of it did. */
static bool walk(const struct conf *f, const char *path, size_t *line)
{
	const yaml_node_t *n;
	char *end;

	n = yaml_document_get_root_node((yaml_document_t *)&f->doc);
	*line = n->start_mark.line;
	while (n && *path) {
		size_t len;

		if (*path == '[') {
			n = child_entry(f, n, strtoul(path + 1, &end, 10),
					line);
			path = *end == ']' ? end + 1 : end;
			continue;
		}
		path += *path == '.';
		len = strcspn(path, ".[");
		n = child_key(f, n, path, len, line);
		path += len;
	}
	return n;
}

unsigned conf_line(const struct conf *f, const char *path)
{
	size_t line;

	return walk(f, path, &line) ? (unsigned)line + 1 : 0;
}

int conf_fail(struct conf *f, const char *path, const char *fmt, ...)
{
	size_t line;
	va_list ap;
	int n;

	walk(f, path, &line);
	n = snprintf(f->error, sizeof(f->error), "%s:%zu: ", f->name, line + 1);
	if (n < 0 || (size_t)n >= sizeof(f->error))
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(f->error + n, sizeof(f->error) - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}
