/* bay run: the cells of a matrix, through rig and agent into the journal. */
#include "host/cli/run_job.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "host/bench/lock.h"
#include "host/bench/vbench.h"
#include "host/cli/progress.h"
#include "host/util/fs.h"

enum {
	OPT_RESULTS = 1,
	OPT_DRY_RUN,
	OPT_RESUME,
	OPT_STOP,
	OPT_RETRY,
};

static const struct cli_option options[] = {
	{ "results", OPT_RESULTS, "FILE", "the journal; default results.db" },
	{ "dry-run", OPT_DRY_RUN, NULL,
	  "print the cells in order and the expected time; do nothing" },
	{ "resume", OPT_RESUME, NULL,
	  "go on with an experiment that has begun" },
	{ "stop-at-failure", OPT_STOP, NULL,
	  "end at the first cell that fails" },
	{ "retry-quarantined", OPT_RETRY, NULL,
	  "as --resume, and try quarantined cells again" },
	{ 0 },
};

static int complain(const struct err *err, int code)
{
	fprintf(stderr, "bay: %s\n", err->text);
	return code;
}

/* ---- before the run ----------------------------------------------------- */

static int parse(struct run_job *j, int argc, char **argv)
{
	int opt;

	while ((opt = cli_getopt(j->cli, argc, argv, "", options)) != -1) {
		if (opt == OPT_RESULTS)
			j->results = optarg;
		else if (opt == OPT_DRY_RUN)
			j->dry_run = true;
		else if (opt == OPT_RESUME)
			j->resume = true;
		else if (opt == OPT_STOP)
			j->stop = true;
		else if (opt == OPT_RETRY)
			j->retry = j->resume = true;
		else
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	}
	if (optind + 1 != argc)
		return cli_usage("run needs one matrix");
	j->path = argv[optind];
	return -1;
}

static int check_disks(const struct run_job *j, struct err *err)
{
	const struct matrix *m = j->matrix;
	char path[64];
	unsigned i;

	for (i = 0; i < m->n_disks; i++) {
		snprintf(path, sizeof(path), "disks[%u]", i);
		if (!bench_disk_find(j->bench, m->disks[i]))
			return conf_fail(m->file, err, -EINVAL, path,
					 "disk %s is not listed in %s",
					 m->disks[i], j->bench->source);
	}
	return 0;
}

static int check_kernels(const struct run_job *j, struct err *err)
{
	const struct matrix *m = j->matrix;
	struct err why = { 0 };
	const char *kernel;
	char path[64];
	unsigned i = 0;
	int ret;

	ret = control_check_kernels(j->bench, &j->plan, &kernel, &why);
	if (ret != -ENOTSUP)
		return ret < 0 ? err_set(err, ret, "%s", why.text) : 0;
	while (i < m->n_kernel && strcmp(m->kernel[i], kernel) != 0)
		i++;
	snprintf(path, sizeof(path), "kernel[%u]", i);
	return conf_fail(m->file, err, ret, path, "%s", why.text);
}

static int plan_job(struct run_job *j, struct err *err)
{
	const char **serial;
	unsigned i;
	int ret;

	serial = calloc(j->bench->n_disks, sizeof(*serial));
	if (!serial)
		return err_sys(err, -ENOMEM, "planning the matrix");
	for (i = 0; i < j->bench->n_disks; i++)
		serial[i] = j->bench->disks[i].serial;
	ret = plan_make(j->matrix, serial, j->bench->n_disks, &j->plan, err);
	free(serial);
	return ret;
}

static int make_plan(struct run_job *j)
{
	struct err err = { 0 };
	int ret;

	j->bench = cli_bench(j->cli);
	if (!j->bench)
		return BAY_USAGE;
	ret = matrix_load(j->path, &j->matrix, &err);
	if (ret == 0)
		ret = check_disks(j, &err);
	if (ret == 0)
		ret = plan_job(j, &err);
	if (ret == 0)
		ret = check_kernels(j, &err);
	return ret < 0 ? complain(&err, BAY_USAGE) : -1;
}

/* ---- the run ------------------------------------------------------------ */

struct running {
	struct controller *control;
	struct progress progress;
	struct run_job *job;
	char run_dir[VBENCH_PATH_MAX];
	unsigned signals;
};

/* {"ok": true} or {"ok": false, "error": "..."} */
static int boot_answer(const char *answer, struct err *err)
{
	json_t *root = json_loads(answer, 0, NULL);
	const char *why = json_string_value(json_object_get(root, "error"));
	int ret = 0;

	if (!json_is_true(json_object_get(root, "ok")))
		ret = err_set(err, -EIO, "%s", why ? why : "no reason given");
	json_decref(root);
	return ret;
}

static int boot_virtual(void *arg, const char *kernel, uint32_t deadline_ms,
			struct err *err)
{
	const struct running *r = arg;
	char command[128], *answer = NULL;
	json_t *ask = json_pack("{s:s, s:s}", "cmd", "boot", "kernel", kernel);
	size_t n;
	int ret;

	if (!ask)
		return err_sys(err, -ENOMEM, "boot");
	n = json_dumpb(ask, command, sizeof(command) - 1, JSON_COMPACT);
	json_decref(ask);
	if (n >= sizeof(command))
		return err_sys(err, -ENAMETOOLONG, "kernel %s", kernel);
	command[n] = '\0';
	ret = vbench_ask(r->run_dir, command, deadline_ms, &answer, err);
	if (ret == 0)
		ret = boot_answer(answer, err);
	free(answer);
	return ret;
}

static void on_signal(uv_signal_t *s, int number)
{
	struct running *r = s->data;

	(void)number;
	r->signals++;
	if (r->control)
		control_stop(r->control);
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static int exit_of(enum control_end end)
{
	switch (end) {
	case CONTROL_DONE:
		return BAY_OK;
	case CONTROL_REFUSED:
		return BAY_REFUSED;
	case CONTROL_UNREACHABLE:
		return BAY_UNREACHABLE;
	case CONTROL_CONFIG:
		return BAY_USAGE;
	default:
		return BAY_FAILED;
	}
}

static const char *boot_id(char *buf, size_t size)
{
	if (fs_read_line("/proc/sys/kernel/random/boot_id", buf, size) < 0)
		snprintf(buf, size, "unknown");
	return buf;
}

static int run_with_loop(struct run_job *j, struct running *r, uv_loop_t *loop)
{
	struct control_sum sum;
	struct err err = { 0 };
	enum control_end end;
	char boot[64];
	struct control_cfg cfg = {
		.loop = loop,
		.bench = j->bench,
		.store = j->store,
		.plan = &j->plan,
		.boot_id = boot_id(boot, sizeof(boot)),
		.watch = progress_watch(&r->progress),
		.boot = j->bench->virt ? boot_virtual : NULL,
		.boot_arg = r,
		.stop_at_failure = j->stop,
	};

	progress_init(&r->progress, stderr, j->cell_s, j->measured);
	end = control_run(&cfg, &sum, &err, &r->control);
	progress_clear(&r->progress);
	if (end != CONTROL_DONE && *err.text)
		fprintf(stderr, "bay: %s\n", err.text);
	run_print_sum(j, end, &sum);
	if (j->cli->json)
		run_print_json(j, end, &sum, &err);
	return exit_of(end);
}

static int run_loop(struct run_job *j)
{
	struct running r = { .job = j };
	uv_signal_t watch[SIGNALS];
	uv_loop_t loop;
	size_t i;
	int ret;

	bench_run_dir(j->bench, r.run_dir, sizeof(r.run_dir));
	if (uv_loop_init(&loop) < 0)
		return BAY_FAILED;
	for (i = 0; i < SIGNALS; i++) {
		uv_signal_init(&loop, &watch[i]);
		watch[i].data = &r;
		uv_signal_start(&watch[i], on_signal, signals[i]);
		/* A signal's watcher alone keeps no loop waiting. */
		uv_unref((uv_handle_t *)&watch[i]);
	}
	ret = run_with_loop(j, &r, &loop);
	for (i = 0; i < SIGNALS; i++)
		uv_close((uv_handle_t *)&watch[i], NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	return ret;
}

/* An experiment that has begun is only gone on with when asked to. */
static int check_begun(struct run_job *j)
{
	struct store_counts n;
	struct err err = { 0 };

	if (store_count(j->store, j->matrix->experiment, &n, &err) < 0)
		return complain(&err, BAY_FAILED);
	if (j->resume ||
	    !(n.running + n.done + n.failed + n.hung + n.quarantined))
		return -1;
	return cli_usage("experiment %s has begun in %s (%u cells done); go on "
			 "with --resume, or choose another name or file",
			 j->matrix->experiment, j->results, n.done);
}

static int enter_plan(struct run_job *j)
{
	struct err err = { 0 };
	char boot[64];
	unsigned n, retried = 0;

	if (store_plan(j->store, j->matrix->experiment, j->bench->name,
		       conf_text(j->matrix->file), j->plan.cell, j->plan.n,
		       &err) < 0 ||
	    store_recover(j->store, boot_id(boot, sizeof(boot)), &n, &err) <
		    0 ||
	    store_mean_seconds(j->store, &j->cell_s, &err) < 0)
		return complain(&err, BAY_FAILED);
	if (j->retry &&
	    store_retry(j->store, j->matrix->experiment, &retried, &err) < 0)
		return complain(&err, BAY_FAILED);
	if (retried)
		fprintf(stderr, "bay: %u cell%s out of quarantine\n", retried,
			retried == 1 ? "" : "s");
	if (n)
		fprintf(stderr, "bay: an earlier run died in a cell; it is "
				"done again\n");
	j->measured = j->cell_s > 0;
	if (!j->measured)
		j->cell_s = j->plan.estimate_s / (double)j->plan.n;
	return -1;
}

static int run_job(struct run_job *j)
{
	struct err err = { 0 };
	int ret;

	j->lock = bench_lock(j->bench, "run", &err);
	if (j->lock < 0)
		return complain(&err, BAY_REFUSED);
	ret = store_open(j->results, STORE_WRITE, NULL, &j->store, &err);
	if (ret < 0)
		return complain(&err, ret == -ENOSPC || ret == -EIO ||
						      ret == -EBUSY ||
						      ret == -ENOMEM
					      ? BAY_FAILED
					      : BAY_USAGE);
	ret = check_begun(j);
	if (ret == -1)
		ret = enter_plan(j);
	return ret == -1 ? run_loop(j) : ret;
}

static int run_run(struct cli *cli, int argc, char **argv)
{
	struct run_job j = { .cli = cli, .results = "results.db", .lock = -1 };
	int ret;

	ret = parse(&j, argc, argv);
	if (ret == -1)
		ret = make_plan(&j);
	if (ret == -1)
		ret = j.dry_run ? run_print_plan(&j) : run_job(&j);
	store_close(j.store);
	bench_unlock(j.lock);
	plan_free(&j.plan);
	matrix_free(j.matrix);
	return ret;
}

const struct command cmd_run = {
	.name = "run",
	.args = "[--dry-run] [--resume] [--retry-quarantined] [--results DB] "
		"[--stop-at-failure] MATRIX",
	.summary = "run the cells of a matrix",
	.run = run_run,
};
