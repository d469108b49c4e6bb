/* bay results list|show: what the journal holds. */
#include "host/cli/command.h"
#include "host/cli/print_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "host/store/store.h"

enum {
	OPT_RESULTS = 0x20001,
	OPT_STATE,
};

static const struct cli_option list_options[] = {
	{ "results", OPT_RESULTS, "FILE", "the journal; default results.db" },
	{ "state", OPT_STATE, "STATE",
	  "planned, running, done, failed, hung or quarantined" },
	{ 0 },
};

static const struct cli_option show_options[] = {
	{ "results", OPT_RESULTS, "FILE", "the journal; default results.db" },
	{ 0 },
};

static const char *const state_names[] = {
	[BAY__CELL_STATE__CELL_PLANNED] = "planned",
	[BAY__CELL_STATE__CELL_RUNNING] = "running",
	[BAY__CELL_STATE__CELL_DONE] = "done",
	[BAY__CELL_STATE__CELL_FAILED] = "failed",
	[BAY__CELL_STATE__CELL_HUNG] = "hung",
	[BAY__CELL_STATE__CELL_QUARANTINED] = "quarantined",
};
#define STATES (sizeof(state_names) / sizeof(state_names[0]))

static const char *state_name(unsigned state)
{
	return state < STATES ? state_names[state] : "unknown";
}

static bool is_state(const char *name)
{
	size_t i;

	for (i = 0; i < STATES; i++)
		if (strcmp(state_names[i], name) == 0)
			return true;
	return false;
}

struct listing {
	const char *path;
	const char *state; /* NULL: all */
	json_t *rows;      /* NULL: as text */
	size_t n;
};

/* Text of a store is UTF-8 by its grammar; foreign bytes become "?". */
static json_t *json_text(const char *s)
{
	json_t *j = json_string(s ? s : "");

	return j ? j : json_string("?");
}

static int list_json(struct listing *l, const struct store_row *r)
{
	json_t *row = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:s, s:o, s:b, s:b, s:b, "
		"s:o}",
		"experiment", json_text(r->experiment), "key",
		json_text(r->key), "case", json_text(r->case_name), "kernel",
		json_text(r->kernel), "release", json_text(r->release),
		"repeat", (int)r->repeat, "attempts", (int)r->attempts, "state",
		state_name(r->state), "error", json_text(r->error_text),
		"in_plan", r->in_plan, "has_result", r->result != 0, "tainted",
		r->tainted, "write_bw",
		isnan(r->write_bw) ? json_null() : json_real(r->write_bw));

	return json_array_append_new(l->rows, row) < 0 ? -ENOMEM : 0;
}

static void list_text(const struct store_row *r)
{
	printf("%-12.12s %-11s ", r->key, state_name(r->state));
	if (isnan(r->write_bw))
		printf("%10s", "-");
	else
		printf("%10.2f", r->write_bw);
	printf("  %s-%s #%u%s%s%s%s\n", r->case_name,
	       r->release && *r->release ? r->release : r->kernel, r->repeat,
	       r->tainted ? " (tainted)" : "",
	       r->in_plan ? "" : " (no longer planned)",
	       r->error_text && *r->error_text ? ": " : "",
	       r->error_text ? r->error_text : "");
}

static int list_row(void *arg, const struct store_row *r)
{
	struct listing *l = arg;

	if (l->state && strcmp(l->state, state_name(r->state)) != 0)
		return 0;
	if (l->n++ == 0 && !l->rows)
		printf("%-12s %-11s %10s  %s\n", "key", "state", "MB/s",
		       "case");
	if (l->rows)
		return list_json(l, r);
	list_text(r);
	return 0;
}

static int show_json(json_t *j)
{
	if (!print_json(j, JSON_DOCUMENT))
		return BAY_OK;
	fprintf(stderr, "bay: cannot print the results\n");
	return BAY_FAILED;
}

static int report(const struct err *err)
{
	fprintf(stderr, "bay: %s\n", err->text);
	return BAY_USAGE;
}

static int list_results(struct cli *cli, struct listing *l)
{
	struct err err = { 0 };
	struct store *s;
	int ret;

	if (store_open(l->path, STORE_READ, NULL, &s, &err) < 0)
		return report(&err);
	l->rows = cli->json ? json_array() : NULL;
	ret = store_rows(s, list_row, l, &err);
	store_close(s);
	if (ret < 0) {
		json_decref(l->rows);
		return report(&err);
	}
	if (cli->json)
		return show_json(l->rows);
	if (!l->n)
		fprintf(stderr, "bay: %s holds no such cell\n", l->path);
	return BAY_OK;
}

static int list_run(struct cli *cli, int argc, char **argv)
{
	struct listing l = { .path = "results.db" };
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", list_options)) != -1) {
		if (opt == OPT_RESULTS)
			l.path = optarg;
		else if (opt == OPT_STATE)
			l.state = optarg;
		else
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	}
	if (optind < argc)
		return cli_usage("results list takes no '%s'", argv[optind]);
	if (l.state && !is_state(l.state))
		return cli_usage("--state takes planned, running, done, "
				 "failed, hung or quarantined, not '%s'",
				 l.state);
	return list_results(cli, &l);
}

/* ---- show ----------------------------------------------------------------*/

static json_t *json_params(Bay__Param *const *p, size_t n)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set_new(o, p[i]->name, json_text(p[i]->value));
	return o;
}

static json_t *json_metrics(const Bay__CellResult *r)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->n_metric; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:f, s:o}", "name",
					json_text(r->metric[i]->name), "value",
					r->metric[i]->value, "unit",
					json_text(r->metric[i]->unit)));
	return list;
}

static json_t *json_checks(const Bay__CellResult *r)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->n_check; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:b, s:o}", "name",
					json_text(r->check[i]->name), "ok",
					r->check[i]->ok, "detail",
					json_text(r->check[i]->detail)));
	return list;
}

static json_t *json_children(const Bay__CellResult *r)
{
	json_t *list = json_array(), *argv;
	const Bay__ChildRun *c;
	size_t i, j;

	for (i = 0; i < r->n_child; i++) {
		c = r->child[i];
		argv = json_array();
		for (j = 0; j < c->n_argv; j++)
			json_array_append_new(argv, json_text(c->argv[j]));
		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:f, s:I, s:i, s:o}", "name",
				  json_text(c->name), "target",
				  json_text(c->target), "argv", argv, "seconds",
				  (double)(c->end_ns - c->start_ns) / 1e9,
				  "bytes", (json_int_t)c->bytes, "exit_code",
				  (int)c->exit_code, "error",
				  json_text(c->error_text)));
	}
	return list;
}

static json_t *json_rails(const Bay__CellResult *r)
{
	json_t *list = json_array();
	const Bay__RailSummary *s;
	size_t i;

	for (i = 0; i < r->n_rail; i++) {
		s = r->rail[i];
		json_array_append_new(
			list,
			json_pack("{s:o, s:i, s:o, s:[iii], s:[iii], s:I, "
				  "s:i, s:i, s:i, s:i}",
				  "serial", json_text(s->serial), "slot",
				  (int)s->slot, "rail", json_text(s->rail),
				  "mv_min_mean_max", s->mv_min, s->mv_mean,
				  s->mv_max, "ma_min_mean_max", s->ma_min,
				  s->ma_mean, s->ma_max, "energy_uj",
				  (json_int_t)s->energy_uj, "windows",
				  (int)s->windows, "dropped", (int)s->dropped,
				  "fall_us", (int)s->fall_us, "residual_mv",
				  (int)s->residual_mv));
	}
	return list;
}

static json_t *json_phases(const Bay__CellResult *r)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < r->n_phase; i++)
		json_object_set_new(o, r->phase[i]->phase,
				    json_real(r->phase[i]->seconds));
	return o;
}

static json_t *json_log(const Bay__CellResult *r)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->n_kernel_log; i++)
		json_array_append_new(list, json_text(r->kernel_log[i]));
	return list;
}

static json_t *json_result(const Bay__CellResult *r)
{
	json_t *top = json_pack(
		"{s:o, s:o, s:i, s:s, s:o, s:o, s:f, s:f, s:b, s:o}", "key",
		json_text(r->key), "case",
		json_text(r->cell ? r->cell->case_name : ""), "attempt",
		(int)r->attempt, "state", state_name(r->state), "error",
		json_text(r->error_text), "kernel_release",
		json_text(r->kernel_release), "seconds",
		(double)(r->end_ns - r->start_ns) / 1e9, "sync_seconds",
		(double)r->sync_ns / 1e9, "tainted", r->tainted, "tainted_why",
		json_text(r->tainted_why));

	if (!top)
		return NULL;
	json_object_set_new(top, "metrics", json_metrics(r));
	json_object_set_new(top, "checks", json_checks(r));
	json_object_set_new(top, "children", json_children(r));
	json_object_set_new(top, "rails", json_rails(r));
	json_object_set_new(top, "phases", json_phases(r));
	json_object_set_new(top, "kernel_log", json_log(r));
	json_object_set_new(top, "tools",
			    json_params(r->tool_version, r->n_tool_version));
	json_object_set_new(top, "environment",
			    json_params(r->environment, r->n_environment));
	return top;
}

static void show_head(const Bay__CellResult *r)
{
	printf("case         %s-%s\n", r->cell ? r->cell->case_name : "?",
	       r->kernel_release);
	printf("key          %s (attempt %u)\n", r->key, r->attempt);
	printf("state        %s%s%s\n", state_name(r->state),
	       *r->error_text ? ": " : "", r->error_text);
	if (r->tainted)
		printf("tainted      %s\n", r->tainted_why);
	printf("measured     %.3f s, final sync %.3f s\n",
	       (double)(r->end_ns - r->start_ns) / 1e9,
	       (double)r->sync_ns / 1e9);
}

static void show_rails(const Bay__CellResult *r)
{
	const Bay__RailSummary *s;
	size_t i;

	for (i = 0; i < r->n_rail; i++) {
		s = r->rail[i];
		printf("rail         %s slot %u %-3s  %d..%d..%d mV  %d..%d..%d"
		       " mA  %.1f J  off",
		       s->serial, s->slot, s->rail, s->mv_min, s->mv_mean,
		       s->mv_max, s->ma_min, s->ma_mean, s->ma_max,
		       (double)s->energy_uj / 1e6);
		/* A slot that had not been on had nothing to fall. */
		if (s->fall_us)
			printf(": fell in %.1f ms to %u mV\n",
			       (double)s->fall_us / 1e3, s->residual_mv);
		else
			printf(" already, %u mV\n", s->residual_mv);
	}
}

static void show_text(const Bay__CellResult *r)
{
	size_t i;

	show_head(r);
	for (i = 0; i < r->n_metric; i++)
		printf("metric       %-14s %14.3f %s\n", r->metric[i]->name,
		       r->metric[i]->value, r->metric[i]->unit);
	for (i = 0; i < r->n_check; i++)
		printf("check        %-4s %s: %s\n",
		       r->check[i]->ok ? "ok" : "BAD", r->check[i]->name,
		       r->check[i]->detail);
	show_rails(r);
	for (i = 0; i < r->n_phase; i++)
		printf("phase        %-14s %9.3f s\n", r->phase[i]->phase,
		       r->phase[i]->seconds);
	for (i = 0; i < r->n_kernel_log; i++)
		printf("kernel       %s\n", r->kernel_log[i]);
	for (i = 0; i < r->n_environment; i++)
		printf("environment  %s = %s\n", r->environment[i]->name,
		       r->environment[i]->value);
}

static int show_result(struct cli *cli, const char *path, const char *key)
{
	struct err err = { 0 };
	Bay__CellResult *r;
	struct store *s;
	int ret;

	if (store_open(path, STORE_READ, NULL, &s, &err) < 0)
		return report(&err);
	ret = store_get(s, key, &r, &err);
	store_close(s);
	if (ret < 0)
		return report(&err);
	if (cli->json)
		ret = show_json(json_result(r));
	else
		show_text(r);
	bay__cell_result__free_unpacked(r, NULL);
	return cli->json ? ret : BAY_OK;
}

static int show_run(struct cli *cli, int argc, char **argv)
{
	const char *path = "results.db";
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", show_options)) != -1) {
		if (opt != OPT_RESULTS)
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
		path = optarg;
	}
	if (argc - optind != 1 || !*argv[optind])
		return cli_usage("results show needs the key of one cell, or "
				 "its start");
	return show_result(cli, path, argv[optind]);
}

static const struct command cmd_results_list = {
	.name = "list",
	.args = "[--results FILE] [--state STATE]",
	.summary = "list the cells with their states",
	.run = list_run,
};

static const struct command cmd_results_show = {
	.name = "show",
	.args = "[--results FILE] KEY",
	.summary = "show one result: metrics, checks, rails, phases",
	.run = show_run,
};

static const struct command *const results_commands[] = {
	&cmd_results_list,
	&cmd_results_show,
	NULL,
};

const struct command cmd_results = {
	.name = "results",
	.args = "list|show",
	.summary = "what was measured",
	.sub = results_commands,
};
