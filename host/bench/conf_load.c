/* A tree through libcyaml's schema, and what libcyaml has against it in words
 * of the file. */
#include "host/bench/conf_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const cyaml_schema_value_t *conf_field(const cyaml_schema_value_t *map,
				       const char *key, size_t len)
{
	const cyaml_schema_field_t *f;

	if (!map || map->type != CYAML_MAPPING)
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
		s = conf_field(s, path, len);
		path += len;
	}
	return s;
}

/* "a, b, c": the keys of a mapping, the words of an enum; "" for others. */
static void list_choices(const cyaml_schema_value_t *s, char *buf, size_t len)
{
	const char *sep = "";
	size_t n = 0;
	unsigned i;

	buf[0] = '\0';
	if (!s || (s->type != CYAML_MAPPING && s->type != CYAML_ENUM))
		return;
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
}

static const char *after(const char *text, const char *start)
{
	size_t len = strlen(start);

	return strncmp(text, start, len) == 0 ? text + len : NULL;
}

/* Where in the file, and what the schema has there. */
struct explained {
	const struct conf *f;
	struct err *err;
	const cyaml_schema_value_t *s; /* NULL: not known */
	char path[CONF_PATH_BYTES];
	char words[CONF_PATH_BYTES];
};

static void place(struct explained *e, const struct complaint *c,
		  const cyaml_schema_value_t *schema, unsigned drop)
{
	build_path(c, drop, e->path, sizeof(e->path));
	conf_words(e->f, e->path, e->words);
	e->s = schema_at(schema, e->path);
}

static int explain_key(const struct explained *e, const char *key)
{
	char path[CONF_PATH_BYTES + 32], known[300];

	list_choices(e->s, known, sizeof(known));
	snprintf(path, sizeof(path), "%s[%zu]", e->path,
		 conf_pair(e->f, e->path, key));
	return conf_fail(e->f, e->err, -EINVAL, path,
			 "unknown key '%s'%s%s (known: %s)", key,
			 *e->words ? " in " : "", e->words, known);
}

static const char *form_of(const cyaml_schema_value_t *s)
{
	if (s && s->type == CYAML_MAPPING)
		return "must be 'key: value' pairs";
	if (s && s->type == CYAML_SEQUENCE)
		return "must be a list, such as [a, b]";
	return "must be a single value";
}

/* libcyaml's own words tell of the schema; the rest of the sentence. */
static const char *explain_value(const struct explained *e, const char *text,
				 char *buf, size_t len)
{
	char known[300];
	const char *what;

	what = after(text, "Invalid ENUM value: ");
	if (what) {
		list_choices(e->s, known, sizeof(known));
		snprintf(buf, len, "'%.80s' is none of %s", what, known);
		return buf;
	}
	what = after(text, "STRING length > ");
	if (what) {
		snprintf(buf, len, "is longer than %lu bytes",
			 strtoul(what, NULL, 10));
		return buf;
	}
	what = after(text, "Excessive entries (");
	if (what) {
		snprintf(buf, len, "has more than %lu entries",
			 strtoul(what, NULL, 10));
		return buf;
	}
	if (after(text, "STRING length < "))
		return "must not be empty";
	if (after(text, "Insufficient entries "))
		return "is an empty list; write at least one entry";
	/* What libcyaml expects is of the normal form, not of the file. */
	if (after(text, "Expecting "))
		return form_of(e->s);
	return "is not accepted; see bench.yaml(5) and matrix.yaml(5)";
}

static int explain(const struct conf *f, const struct complaint *c,
		   const cyaml_schema_value_t *schema, struct err *err)
{
	struct explained e = { .f = f, .err = err };
	const char *what;
	char buf[400];

	place(&e, c, schema, 0);
	what = after(c->text, "Unexpected key: ");
	if (what)
		return explain_key(&e, what);
	what = after(c->text, "Missing required mapping field: ");
	if (what) {
		/* The innermost field is only the last one that was read. */
		place(&e, c, schema, c->depth && c->at[0].field[0]);
		return conf_fail(f, err, -EINVAL, e.path,
				 "%s lacks the key '%s'",
				 *e.words ? e.words : f->name, what);
	}
	/* Of the list, not of the entry that was one too many. */
	if (after(c->text, "Excessive entries "))
		place(&e, c, schema, c->depth && c->at[0].entry);
	return conf_fail(f, err, -EINVAL, e.path, "%s: %s",
			 *e.words ? e.words : "the file",
			 explain_value(&e, c->text, buf, sizeof(buf)));
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

static int load_text(const struct conf *f, const struct buf *text,
		     const cyaml_schema_value_t *schema, void **data,
		     struct err *err)
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
	return explain(f, &c, schema, err);
}

int conf_load(const struct conf *f, const cyaml_schema_value_t *schema,
	      conf_shape_fn fn, void **data, struct err *err)
{
	struct buf text = { 0 };
	int ret;

	ret = conf_normalise(f, schema, fn, &text, err);
	if (ret == 0)
		ret = load_text(f, &text, schema, data, err);
	buf_free(&text);
	return ret == -ENOMEM ? err_sys(err, ret, "%s", f->name) : ret;
}

void conf_data_free(const cyaml_schema_value_t *schema, void *data)
{
	struct complaint c = { 0 };
	cyaml_config_t cfg = config(&c);

	if (data)
		cyaml_free(&cfg, schema, data, 0);
}
