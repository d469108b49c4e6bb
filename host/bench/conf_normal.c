/* libcyaml has neither "one value or a list" nor free keys, so it is given a
 * normal form of the tree: flow style, every scalar quoted. Lines are looked
 * up in the tree itself, so none are lost. */
#include "host/bench/conf_priv.h"

#include <errno.h>
#include <string.h>

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
	if (w->depth == CONF_DEPTH_MAX || w->out.len > 4 * CONF_FILE_MAX)
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
	k = conf_node(w->f, p->key);
	v = conf_node(w->f, p->value);
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

	n = conf_node(w->f, top->node->data.sequence.items.start[top->next]);
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

int conf_normalise(struct conf *f, conf_shape_fn fn, struct buf *out)
{
	struct normal w = { .f = f };
	int ret = normalise(&w, fn);

	*out = w.out;
	return ret;
}
