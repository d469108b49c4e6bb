#include "host/bench/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "host/util/fs.h"

/* Deepest nesting that a schema of ours reaches, with room to spare. */
#define DEPTH_MAX      16
#define PATH_MAX_BYTES 512

struct conf {
	char *name;
	char *text; /* what libcyaml reads; edited by conf_wrap_lists() */
	size_t len;
	yaml_document_t doc; /* for lines; always of the original text */
	char error[ERR_TEXT_BYTES];
};

/* libcyaml's complaint, taken apart from its log. */
struct complaint {
	char text[256];
	struct {
		char field[64]; /* "" = a list entry or a bare mapping */
		unsigned entry; /* from 1, 0 = none */
	} at[DEPTH_MAX];        /* innermost first */
	unsigned depth;
	bool in_trace;
};

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

static int parse_tree(struct conf *f, struct err *err)
{
	yaml_parser_t parser;
	int ret = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)f->text,
				     f->len);
	if (!yaml_parser_load(&parser, &f->doc)) {
		size_t line = parser.problem_mark.line;

		if (parser.context && parser.context_mark.line < line &&
		    !parser.problem)
			line = parser.context_mark.line;
		ret = err_set(err, -EINVAL, "%s:%zu: is not YAML: %s%s%s",
			      f->name, line + 1,
			      parser.problem ? parser.problem : "broken",
			      parser.context ? ", " : "",
			      parser.context ? parser.context : "");
	}
	yaml_parser_delete(&parser);
	return ret;
}

int conf_parse(const char *name, const char *text, size_t len,
	       struct conf **out, struct err *err)
{
	const yaml_node_t *root;
	struct conf *f;
	int ret;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	if (len > CONF_FILE_MAX || (len && memchr(text, 0, len)))
		return err_set(err, -EINVAL,
			       "%s: is not a YAML file of UTF-8 text", name);
	ret = err_sys(err, -ENOMEM, "%s", name);
	f = calloc(1, sizeof(*f));
	if (!f)
		return ret;
	f->name = strdup(name);
	f->text = malloc(len + 1);
	if (!f->name || !f->text)
		goto err_free;
	memcpy(f->text, text, len);
	f->text[len] = '\0';
	f->len = len;
	ret = parse_tree(f, err);
	if (ret < 0)
		goto err_free;
	root = yaml_document_get_root_node(&f->doc);
	if (!root || root->type != YAML_MAPPING_NODE) {
		ret = err_set(err, -EINVAL,
			      "%s:%zu: must hold 'key: value' lines", name,
			      root ? root->start_mark.line + 1 : 1);
		goto err_tree;
	}
	*out = f;
	return 0;

err_tree:
	yaml_document_delete(&f->doc);
err_free:
	free(f->text);
	free(f->name);
	free(f);
	return ret;
}

void conf_free(struct conf *f)
{
	if (!f)
		return;
	yaml_document_delete(&f->doc);
	free(f->text);
	free(f->name);
	free(f);
}

const char *conf_error(const struct conf *f)
{
	return f->error;
}

/* ---- lines ------------------------------------------------------------ */

static yaml_node_t *node_of(const struct conf *f, int id)
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
		const yaml_node_t *k = node_of(f, p->key);

		if (!scalar_is(k, key, len))
			continue;
		value = node_of(f, p->value);
		*line = k->start_mark.line;
	}
	return value;
}

static yaml_node_t *child_entry(const struct conf *f, const yaml_node_t *n,
				size_t i, size_t *line)
{
	yaml_node_t *value;

	if (n->type != YAML_SEQUENCE_NODE)
		return NULL;
	if (n->data.sequence.items.start + i >= n->data.sequence.items.top)
		return NULL;
	value = node_of(f, n->data.sequence.items.start[i]);
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

/* ---- one value where a list may stand --------------------------------- */

struct edit {
	size_t start, end; /* bytes of the scalar */
	bool plain;
};

struct edits {
	struct edit *list;
	size_t n, size;
};

/* libyaml counts characters, edits need bytes. */
static size_t byte_offset(const char *text, size_t len, size_t chars)
{
	size_t i = 0;

	while (i < len && chars) {
		i++;
		while (i < len && ((unsigned char)text[i] & 0xc0) == 0x80)
			i++;
		chars--;
	}
	return i;
}

static int note_scalar(struct conf *f, struct edits *e, const yaml_node_t *n)
{
	yaml_scalar_style_t style = n->data.scalar.style;
	struct edit edit;

	if (style == YAML_LITERAL_SCALAR_STYLE ||
	    style == YAML_FOLDED_SCALAR_STYLE)
		return 0;
	edit.start = byte_offset(f->text, f->len, n->start_mark.index);
	edit.end = byte_offset(f->text, f->len, n->end_mark.index);
	edit.plain = style == YAML_PLAIN_SCALAR_STYLE;
	/* Tags and anchors stay as they are and fail in the schema. */
	if (edit.start >= edit.end || strchr("!&*", f->text[edit.start]))
		return 0;
	if (e->n == e->size) {
		size_t size = e->size ? 2 * e->size : 32;
		struct edit *p = realloc(e->list, size * sizeof(*p));

		if (!p)
			return -ENOMEM;
		e->list = p;
		e->size = size;
	}
	e->list[e->n++] = edit;
	return 0;
}

static const char *key_text(const yaml_node_t *k)
{
	return k->type == YAML_SCALAR_NODE ? (char *)k->data.scalar.value : "";
}

static int find_scalars(struct conf *f, struct edits *e, const yaml_node_t *map,
			unsigned depth, const char *parent, conf_list_fn fn)
{
	const yaml_node_pair_t *p;
	int ret = 0;

	if (map->type != YAML_MAPPING_NODE)
		return 0;
	for (p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top && ret == 0; p++) {
		const char *key = key_text(node_of(f, p->key));
		const yaml_node_t *v = node_of(f, p->value);

		if (v->type == YAML_SCALAR_NODE && fn(key, depth, parent))
			ret = note_scalar(f, e, v);
	}
	return ret;
}

/* Every mapping directly below the root, and in lists below it. */
static int find_below(struct conf *f, struct edits *e, const yaml_node_t *root,
		      conf_list_fn fn)
{
	const yaml_node_pair_t *p;
	const yaml_node_item_t *i;
	int ret;

	ret = find_scalars(f, e, root, 1, "", fn);
	for (p = root->data.mapping.pairs.start;
	     p < root->data.mapping.pairs.top && ret == 0; p++) {
		const char *key = key_text(node_of(f, p->key));
		const yaml_node_t *v = node_of(f, p->value);

		ret = find_scalars(f, e, v, 2, key, fn);
		if (v->type != YAML_SEQUENCE_NODE)
			continue;
		for (i = v->data.sequence.items.start;
		     i < v->data.sequence.items.top && ret == 0; i++)
			ret = find_scalars(f, e, node_of(f, *i), 2, key, fn);
	}
	return ret;
}

static int by_start(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Plain text goes into single quotes, so that a comma in it is no separator
 * of the new list. */
static size_t put_wrapped(char *to, const char *from, size_t len, bool plain)
{
	size_t n = 0, i;

	to[n++] = '[';
	if (plain)
		to[n++] = '\'';
	for (i = 0; i < len; i++) {
		if (plain && from[i] == '\'')
			to[n++] = '\'';
		to[n++] = from[i];
	}
	if (plain)
		to[n++] = '\'';
	to[n++] = ']';
	return n;
}

static int apply_edits(struct conf *f, const struct edits *e)
{
	size_t from = 0, n = 0, i;
	char *text;

	text = malloc(2 * f->len + 4 * e->n + 1);
	if (!text)
		return -ENOMEM;
	for (i = 0; i < e->n; i++) {
		const struct edit *x = &e->list[i];

		if (x->start < from)
			continue; /* the same node through an alias */
		memcpy(text + n, f->text + from, x->start - from);
		n += x->start - from;
		n += put_wrapped(text + n, f->text + x->start,
				 x->end - x->start, x->plain);
		from = x->end;
	}
	memcpy(text + n, f->text + from, f->len - from);
	n += f->len - from;
	text[n] = '\0';
	free(f->text);
	f->text = text;
	f->len = n;
	return 0;
}

int conf_wrap_lists(struct conf *f, conf_list_fn fn)
{
	struct edits e = { 0 };
	int ret;

	ret = find_below(f, &e, yaml_document_get_root_node(&f->doc), fn);
	if (ret == 0 && e.n) {
		qsort(e.list, e.n, sizeof(*e.list), by_start);
		ret = apply_edits(f, &e);
	}
	free(e.list);
	return ret;
}

/* ---- loading by schema ------------------------------------------------ */

/* "  in mapping field 'NAME' (line: 3, column: 5)" and its two kin. */
static void note_place(struct complaint *c, const char *line)
{
	const char *name, *end;
	unsigned i = c->depth;

	if (i == DEPTH_MAX)
		return;
	memset(&c->at[i], 0, sizeof(c->at[i]));
	name = strchr(line, '\'');
	end = strstr(line, "' (line");
	if (strncmp(line, "  in mapping field", 18) == 0 && name && end > name)
		snprintf(c->at[i].field, sizeof(c->at[i].field), "%.*s",
			 (int)(end - name - 1), name + 1);
	else if (strncmp(line, "  in sequence entry", 19) == 0 && name)
		c->at[i].entry = (unsigned)strtoul(name + 1, NULL, 10);
	c->depth++;
}

static void on_log(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	struct complaint *c = ctx;
	char line[256];

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, "Load: Backtrace:") == 0)
		c->in_trace = true;
	else if (c->in_trace)
		note_place(c, line);
	else if (!c->text[0])
		snprintf(c->text, sizeof(c->text), "%s",
			 strncmp(line, "Load: ", 6) ? line : line + 6);
}

/* Outermost first; drop leaves out that many of the innermost fields. */
static void build_path(const struct complaint *c, unsigned drop, char *path,
		       size_t len)
{
	size_t n = 0;
	unsigned i;

	path[0] = '\0';
	for (i = c->depth; i > drop && n + 80 < len; i--) {
		if (c->at[i - 1].field[0])
			n += (size_t)snprintf(path + n, len - n, "%s%s",
					      n ? "." : "", c->at[i - 1].field);
		else if (c->at[i - 1].entry)
			n += (size_t)snprintf(path + n, len - n, "[%u]",
					      c->at[i - 1].entry - 1);
	}
}

static const cyaml_schema_value_t *field_schema(const cyaml_schema_value_t *map,
						const char *key, size_t len)
{
	const cyaml_schema_field_t *f;

	if (map->type != CYAML_MAPPING)
		return NULL;
	for (f = map->mapping.fields; f->key; f++)
		if (strlen(f->key) == len && strncmp(f->key, key, len) == 0)
			return &f->value;
	return NULL;
}

static const cyaml_schema_value_t *schema_at(const cyaml_schema_value_t *s,
					     const char *path)
{
	while (s && *path) {
		size_t len;

		if (*path == '[') {
			if (s->type != CYAML_SEQUENCE)
				return NULL;
			s = s->sequence.entry;
			path += strcspn(path, "]");
			path += *path == ']';
			continue;
		}
		path += *path == '.';
		len = strcspn(path, ".[");
		s = field_schema(s, path, len);
		path += len;
	}
	return s;
}

/* "(known: a, b)" or "(one of: x, y)", "" for other types. */
static void list_choices(const cyaml_schema_value_t *s, char *buf, size_t len)
{
	const char *sep = "";
	size_t n;
	unsigned i;

	buf[0] = '\0';
	if (!s || (s->type != CYAML_MAPPING && s->type != CYAML_ENUM))
		return;
	n = (size_t)snprintf(buf, len, " (known: ");
	for (i = 0; n + 40 < len; i++, sep = ", ") {
		const char *name;

		if (s->type == CYAML_MAPPING)
			name = s->mapping.fields[i].key;
		else
			name = i < s->enumeration.count
				       ? s->enumeration.strings[i].str
				       : NULL;
		if (!name)
			break;
		n += (size_t)snprintf(buf + n, len - n, "%s%.36s", sep, name);
	}
	snprintf(buf + n, len - n, ")");
}

static const char *after(const char *text, const char *start)
{
	size_t len = strlen(start);

	return strncmp(text, start, len) == 0 ? text + len : NULL;
}

static int explain_key(struct conf *f, const struct complaint *c,
		       const cyaml_schema_value_t *schema, const char *key)
{
	char map[PATH_MAX_BYTES], path[PATH_MAX_BYTES + 260], known[300];

	build_path(c, 0, map, sizeof(map));
	list_choices(schema_at(schema, map), known, sizeof(known));
	snprintf(path, sizeof(path), "%.500s%s%.200s", map, *map ? "." : "",
		 key);
	return conf_fail(f, path, "unknown key '%s'%s%s%s", key,
			 *map ? " in " : "", map, known);
}

static int explain(struct conf *f, const struct complaint *c,
		   const cyaml_schema_value_t *schema)
{
	char path[PATH_MAX_BYTES], known[300];
	const char *what;

	what = after(c->text, "Unexpected key: ");
	if (what)
		return explain_key(f, c, schema, what);
	what = after(c->text, "Missing required mapping field: ");
	if (what) {
		/* The innermost field is only the last one that was read. */
		build_path(c, c->depth && c->at[0].field[0], path,
			   sizeof(path));
		return conf_fail(f, path, "%s lacks the key '%s'",
				 *path ? path : f->name, what);
	}
	what = after(c->text, "Mapping field already seen: ");
	build_path(c, 0, path, sizeof(path));
	if (what)
		return conf_fail(f, path, "the key '%s' stands twice", what);
	list_choices(schema_at(schema, path), known, sizeof(known));
	return conf_fail(f, path, "%s: %s%s", *path ? path : "file",
			 *c->text ? c->text : "not accepted", known);
}

static cyaml_config_t config(struct complaint *c)
{
	return (cyaml_config_t){
		.log_fn = on_log,
		.log_ctx = c,
		.log_level = CYAML_LOG_ERROR,
		.mem_fn = cyaml_mem,
		.flags = CYAML_CFG_NO_ALIAS,
	};
}

int conf_load(struct conf *f, const cyaml_schema_value_t *schema, void **data)
{
	struct complaint c = { 0 };
	cyaml_config_t cfg = config(&c);
	cyaml_data_t *d = NULL;
	cyaml_err_t e;

	e = cyaml_load_data((const uint8_t *)f->text, f->len, &cfg, schema, &d,
			    NULL);
	if (e == CYAML_OK && d) {
		*data = d;
		return 0;
	}
	if (e == CYAML_ERR_OOM) {
		snprintf(f->error, sizeof(f->error), "%s: out of memory",
			 f->name);
		return -ENOMEM;
	}
	if (e == CYAML_ERR_ALIAS)
		snprintf(c.text, sizeof(c.text),
			 "anchors and aliases are not accepted here");
	return explain(f, &c, schema);
}

void conf_data_free(const cyaml_schema_value_t *schema, void *data)
{
	struct complaint c = { 0 };
	cyaml_config_t cfg = config(&c);

	if (data)
		cyaml_free(&cfg, schema, data, 0);
}
