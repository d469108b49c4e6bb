/* libcyaml has neither "one value or a list" nor free keys, so it is given a
 * normal form of the tree: flow style, every scalar quoted. Lines are looked
 * up in the tree itself, so none are lost. */
#include "host/bench/conf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/util/parse.h"

/* Aliases can make a small file large. */
#define NORMAL_MAX (4 * CONF_FILE_MAX)

/* More than any mapping of ours has; keeps the search for doubles short. */
#define KEYS_MAX 256u

struct frame {
	const yaml_node_t *node;
	size_t next;                   /* child to write */
	enum conf_shape as;            /* of this node */
	const char *key;               /* under which it stands, "" in lists */
	const cyaml_schema_value_t *s; /* NULL: of a shape of ours */
	const char *close;             /* text after its last child */
};

struct normal {
	const struct conf *f;
	struct err *err;
	struct buf out;
	struct frame stack[CONF_DEPTH_MAX];
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

/* ---- refusals ---------------------------------------------------------- */

/* Of the child that is being written, found by counting. */
static void place(const struct normal *w, char path[CONF_PATH_BYTES])
{
	size_t n = 0;
	unsigned i;

	path[0] = '\0';
	for (i = 0; i < w->depth; i++)
		n += (size_t)snprintf(path + n, CONF_PATH_BYTES - n, "[%zu]",
				      w->stack[i].next - 1);
}

static int refuse(const struct normal *w, const char *what)
{
	char path[CONF_PATH_BYTES], words[CONF_PATH_BYTES];

	place(w, path);
	conf_words(w->f, path, words);
	return conf_fail(w->f, w->err, -EINVAL, path, "%s%s%s",
			 *words ? words : "the file", *words ? ": " : " ",
			 what);
}

/* NULL: a node of this type may stand there. */
static const char *wrong_form(yaml_node_type_t type, enum conf_shape as)
{
	switch (as) {
	case CONF_LIST:
		return type != YAML_MAPPING_NODE
			       ? NULL
			       : "must be a value or a list of values";
	case CONF_VALUE:
		return type == YAML_SCALAR_NODE
			       ? NULL
			       : "must be a single value; lists are not nested";
	case CONF_PAIRS:
		return type == YAML_MAPPING_NODE
			       ? NULL
			       : "must be 'name: value' pairs";
	case CONF_RULES:
		return type == YAML_SEQUENCE_NODE
			       ? NULL
			       : "must be a list of rules, such as [{fs: xfs}]";
	case CONF_RULE:
		return type == YAML_MAPPING_NODE
			       ? NULL
			       : "must be a rule, such as {fs: xfs}";
	case CONF_TYPE:
		return type != YAML_SEQUENCE_NODE
			       ? NULL
			       : "must be a type or 'key: value' pairs";
	case CONF_AS_IS:
		break;
	}
	return NULL;
}

static bool same_text(const yaml_node_t *a, const yaml_node_t *b)
{
	return a->type == YAML_SCALAR_NODE && b->type == YAML_SCALAR_NODE &&
	       a->data.scalar.length == b->data.scalar.length &&
	       memcmp(a->data.scalar.value, b->data.scalar.value,
		      a->data.scalar.length) == 0;
}

/* The key that was just reached. */
static int check_key(const struct normal *w, const struct frame *top)
{
	const yaml_node_pair_t *first = top->node->data.mapping.pairs.start;
	const yaml_node_t *k = conf_node(w->f, first[top->next - 1].key);
	char path[CONF_PATH_BYTES];
	size_t i;

	place(w, path);
	if (k->type != YAML_SCALAR_NODE ||
	    strlen((const char *)k->data.scalar.value) != k->data.scalar.length)
		return conf_fail(w->f, w->err, -EINVAL, path,
				 "a key must be plain text");
	if (top->next > KEYS_MAX)
		return conf_fail(w->f, w->err, -EINVAL, path,
				 "this is key %u of its mapping, too many",
				 KEYS_MAX + 1);
	for (i = 0; i + 1 < top->next; i++)
		if (same_text(conf_node(w->f, first[i].key), k))
			return conf_fail(w->f, w->err, -EINVAL, path,
					 "the key '%.80s' stands twice",
					 k->data.scalar.value);
	return 0;
}

/* ---- writing ------------------------------------------------------------ */

static const char *opening(const yaml_node_t *n, enum conf_shape as,
			   const char **close)
{
	if (as == CONF_RULE) {
		*close = "]}";
		return "{\"pairs\": [";
	}
	if (n->type == YAML_MAPPING_NODE && as != CONF_PAIRS) {
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

static int put_unsigned(struct normal *w, const char *text, uint64_t max)
{
	char what[160];
	uint64_t v;

	if (parse_u64_range(text, 0, max, &v) == 0)
		return buf_printf(&w->out, "\"%" PRIu64 "\"", v);
	snprintf(what, sizeof(what),
		 "'%.40s' is not a whole number from 0 to %" PRIu64, text, max);
	return refuse(w, what);
}

static int put_signed(struct normal *w, const char *text, int64_t max)
{
	char what[160];
	int64_t v;

	if (parse_i64(text, &v) == 0 && v <= max && v >= -max - 1)
		return buf_printf(&w->out, "\"%" PRId64 "\"", v);
	snprintf(what, sizeof(what),
		 "'%.40s' is not a whole number from %" PRId64 " to %" PRId64,
		 text, -max - 1, max);
	return refuse(w, what);
}

static int put_value(struct normal *w, const yaml_node_t *n, enum conf_shape as,
		     const cyaml_schema_value_t *s)
{
	const char *text = (const char *)n->data.scalar.value;
	uint64_t max;

	if (strlen(text) != n->data.scalar.length)
		return refuse(w, "has a zero byte");
	if (!s || (s->type != CYAML_UINT && s->type != CYAML_INT))
		return put_lone_scalar(&w->out, n, as);
	max = UINT64_MAX >> (64 - 8 * s->data_size);
	return s->type == CYAML_UINT ? put_unsigned(w, text, max)
				     : put_signed(w, text, (int64_t)(max / 2));
}

/* Write a scalar, or open a collection and push it. */
static int put_node(struct normal *w, const yaml_node_t *n, enum conf_shape as,
		    const char *key, const cyaml_schema_value_t *s)
{
	const char *wrong = wrong_form(n->type, as);
	struct frame *top;

	if (wrong)
		return refuse(w, wrong);
	if (w->out.len > NORMAL_MAX)
		return refuse(w, "grows too large by aliases (*name); write "
				 "the values out");
	if (n->type == YAML_SCALAR_NODE)
		return put_value(w, n, as, s);
	if (w->depth == CONF_DEPTH_MAX)
		return refuse(w, "is nested too deeply");
	top = &w->stack[w->depth++];
	*top = (struct frame){ .node = n, .as = as, .key = key, .s = s };
	return buf_printf(&w->out, "%s", opening(n, as, &top->close));
}

static int put_key(struct normal *w, const yaml_node_t *k, bool named,
		   bool first)
{
	int ret;

	ret = buf_printf(&w->out, "%s%s", first ? "" : ", ",
			 named ? "{\"name\": " : "");
	if (ret == 0)
		ret = put_scalar(&w->out, k);
	if (ret == 0)
		ret = buf_printf(&w->out, named ? ", \"values\": " : ": ");
	return ret;
}

static int put_pair(struct normal *w, struct frame *top, conf_shape_fn fn)
{
	const yaml_node_pair_t *p =
		&top->node->data.mapping.pairs.start[top->next++];
	const yaml_node_t *v = conf_node(w->f, p->value);
	bool named = top->as == CONF_PAIRS || top->as == CONF_RULE;
	const cyaml_schema_value_t *s = NULL;
	enum conf_shape as = CONF_LIST;
	const char *key;
	int ret;

	ret = check_key(w, top);
	if (ret < 0)
		return ret;
	key = (const char *)conf_node(w->f, p->key)->data.scalar.value;
	ret = put_key(w, conf_node(w->f, p->key), named, top->next == 1);
	if (ret < 0)
		return ret;
	if (!named) {
		as = fn ? fn(top->key, key) : CONF_AS_IS;
		s = conf_field(top->s, key, strlen(key));
	}
	if (as == CONF_PAIRS || as == CONF_RULES)
		s = NULL;
	ret = put_node(w, v, as, key, s);
	if (ret < 0 || !named)
		return ret;
	if (v->type == YAML_SCALAR_NODE)
		return buf_append(&w->out, "}", 1);
	/* Closes with the list that was just opened. */
	w->stack[w->depth - 1].close = "]}";
	return 0;
}

static int put_entry(struct normal *w, struct frame *top)
{
	enum conf_shape as = top->as == CONF_RULES  ? CONF_RULE
			     : top->as == CONF_LIST ? CONF_VALUE
						    : CONF_AS_IS;
	const cyaml_schema_value_t *s = top->s;
	const yaml_node_t *n;

	s = s && s->type == CYAML_SEQUENCE ? s->sequence.entry : NULL;
	n = conf_node(w->f, top->node->data.sequence.items.start[top->next]);
	if (top->next++ > 0 && buf_append(&w->out, ", ", 2) < 0)
		return -ENOMEM;
	return put_node(w, n, as, top->key, s);
}

static size_t child_count(const yaml_node_t *n)
{
	if (n->type == YAML_MAPPING_NODE)
		return (size_t)(n->data.mapping.pairs.top -
				n->data.mapping.pairs.start);
	return (size_t)(n->data.sequence.items.top -
			n->data.sequence.items.start);
}

static int normalise(struct normal *w, const cyaml_schema_value_t *schema,
		     conf_shape_fn fn)
{
	int ret;

	ret = put_node(
		w, yaml_document_get_root_node((yaml_document_t *)&w->f->doc),
		CONF_AS_IS, "", schema);
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

int conf_normalise(const struct conf *f, const cyaml_schema_value_t *schema,
		   conf_shape_fn fn, struct buf *out, struct err *err)
{
	struct normal w = { .f = f, .err = err };
	int ret = normalise(&w, schema, fn);

	*out = w.out;
	return ret;
}
