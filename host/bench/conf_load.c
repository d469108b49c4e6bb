/* A tree through libcyaml's schema, and what libcyaml has against it in words
 * of the file. */
#include "host/bench/conf_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 512

/* libcyaml's complaint, taken apart from its log. */
struct complaint {
	char text[256];
	struct {
		char field[64]; /* "" = a list entry or a bare mapping */
		unsigned entry; /* from 1, 0 = none */
	} at[CONF_DEPTH_MAX];   /* innermost first */
	unsigned depth;
	bool in_trace;
};

/* "  in mapping field 'NAME' (line: 3, column: 5)" and its two kin. */
static void note_place(struct complaint *c, const char *line)
{
	const char *name, *end;
	unsigned i = c->depth;

	if (i == CONF_DEPTH_MAX)
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
	struct buf text = { 0 };
	int ret;

	ret = conf_normalise(f, fn, &text);
	if (ret == 0)
		ret = load_text(f, &text, schema, data);
	else if (ret != -ENOMEM)
		ret = conf_fail(f, "",
				"the file is nested too deeply, too "
				"large, or has a key that is no text");
	buf_free(&text);
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
