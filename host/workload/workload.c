#include "host/workload/workload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct workload_kind *workload_kind_find(const char *name)
{
	for (size_t i = 0; workload_kinds[i]; i++) {
		if (strcmp(workload_kinds[i]->name, name) == 0)
			return workload_kinds[i];
	}
	return NULL;
}

static int workload_row(const struct workload *w, const char *name)
{
	for (int i = 0; w->kind->params[i].name; i++) {
		if (strcmp(w->kind->params[i].name, name) == 0)
			return i;
	}
	return -1;
}

static const char *workload_param_names(const struct workload *w)
{
	const struct workload_param *p = w->kind->params;
	char *text = arena_strdup(w->arena, p->name ? p->name : "none");

	while (p->name && (++p)->name)
		text = arena_printf(w->arena, "%s, %s", text, p->name);
	return text;
}

int workload_set(struct workload *w, const char *name, const char *value,
		 struct err *err)
{
	int i = workload_row(w, name);

	if (i < 0)
		return err_set(err, -EINVAL,
			       "%s has no parameter \"%.40s\"; it has: %s",
			       w->kind->name, name, workload_param_names(w));
	if (w->value[i])
		return err_set(err, -EINVAL, "%s: %s is given twice",
			       w->kind->name, name);
	w->value[i] = value;
	return 0;
}

int workload_check(struct workload *w, struct err *err)
{
	for (int i = 0; w->kind->params[i].name; i++) {
		if (!w->value[i])
			w->value[i] = w->kind->params[i].value;
	}
	if (w->kind->state_bytes)
		w->state = arena_alloc(w->arena, w->kind->state_bytes);
	return w->kind->check(w, err);
}

int workload_refuse(struct workload *w, const char *param, struct err *err,
		    const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list ap;

	w->wrong = param;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, -EINVAL, "%s: %s", w->kind->name, text);
}

const char *workload_value(const struct workload *w, const char *name)
{
	int i = workload_row(w, name);

	return i < 0 ? NULL : w->value[i];
}

uint64_t workload_bytes(const struct workload *w)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < w->children; i++)
		sum += w->child[i].bytes;
	return sum;
}
