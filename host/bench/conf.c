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
	yaml_document_t doc;
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

	if (n->type == YAML_MAPPING_NODE) { /* CONF_PAIRS: the i-th pair */
		if (n->data.mapping.pairs.start + i >=
		    n->data.mapping.pairs.top)
			return NULL;
		value = node_of(f, n->data.mapping.pairs.start[i].key);
		*line = value->start_mark.line;
		return node_of(f, n->data.mapping.pairs.start[i].value);
	}
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

/* ---- from the tree to what the schema sees ----------------------------- */

/* libcyaml has neither "one value or a list" nor free keys, so it is given a
 * normal form of the tree: flow style, every scalar quoted. Lines are looked
 * up in the tree itself, so none are lost. */

struct frame {
	const yaml_node_t *node;
	size_t next;        /* child to write */
	enum conf_shape as; /* of this node */
	const char *key;    /* under which it stands, "" in lists */
	const char *close;  /* text after its last child */
};

struct normal {
	struct conf *f;
	struct buf out;
	struct frame stack[DEPTH_MAX];
	unsigned depth;
};

static int put_scalar(struct buf *out, const yaml_node_t *n)
{
	const char *s = (const char *)n->data.scalar.value;
	size_t i;
	int ret;

	ret = buf_append(out, "\"", 1);
	for (i = 0; ret == 0 && i < n->data.scalar.length; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			ret = buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			ret = buf_printf(out, "\\x%02x", c);
		else
			ret = buf_append(out, &s[i], 1);
	}
	return ret ? ret : buf_append(out, "\"", 1);
}

static const char *opening(const yaml_node_t *n, enum conf_shape as,
			   const char **close)
{
	bool map = n->type == YAML_MAPPING_NODE;

	if (map && as == CONF_RULES) {
		*close = "]}";
		return "{\"pairs\": [";
	}
	if (map && (as == CONF_AS_IS || as == CONF_TYPE)) {
		*close = "}";
		return "{";
	}
	*close = "]";
	return "[";
}

static int put_lone_scalar(struct buf *out, const yaml_node_t *n,
			   enum conf_shape as)
{
	const char *before = as == CONF_LIST   ? "["
			     : as == CONF_TYPE ? "{\"type\": "
					       : "";
	const char *after = as == CONF_LIST ? "]" : as == CONF_TYPE ? "}" : "";
	int ret = buf_printf(out, "%s", before);

	if (ret == 0)
		ret = put_scalar(out, n);
	return ret ? ret : buf_printf(out, "%s", after);
}

/* Write a scalar, or open a collection and push it. */
static int put_node(struct normal *w, const yaml_node_t *n, enum conf_shape as,
		    const char *key)
{
	struct frame *top;

	if (n->type == YAML_SCALAR_NODE)
		return put_lone_scalar(&w->out, n, as);
	if (w->depth == DEPTH_MAX || w->out.len > 4 * CONF_FILE_MAX)
		return -E2BIG;
	top = &w->stack[w->depth++];
	*top = (struct frame){ .node = n, .as = as, .key = key };
	/* A list of rules is a list; its entries are the rules. */
	return buf_printf(&w->out, "%s", opening(n, as, &top->close));
}

static int put_pair(struct normal *w, struct frame *top, conf_shape_fn fn)
{
	const yaml_node_pair_t *p;
	const yaml_node_t *k, *v;
	enum conf_shape as;
	bool named = top->as == CONF_PAIRS || top->as == CONF_RULES;
	const char *key;
	int ret;

	p = &top->node->data.mapping.pairs.start[top->next++];
	k = node_of(w->f, p->key);
	v = node_of(w->f, p->value);
	if (k->type != YAML_SCALAR_NODE)
		return -EINVAL;
	key = (const char *)k->data.scalar.value;
	ret = buf_printf(&w->out, "%s%s", top->next > 1 ? ", " : "",
			 named ? "{\"name\": " : "");
	if (ret == 0)
		ret = put_scalar(&w->out, k);
	if (ret == 0)
		ret = buf_printf(&w->out, named ? ", \"values\": " : ": ");
	if (ret < 0)
		return ret;
	as = named ? CONF_LIST : fn ? fn(top->key, key) : CONF_AS_IS;
	ret = put_node(w, v, as, key);
	if (ret < 0 || !named)
		return ret;
	if (v->type == YAML_SCALAR_NODE)
		return buf_append(&w->out, "}", 1);
	/* Closes with the list that was just opened. */
	top = &w->stack[w->depth - 1];
	top->close = strcmp(top->close, "]") == 0 ? "]}" : "}}";
	return 0;
}

static int put_entry(struct normal *w, struct frame *top)
{
	const yaml_node_t *n;

	n = node_of(w->f, top->node->data.sequence.items.start[top->next]);
	if (top->next++ > 0 && buf_append(&w->out, ", ", 2) < 0)
		return -ENOMEM;
	return put_node(w, n, top->as == CONF_RULES ? CONF_RULES : CONF_AS_IS,
			top->key);
}

static size_t child_count(const yaml_node_t *n)
{
	if (n->type == YAML_MAPPING_NODE)
		return (size_t)(n->data.mapping.pairs.top -
				n->data.mapping.pairs.start);
	return (size_t)(n->data.sequence.items.top -
			n->data.sequence.items.start);
}

static int normalise(struct normal *w, conf_shape_fn fn)
{
	int ret;

	ret = put_node(w, yaml_document_get_root_node(&w->f->doc), CONF_AS_IS,
		       "");
	while (ret == 0 && w->depth) {
		struct frame *top = &w->stack[w->depth - 1];

		if (top->next == child_count(top->node)) {
			ret = buf_printf(&w->out, "%s", top->close);
			w->depth--;
		} else if (top->node->type == YAML_MAPPING_NODE) {
			ret = put_pair(w, top, fn);
		} else {
			ret = put_entry(w, top);
		}
	}
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

__attribute__((format(printf, 3, 0))) static void
on_log(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
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
	/* What libcyaml expects is of the normal form, not of the file. */
	if (after(c->text, "Expecting "))
		return conf_fail(f, path,
				 "%s: has the wrong form; see matrix.yaml(5) "
				 "and bench.yaml(5)",
				 *path ? path : "file");
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
	};
}

static int load_text(struct conf *f, const struct buf *text,
		     const cyaml_schema_value_t *schema, void **data)
{
	struct complaint c = { 0 };
	cyaml_config_t cfg = config(&c);
	cyaml_data_t *d = NULL;
	cyaml_err_t e;

	e = cyaml_load_data((const uint8_t *)text->data, text->len, &cfg,
			    schema, &d, NULL);
	if (e == CYAML_OK && d) {
		*data = d;
		return 0;
	}
	if (e == CYAML_ERR_OOM)
		return -ENOMEM;
	return explain(f, &c, schema);
}

int conf_load(struct conf *f, const cyaml_schema_value_t *schema,
	      conf_shape_fn fn, void **data)
{
	struct normal w = { .f = f };
	int ret;

	ret = normalise(&w, fn);
	if (ret == 0)
		ret = load_text(f, &w.out, schema, data);
	else if (ret != -ENOMEM)
		ret = conf_fail(f, "",
				"the file is nested too deeply, too "
				"large, or has a key that is no text");
	buf_free(&w.out);
	if (ret == -ENOMEM)
		snprintf(f->error, sizeof(f->error), "%s: out of memory",
			 f->name);
	return ret;
}

void conf_data_free(const cyaml_schema_value_t *schema, void *data)
{
	struct complaint c = { 0 };
	cyaml_config_t cfg = config(&c);

	if (data)
		cyaml_free(&cfg, schema, data, 0);
}
