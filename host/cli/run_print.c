/* What bay run prints: the plan beforehand, the sum of it afterwards. */
#include "host/cli/run_job.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/print_json.h"
#include "host/cli/progress.h"
#include "host/matrix/name.h"

static json_t *cell_json(const Bay__Cell *c)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:i, s:f}", "order",
			 (int)c->order, "key", c->key, "case", c->case_name,
			 "kernel", c->kernel, "repeat", (int)c->repeat,
			 "estimate_s", plan_cell_estimate_s(c));
}

int run_print_plan(const struct run_job *j)
{
	char time[32], name[CASE_NAME_BYTES];
	json_t *cells;
	size_t i;

	if (j->cli->json) {
		cells = json_array();
		for (i = 0; i < j->plan.n; i++)
			json_array_append_new(cells,
					      cell_json(j->plan.cell[i]));
		print_json(json_pack("{s:s, s:i, s:i, s:f, s:o}", "experiment",
				     j->matrix->experiment, "count",
				     (int)j->plan.n, "boots",
				     (int)j->plan.boots, "estimate_s",
				     j->plan.estimate_s, "cells", cells),
			   JSON_DOCUMENT);
		return BAY_OK;
	}
	for (i = 0; i < j->plan.n; i++) {
		const Bay__Cell *c = j->plan.cell[i];

		case_name_with_kernel(c->case_name, c->kernel, name);
		printf("%5zu  %.8s  %s\n", i + 1, c->key, name);
	}
	printf("%zu cell%s, %u kernel%s in turn, about %s\n", j->plan.n,
	       j->plan.n == 1 ? "" : "s", j->plan.boots,
	       j->plan.boots == 1 ? "" : "s",
	       progress_time(j->plan.estimate_s, time));
	return BAY_OK;
}

struct phases {
	FILE *to;
	unsigned lines;
};

static int phase_line(void *arg, const char *phase, double mean_s, unsigned n)
{
	struct phases *p = arg;

	(void)n;
	if (strchr(phase, '/'))
		return 0;
	if (!p->lines++)
		fprintf(p->to, "mean time of a cell by phase:\n");
	fprintf(p->to, "  %-12s %7.2f s\n", phase, mean_s);
	return 0;
}

static int phase_json(void *arg, const char *phase, double mean_s, unsigned n)
{
	(void)n;
	json_object_set_new(arg, phase, json_real(mean_s));
	return 0;
}

static int failed_line(void *arg, const struct store_row *r)
{
	const struct run_job *j = arg;

	bool lost = r->state == BAY__CELL_STATE__CELL_FAILED;

	if (r->in_plan && strcmp(r->experiment, j->matrix->experiment) == 0 &&
	    (lost || r->state == BAY__CELL_STATE__CELL_QUARANTINED))
		fprintf(stderr, "  %.8s %s-%s: %s after %u attempt%s: %s%s\n",
			r->key, r->case_name, r->kernel,
			progress_state(r->state), r->attempts,
			r->attempts == 1 ? "" : "s", r->error_text,
			lost ? "; --resume runs it again"
			     : "; --retry-quarantined runs it again");
	return 0;
}

static const char *end_word(enum control_end end)
{
	static const char *const words[] = {
		[CONTROL_DONE] = "complete",
		[CONTROL_FAILED] = "some cells failed",
		[CONTROL_STOPPED] = "stopped",
		[CONTROL_REFUSED] = "refused for safety",
		[CONTROL_UNREACHABLE] = "rig or agent unreachable",
		[CONTROL_CONFIG] = "cannot be run",
		[CONTROL_STORE] = "results cannot be stored",
	};

	return words[end];
}

void run_print_sum(struct run_job *j, enum control_end end,
		   const struct control_sum *s)
{
	struct phases phases = { .to = stderr };
	char time[32];

	fprintf(stderr,
		"%s: %u cell%s done in %s, %u before, %u failed, %u left\n",
		end_word(end), s->done, s->done == 1 ? "" : "s",
		progress_time(s->seconds, time), s->before, s->failed,
		s->left - s->failed);
	if (s->spooled)
		fprintf(stderr, "%u of them were found in the agent's spool\n",
			s->spooled);
	if (s->failed)
		store_rows(j->store, failed_line, j, NULL);
	if (s->done)
		store_phases(j->store, j->matrix->experiment, phase_line,
			     &phases, NULL);
	fprintf(stderr, "results: %s (bay results list --results %s)\n",
		j->results, j->results);
	if (s->left && !s->failed)
		fprintf(stderr,
			"go on with: bay -f %s run --resume --results "
			"%s %s\n",
			j->bench->source, j->results, j->path);
}

void run_print_json(struct run_job *j, enum control_end end,
		    const struct control_sum *s, const struct err *err)
{
	json_t *phases = json_object();

	store_phases(j->store, j->matrix->experiment, phase_json, phases, NULL);
	print_json(json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, "
			     "s:f, s:o}",
			     "experiment", j->matrix->experiment, "end",
			     end_word(end), "error", err->text, "results",
			     j->results, "done", (int)s->done, "before",
			     (int)s->before, "spooled", (int)s->spooled,
			     "failed", (int)s->failed, "left", (int)s->left,
			     "seconds", s->seconds, "phases", phases),
		   JSON_DOCUMENT);
}
