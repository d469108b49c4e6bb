#include "host/matrix/matrix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bench/conf_load.h"
#include "host/knob/knob.h"
#include "host/matrix/axis.h"
#include "host/matrix/work.h"
#include "host/util/parse.h"

#define VALUES_MAX 256

/* ---- schema ----------------------------------------------------------- */

static const cyaml_schema_value_t string_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, 4096),
};

#define OPTIONAL_LIST (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define STRINGS(_key, _member)                                                 \
	CYAML_FIELD_SEQUENCE_COUNT(_key, OPTIONAL_LIST, struct matrix,         \
				   _member, n_##_member, &string_value, 1,     \
				   VALUES_MAX)
#define PAIRS(_key, _member)                                                   \
	CYAML_FIELD_SEQUENCE_COUNT(_key, OPTIONAL_LIST, struct matrix,         \
				   _member, n_##_member, &pair_value, 1, 64)
#define RULES(_key, _member)                                                   \
	CYAML_FIELD_SEQUENCE_COUNT(_key, OPTIONAL_LIST, struct matrix,         \
				   _member, n_##_member, &rule_value, 0,       \
				   MATRIX_RULES_MAX)

static const cyaml_schema_field_t pair_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct matrix_pair,
			       name, 1, 256),
	CYAML_FIELD_SEQUENCE_COUNT("values", CYAML_FLAG_POINTER,
				   struct matrix_pair, values, n_values,
				   &string_value, 1, VALUES_MAX),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t pair_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct matrix_pair,
			    pair_fields),
};

static const cyaml_schema_field_t rule_fields[] = {
	CYAML_FIELD_SEQUENCE_COUNT("pairs", CYAML_FLAG_POINTER,
				   struct matrix_rule, pairs, n_pairs,
				   &pair_value, 1, 64),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t rule_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct matrix_rule,
			    rule_fields),
};

static const cyaml_schema_field_t matrix_fields[] = {
	CYAML_FIELD_STRING_PTR("experiment", CYAML_FLAG_POINTER, struct matrix,
			       experiment, 1, 64),
	CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, struct matrix, seed),
	CYAML_FIELD_UINT("repeats", CYAML_FLAG_OPTIONAL, struct matrix,
			 repeats),
	CYAML_FIELD_STRING_PTR("compare", OPTIONAL_LIST, struct matrix, compare,
			       1, 256),
	STRINGS("disks", disks),
	STRINGS("layout", layout),
	STRINGS("chunk", chunk),
	STRINGS("bitmap", bitmap),
	STRINGS("initial_sync", initial_sync),
	STRINGS("fs", fs),
	PAIRS("mkfs", mkfs),
	PAIRS("mount", mount),
	STRINGS("workload", workload),
	PAIRS("params", params),
	STRINGS("thresh", thresh),
	STRINGS("background", background),
	STRINGS("read_ahead_kb", read_ahead_kb),
	STRINGS("max_sectors_kb", max_sectors_kb),
	STRINGS("nr_requests", nr_requests),
	STRINGS("scheduler", scheduler),
	PAIRS("sysctl", sysctl),
	STRINGS("kernel", kernel),
	RULES("include", include),
	RULES("exclude", exclude),
	CYAML_FIELD_UINT("sample_hz", CYAML_FLAG_OPTIONAL, struct matrix,
			 sample_hz),
	CYAML_FIELD_UINT("timeout_s", CYAML_FLAG_OPTIONAL, struct matrix,
			 timeout_s),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t matrix_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct matrix, matrix_fields),
};

/* Which keys may be one value, free keys or rules follows from the schema. */
static enum conf_shape shape(const char *parent, const char *key)
{
	const cyaml_schema_field_t *f;

	if (*parent)
		return CONF_AS_IS;
	for (f = matrix_fields; f->key; f++)
		if (strcmp(f->key, key) == 0)
			break;
	if (!f->key || f->value.type != CYAML_SEQUENCE)
		return CONF_AS_IS;
	if (f->value.sequence.entry == &pair_value)
		return CONF_PAIRS;
	return f->value.sequence.entry == &rule_value ? CONF_RULES : CONF_LIST;
}

/* ---- facts that span keys --------------------------------------------- */

unsigned matrix_layout_disks(const char *layout, const char **kind)
{
	static const struct {
		const char *prefix, *kind;
		unsigned min;
	} known[] = {
		{ "JBOD-", "jbod", 1 },
		{ "RAID0-", "raid0", 2 },
		{ "RAID1-", "raid1", 2 },
	};
	size_t i;

	if (kind)
		*kind = "single";
	if (strcmp(layout, "single") == 0)
		return 1;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i].prefix);
		unsigned n;
		int end = 0;

		if (strncmp(layout, known[i].prefix, len) != 0)
			continue;
		if (sscanf(layout + len, "%3uHDD%n", &n, &end) != 1 || !end ||
		    layout[len + (size_t)end] || layout[len] == '0' ||
		    n < known[i].min)
			return 0;
		if (kind)
			*kind = known[i].kind;
		return n;
	}
	return 0;
}

static int bad_value(const struct conf *f, const struct axis *a, unsigned i,
		     const char *should, struct err *err)
{
	char path[AXIS_PLACE_BYTES];
	struct buf known = { 0 };
	int ret = a->kind->known ? a->kind->known(&known) : 0;

	if (ret < 0)
		err_sys(err, ret, "reading the matrix");
	else
		ret = conf_fail(f, err, -EINVAL, axis_place(a, i, path),
				"%s: '%s' is not %s%s%s", a->name, a->values[i],
				should, known.len ? ": " : "", buf_str(&known));
	buf_free(&known);
	return ret;
}

static int check_values(const struct conf *f, const struct axis *a,
			struct err *err)
{
	char path[AXIS_PLACE_BYTES];
	unsigned i, k;

	for (i = 0; i < a->n; i++) {
		const char *should;

		axis_place(a, i, path);
		should = a->kind->check ? a->kind->check(a->values[i]) : NULL;
		if (should)
			return bad_value(f, a, i, should, err);
		for (k = 0; k < i; k++)
			if (strcmp(a->values[k], a->values[i]) == 0)
				return conf_fail(f, err, -EINVAL, path,
						 "%s: '%s' is listed twice",
						 a->name, a->values[i]);
	}
	return 0;
}

static bool has_value(const struct axis *a, const char *value)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (strcmp(a->values[i], value) == 0)
			return true;
	return false;
}

/* A rule that can never match is a typing error. */
static int check_pair(const struct conf *f, const struct matrix *m,
		      const struct matrix_pair *p, const char *path,
		      struct err *err)
{
	const struct axis *a = axis_find(m, p->name);
	unsigned i;

	if (!a)
		return conf_fail(f, err, -EINVAL, path,
				 "no key '%s' in this matrix to match",
				 p->name);
	for (i = 0; i < p->n_values; i++)
		if (!has_value(a, p->values[i]))
			return conf_fail(f, err, -EINVAL, path,
					 "'%s' is no value of %s", p->values[i],
					 p->name);
	return 0;
}

static int check_rules(const struct conf *f, const struct matrix *m,
		       const char *key, const struct matrix_rule *rules,
		       unsigned n, struct err *err)
{
	char path[128];
	unsigned i, k;
	int ret = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; k < rules[i].n_pairs && ret == 0; k++) {
			snprintf(path, sizeof(path), "%s[%u][%u]", key, i, k);
			ret = check_pair(f, m, &rules[i].pairs[k], path, err);
		}
	}
	return ret;
}

static int check_disks(const struct conf *f, const struct matrix *m,
		       struct err *err)
{
	unsigned i, k;
	char path[64];

	for (i = 0; i < m->n_disks; i++) {
		snprintf(path, sizeof(path), "disks[%u]", i);
		for (k = 0; k < i; k++)
			if (strcmp(m->disks[i], m->disks[k]) == 0)
				return conf_fail(f, err, -EINVAL, path,
						 "disk %s is listed twice",
						 m->disks[i]);
	}
	for (i = 0; m->n_disks && i < m->n_layout; i++) {
		snprintf(path, sizeof(path), "layout[%u]", i);
		if (matrix_layout_disks(m->layout[i], NULL) > m->n_disks)
			return conf_fail(f, err, -EINVAL, path,
					 "%s needs more than the %u disks "
					 "listed under 'disks'",
					 m->layout[i], m->n_disks);
	}
	return 0;
}

static int bad_param(const struct conf *f, const struct matrix *m, unsigned i,
		     struct err *err)
{
	struct buf known = { 0 };
	char path[64];
	unsigned k;
	int ret = 0;

	for (k = 0; k < m->n_workload && ret == 0; k++) {
		ret = buf_printf(&known, "%s%s has ", k ? "; " : "",
				 m->workload[k]);
		if (ret == 0)
			ret = work_list_params(m->workload[k], &known);
	}
	snprintf(path, sizeof(path), "params[%u]", i);
	if (ret < 0)
		err_sys(err, ret, "reading the matrix");
	else
		ret = conf_fail(f, err, -EINVAL, path,
				"params: no workload of this matrix has the "
				"parameter '%s' (%s)",
				m->params[i].name, buf_str(&known));
	buf_free(&known);
	return ret;
}

/* A parameter that no workload of the matrix has is a typing error. */
static int check_params(const struct conf *f, const struct matrix *m,
			struct err *err)
{
	unsigned i, k;

	for (i = 0; i < m->n_params; i++) {
		for (k = 0; k < m->n_workload; k++)
			if (work_has_param(m->workload[k], m->params[i].name))
				break;
		if (k == m->n_workload)
			return bad_param(f, m, i, err);
	}
	return 0;
}

/* Options of a file system that there is not would never be used. */
static int check_fs_options(const struct conf *f, const char *key,
			    const struct matrix_pair *pairs, unsigned n,
			    struct err *err)
{
	char path[64];
	unsigned i;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s[%u]", key, i);
		if (!matrix_is_fs(pairs[i].name))
			return conf_fail(f, err, -EINVAL, path,
					 "%s: '%s' is not a file system (ext4, "
					 "xfs, btrfs)",
					 key, pairs[i].name);
	}
	return 0;
}

/* As the agent will, a night later. */
static int check_sysctls(const struct conf *f, const struct matrix *m,
			 struct err *err)
{
	const struct knob_kind *kind = knob_kind_find("sysctl");
	struct knob_ref ref;
	struct err why = { 0 };
	char path[64];
	unsigned i;

	for (i = 0; i < m->n_sysctl; i++) {
		snprintf(path, sizeof(path), "sysctl[%u]", i);
		if (knob_resolve(&ref, kind, "", "", m->sysctl[i].name, &why) <
		    0)
			return conf_fail(f, err, -EINVAL, path, "sysctl: %s",
					 why.text);
	}
	return 0;
}

static int check_numbers(const struct conf *f, struct matrix *m,
			 struct err *err)
{
	if (!conf_line(f, "repeats"))
		m->repeats = 1;
	if (!conf_line(f, "sample_hz"))
		m->sample_hz = 10;
	if (m->repeats < 1 || m->repeats > 1000)
		return conf_fail(f, err, -EINVAL, "repeats",
				 "repeats: %u is not in 1..1000", m->repeats);
	if (m->sample_hz < 1 || m->sample_hz > 50)
		return conf_fail(f, err, -EINVAL, "sample_hz",
				 "sample_hz: %u is not in 1..50", m->sample_hz);
	if (m->timeout_s > 604800)
		return conf_fail(f, err, -EINVAL, "timeout_s",
				 "timeout_s: %u is more than a week",
				 m->timeout_s);
	return 0;
}

static int check_required(const struct conf *f, const struct matrix *m,
			  struct err *err)
{
	if (!m->n_layout)
		return conf_fail(f, err, -EINVAL, "",
				 "the matrix lacks the key 'layout'");
	if (!m->n_workload)
		return conf_fail(f, err, -EINVAL, "",
				 "the matrix lacks the key 'workload'");
	if (strchr(m->experiment, '/'))
		return conf_fail(f, err, -EINVAL, "experiment",
				 "an experiment's name has no '/'");
	return 0;
}

static int check(const struct conf *f, struct matrix *m, struct err *err)
{
	unsigned i;
	int ret;

	ret = check_required(f, m, err);
	if (ret == 0)
		ret = check_numbers(f, m, err);
	if (ret == 0)
		ret = axes_build(m);
	if (ret == -ENOMEM)
		err_sys(err, ret, "reading the matrix");
	for (i = 0; i < m->n_axes && ret == 0; i++)
		ret = check_values(f, &m->axes[i], err);
	if (ret == 0)
		ret = check_params(f, m, err);
	if (ret == 0)
		ret = check_fs_options(f, "mkfs", m->mkfs, m->n_mkfs, err);
	if (ret == 0)
		ret = check_fs_options(f, "mount", m->mount, m->n_mount, err);
	if (ret == 0)
		ret = check_sysctls(f, m, err);
	if (ret == 0)
		ret = check_disks(f, m, err);
	if (ret == 0 && m->compare && strcmp(m->compare, "none") != 0 &&
	    !axis_find(m, m->compare))
		ret = conf_fail(f, err, -EINVAL, "compare",
				"compare: no key '%s' in this matrix",
				m->compare);
	if (ret == 0)
		ret = check_rules(f, m, "include", m->include, m->n_include,
				  err);
	if (ret == 0)
		ret = check_rules(f, m, "exclude", m->exclude, m->n_exclude,
				  err);
	return ret;
}

/* ---- public ----------------------------------------------------------- */

/* Takes f. */
static int from_conf(struct conf *f, struct matrix **out, struct err *err)
{
	struct matrix *m = NULL;
	int ret;

	ret = conf_load(f, &matrix_schema, shape, (void **)&m, err);
	if (ret < 0) {
		conf_free(f);
		return ret;
	}
	m->file = f;
	ret = check(f, m, err);
	if (ret < 0)
		matrix_free(m);
	else
		*out = m;
	return ret;
}

int matrix_load(const char *path, struct matrix **out, struct err *err)
{
	struct conf *f;
	int ret;

	ret = conf_open(path, &f, err);
	return ret < 0 ? ret : from_conf(f, out, err);
}

int matrix_parse(const char *name, const char *text, size_t len,
		 struct matrix **out, struct err *err)
{
	struct conf *f;
	int ret;

	ret = conf_parse(name, text, len, &f, err);
	return ret < 0 ? ret : from_conf(f, out, err);
}

void matrix_free(struct matrix *m)
{
	if (!m)
		return;
	free(m->axes);
	conf_free(m->file);
	conf_data_free(&matrix_schema, m);
}
