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
	if (ret == -EFBIG)
		err_set(err, ret,
			"%s: is larger than %u KiB; a bench or a matrix is "
			"not, is it another file?",
			path, CONF_FILE_MAX / 1024);
	else if (ret < 0)
		err_sys(err, ret, "cannot read %s", path);
	else
		ret = conf_parse(path, buf_str(&text), text.len, out, err);
	buf_free(&text);
	return ret;
}

static size_t line_of(const char *text, size_t offset)
{
	size_t line = 1;

	while (offset > 0)
		line += text[--offset] == '\n';
	return line;
}

static bool is_indented_by_tab(const char *text, size_t line)
{
	while (line-- > 0) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return memchr(text, '\t', strspn(text, " \t")) != NULL;
}

/* libyaml's complaint. A reader's error has an offset and no mark. */
static int not_yaml(const struct conf *f, const yaml_parser_t *p,
		    struct err *err)
{
	size_t line = p->problem_mark.line;

	if (p->error == YAML_MEMORY_ERROR)
		return err_sys(err, -ENOMEM, "%s", f->name);
	if (p->error == YAML_READER_ERROR)
		return err_set(err, -EINVAL, "%s:%zu: is not UTF-8 text: %s",
			       f->name, line_of(f->text, p->problem_offset),
			       p->problem ? p->problem : "broken");
	if (is_indented_by_tab(f->text, line))
		return err_set(err, -EINVAL,
			       "%s:%zu: is not YAML: the line is indented with "
			       "a tab; use spaces",
			       f->name, line + 1);
	return err_set(err, -EINVAL, "%s:%zu: is not YAML: %s%s%s", f->name,
		       line + 1, p->problem ? p->problem : "broken",
		       p->context ? ", " : "", p->context ? p->context : "");
}

/* What follows '---' would be left unread without a word. */
static int check_end(const struct conf *f, yaml_parser_t *p, struct err *err)
{
	yaml_document_t more;
	const yaml_node_t *root;
	int ret = 0;

	if (!yaml_parser_load(p, &more))
		return not_yaml(f, p, err);
	root = yaml_document_get_root_node(&more);
	if (root)
		ret = err_set(err, -EINVAL,
			      "%s:%zu: a second document begins; a file holds "
			      "one",
			      f->name, root->start_mark.line + 1);
	yaml_document_delete(&more);
	return ret;
}

static int check_root(const struct conf *f, struct err *err)
{
	const yaml_node_t *root =
		yaml_document_get_root_node((yaml_document_t *)&f->doc);

	if (root && root->type == YAML_MAPPING_NODE)
		return 0;
	return err_set(err, -EINVAL, "%s:%zu: must hold 'key: value' lines",
		       f->name, root ? root->start_mark.line + 1 : 1);
}

static int parse_tree(struct conf *f, size_t len, struct err *err)
{
	yaml_parser_t parser;
	int ret;

	if (!yaml_parser_initialize(&parser))
		return err_sys(err, -ENOMEM, "%s", f->name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)f->text,
				     len);
	/* A document that could not be loaded is empty. */
	ret = yaml_parser_load(&parser, &f->doc) ? check_root(f, err)
						 : not_yaml(f, &parser, err);
	if (ret == 0)
		ret = check_end(f, &parser, err);
	yaml_parser_delete(&parser);
	return ret;
}

int conf_parse(const char *name, const char *text, size_t len,
	       struct conf **out, struct err *err)
{
	const char *nul = len ? memchr(text, 0, len) : NULL;
	struct conf *f;
	int ret;

	if (nul)
		return err_set(err, -EINVAL,
			       "%s:%zu: is not a YAML file of UTF-8 text", name,
			       line_of(text, (size_t)(nul - text)));
	f = calloc(1, sizeof(*f));
	if (!f)
		return err_sys(err, -ENOMEM, "%s", name);
	f->name = strdup(name);
	f->text = strndup(text, len);
	ret = f->name && f->text ? parse_tree(f, len, err)
				 : err_sys(err, -ENOMEM, "%s", name);
	if (ret < 0)
		conf_free(f);
	else
		*out = f;
	return ret;
}

void conf_free(struct conf *f)
{
	if (!f)
		return;
	yaml_document_delete(&f->doc);
	free(f->name);
	free(f->text);
	free(f);
}

const char *conf_text(const struct conf *f)
{
	return f->text;
}

/* ---- places ----------------------------------------------------------- */

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

/* One step of a path in the tree. */
struct place {
	const yaml_node_t *node;
	const yaml_node_t *key; /* of node in its mapping; NULL: in a list */
	size_t line;            /* from 0 */
	unsigned entry;         /* in its list */
	bool alias;             /* node stands elsewhere: line stays */
};

static size_t mark(const yaml_node_t *n)
{
	return n->start_mark.index;
}

/* What an alias stands for comes before it in the file. */
static void enter_value(struct place *at, const yaml_node_t *key,
			const yaml_node_t *value)
{
	if (!at->alias)
		at->line = key->start_mark.line;
	at->alias |= mark(value) < mark(key);
	at->node = value;
	at->key = key;
}

static bool enter_key(const struct conf *f, struct place *at, const char *key,
		      size_t len)
{
	const yaml_node_pair_t *p;

	if (at->node->type != YAML_MAPPING_NODE)
		return false;
	for (p = at->node->data.mapping.pairs.start;
	     p < at->node->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = conf_node(f, p->key);

		if (!scalar_is(k, key, len))
			continue;
		enter_value(at, k, conf_node(f, p->value));
		return true;
	}
	return false;
}

static bool enter_pair(const struct conf *f, struct place *at, size_t i)
{
	const yaml_node_pair_t *p = at->node->data.mapping.pairs.start;

	if (i >= (size_t)(at->node->data.mapping.pairs.top - p))
		return false;
	p += i;
	enter_value(at, conf_node(f, p->key), conf_node(f, p->value));
	return true;
}

/* The i-th entry of a list, or pair of a mapping. */
static bool enter_entry(const struct conf *f, struct place *at, size_t i)
{
	const yaml_node_t *n = at->node, *value, *before = n;
	const yaml_node_item_t *items;

	if (n->type == YAML_MAPPING_NODE)
		return enter_pair(f, at, i);
	if (n->type != YAML_SEQUENCE_NODE)
		return false;
	items = n->data.sequence.items.start;
	if (i >= (size_t)(n->data.sequence.items.top - items))
		return false;
	value = conf_node(f, items[i]);
	if (i)
		before = conf_node(f, items[i - 1]);
	at->alias |=
		mark(value) < mark(n) || (i && mark(value) <= mark(before));
	if (!at->alias)
		at->line = value->start_mark.line;
	at->node = value;
	at->key = NULL;
	at->entry = (unsigned)i;
	return true;
}

/* Take the first step of *path and move it behind. False: not there. */
static bool enter(const struct conf *f, struct place *at, const char **path)
{
	const char *p = *path;
	char *end;
	size_t len;

	if (*p == '[') {
		size_t i = strtoul(p + 1, &end, 10);

		*path = *end == ']' ? end + 1 : end;
		return enter_entry(f, at, i);
	}
	p += *p == '.';
	len = strcspn(p, ".[");
	*path = p + len;
	return enter_key(f, at, p, len);
}

static struct place top(const struct conf *f)
{
	const yaml_node_t *n =
		yaml_document_get_root_node((yaml_document_t *)&f->doc);

	return (struct place){ .node = n, .line = n->start_mark.line };
}

/* As far as the path exists. Returns whether all of it did. */
static bool walk(const struct conf *f, const char *path, struct place *at)
{
	bool all = true;

	*at = top(f);
	while (*path)
		all &= enter(f, at, &path);
	return all;
}

size_t conf_pair(const struct conf *f, const char *path, const char *key)
{
	const yaml_node_pair_t *p;
	struct place at;
	size_t i = 0;

	walk(f, path, &at);
	if (at.node->type != YAML_MAPPING_NODE)
		return 0;
	for (p = at.node->data.mapping.pairs.start;
	     p < at.node->data.mapping.pairs.top; p++, i++)
		if (scalar_is(conf_node(f, p->key), key, strlen(key)))
			break;
	return i;
}

const char *conf_words(const struct conf *f, const char *path,
		       char words[CONF_PATH_BYTES])
{
	struct place at = top(f);
	size_t n = 0;

	words[0] = '\0';
	while (*path && n + 100 < CONF_PATH_BYTES) {
		if (!enter(f, &at, &path))
			continue;
		if (at.key && at.key->type == YAML_SCALAR_NODE)
			n += (size_t)snprintf(words + n, CONF_PATH_BYTES - n,
					      "%s%.80s", n ? "." : "",
					      at.key->data.scalar.value);
		else
			n += (size_t)snprintf(words + n, CONF_PATH_BYTES - n,
					      "[%u]", at.entry);
	}
	return words;
}

unsigned conf_line(const struct conf *f, const char *path)
{
	struct place at;

	return walk(f, path, &at) ? (unsigned)at.line + 1 : 0;
}

int conf_fail(const struct conf *f, struct err *err, int code, const char *path,
	      const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES], *p;
	struct place at;
	va_list ap;

	walk(f, path, &at);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return err_set(err, code, "%s:%zu: %s", f->name, at.line + 1, text);
}
