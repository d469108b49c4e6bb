#include "host/matrix/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/workload/workload.h"

bool work_is_kind(const char *kind)
{
	return workload_kind_find(kind) != NULL;
}

bool work_has_param(const char *kind, const char *param)
{
	const struct workload_kind *k = workload_kind_find(kind);
	const struct workload_param *p = k ? k->params : NULL;

	while (p && p->name && strcmp(p->name, param) != 0)
		p++;
	return p && p->name;
}

int work_list_kinds(struct buf *out)
{
	size_t i;
	int ret = 0;

	for (i = 0; workload_kinds[i] && ret == 0; i++)
		ret = buf_printf(out, "%s%s", i ? ", " : "",
				 workload_kinds[i]->name);
	return ret;
}

int work_list_params(const char *kind, struct buf *out)
{
	const struct workload_kind *k = workload_kind_find(kind);
	size_t i;
	int ret = 0;

	for (i = 0; k && k->params[i].name && ret == 0; i++)
		ret = buf_printf(out, "%s%s", i ? ", " : "", k->params[i].name);
	return ret;
}

/* As many as the agent will have: a file system a disk, or one on the array. */
static int set_up(struct workload *w, const Bay__Cell *cell, struct err *err)
{
	const Bay__WorkloadSpec *spec = cell->workload;
	bool each = strcmp(cell->array->layout, "jbod") == 0;

	w->targets = each ? (unsigned)cell->array->n_serial : 1;
	w->target = arena_array(w->arena, w->targets, sizeof(*w->target));
	w->kind = workload_kind_find(spec->kind);
	if (!w->kind)
		return err_set(err, -EINVAL, "bay has no workload \"%.40s\"",
			       spec->kind);
	for (size_t i = 0; i < spec->n_param; i++) {
		int ret = workload_set(w, spec->param[i]->name,
				       spec->param[i]->value, err);

		if (ret < 0) {
			w->wrong = spec->param[i]->name;
			return ret;
		}
	}
	return workload_check(w, err);
}

int work_check(const Bay__Cell *cell, double *seconds, const char **wrong,
	       struct err *err)
{
	struct arena arena = { 0 };
	struct workload *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	w->arena = &arena;
	ret = set_up(w, cell, err);
	if (ret == 0 && seconds)
		*seconds = w->kind->seconds ? w->kind->seconds(w) : 0.0;
	if (wrong)
		*wrong = w->wrong;
	arena_free(&arena);
	free(w);
	return ret;
}
