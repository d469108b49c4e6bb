/* bay bench: the bench without hardware, up and down. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bench/vbench_daemon.h"
#include "host/cli/bench_parts.h"
#include "host/cli/command.h"
#include "host/cli/print_json.h"
#include "host/util/log.h"

#define DOWN_MS   20000
#define ANSWER_MS 10000
#define BOOT_MS   200000

static int exit_of(int rc)
{
	switch (rc) {
	case 0:
		return BAY_OK;
	case -EINVAL:
	case -ENAMETOOLONG:
		return BAY_USAGE;
	case -EBUSY:
	case -EPERM:
		return BAY_REFUSED;
	default:
		return BAY_FAILED;
	}
}

static int complain(const struct err *err, int code)
{
	fprintf(stderr, "bay: %s\n", err->text);
	return code;
}

static void print_progress(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "bay: %s\n", text);
}

/* ---- up ---- */

enum {
	OPT_FOREGROUND = 1,
	OPT_KERNEL,
	OPT_NO_GUEST,
	OPT_USB_RIG,
	OPT_KEEP_LOGS,
	OPT_FORCE,
};

static const struct cli_option up_options[] = {
	{ "foreground", OPT_FOREGROUND, NULL,
	  "stay attached; Ctrl-C takes the bench down" },
	{ "kernel", OPT_KERNEL, "NAME", "boot this guest image first" },
	{ "no-guest", OPT_NO_GUEST, NULL, "rig and disks only" },
	{ "usb-rig", OPT_USB_RIG, NULL,
	  "also give the guest the rig as a USB serial adapter" },
	{ "keep-logs", OPT_KEEP_LOGS, NULL,
	  "keep the logs of a bench that ended well" },
	{ 0 },
};

struct up_args {
	struct vbench_cfg cfg;
	const char *kernel;
	bool foreground;
};

static int up_parse(struct cli *cli, int argc, char **argv, struct up_args *up)
{
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", up_options)) != -1) {
		if (opt == OPT_FOREGROUND)
			up->foreground = true;
		else if (opt == OPT_KERNEL)
			up->kernel = optarg;
		else if (opt == OPT_NO_GUEST)
			up->cfg.no_guest = true;
		else if (opt == OPT_USB_RIG)
			up->cfg.usb_rig = true;
		else if (opt == OPT_KEEP_LOGS)
			up->cfg.keep_logs = true;
		else
			return opt;
	}
	if (optind < argc) {
		cli_usage("unexpected argument '%s'", argv[optind]);
		return '?';
	}
	return -1;
}

static void say_up(const struct cli *cli, const struct vbench_cfg *cfg)
{
	if (cli->json)
		print_json(json_pack("{s:b, s:s, s:s}", "up", 1, "name",
				     cfg->name, "run", cfg->run),
			   JSON_LINE);
	else
		printf("bench %s is up in %s\n", cfg->name, cfg->run);
	fflush(stdout);
}

struct foreground {
	const struct cli *cli;
	const struct vbench_cfg *cfg;
};

static void foreground_ready(void *arg)
{
	const struct foreground *f = arg;

	say_up(f->cli, f->cfg);
}

static int up_foreground(const struct cli *cli, const struct vbench_cfg *cfg,
			 struct err *err)
{
	struct foreground f = { cli, cfg };
	struct vbench_watch watch = { .ready = foreground_ready, .arg = &f };

	log_init("bay", false);
	return vbench_run(cfg, &watch, err);
}

static int up_background(const struct cli *cli, const struct vbench_cfg *cfg,
			 struct err *err)
{
	int rc = vbench_daemon(cfg, print_progress, NULL, err);

	if (!rc)
		say_up(cli, cfg);
	return rc;
}

static int run_up(struct cli *cli, int argc, char **argv)
{
	struct up_args up = { 0 };
	struct err err = { 0 };
	const struct bench *b;
	int rc = up_parse(cli, argc, argv, &up);

	if (rc != -1)
		return rc == CLI_HELP ? BAY_OK : BAY_USAGE;
	b = cli_bench(cli);
	if (!b)
		return BAY_USAGE;
	rc = vbench_cfg_fill(&up.cfg, b, up.kernel, &err);
	if (rc)
		return complain(&err, BAY_USAGE);
	if (up.foreground)
		rc = up_foreground(cli, &up.cfg, &err);
	else
		rc = up_background(cli, &up.cfg, &err);
	return rc ? complain(&err, exit_of(rc)) : BAY_OK;
}

/* ---- commands to a bench that is up ---- */

static const struct cli_option force_options[] = {
	{ "force", OPT_FORCE, NULL, "also while a bay uses the bench" },
	{ 0 },
};

/* The options, no operands. -1: go on with run.
 *   force  out: --force was given; NULL: the command has no such option */
static int plain_parse(struct cli *cli, int argc, char **argv,
		       char run[VBENCH_PATH_MAX], bool *force)
{
	const struct cli_option *options = force ? force_options : NULL;
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", options)) != -1) {
		if (opt != OPT_FORCE || !force)
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
		*force = true;
	}
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	return bench_find_run(cli, run) ? BAY_USAGE : -1;
}

static int run_down(struct cli *cli, int argc, char **argv)
{
	char run[VBENCH_PATH_MAX];
	struct err err = { 0 };
	char *answer = NULL;
	bool force = false;
	int rc = plain_parse(cli, argc, argv, run, &force);
	int cleared;

	if (rc != -1)
		return rc;
	rc = bench_may_go(cli, force);
	if (rc)
		return rc;
	rc = vbench_ask(run, "{\"cmd\":\"down\"}", DOWN_MS, &answer, &err);
	free(answer);
	/* -ENOENT: nothing listens, but a killed one may have left files. */
	if (rc && rc != -ENOENT && rc != -ECONNRESET)
		return complain(&err, BAY_UNREACHABLE);
	cleared = vbench_dir_clear(run, DOWN_MS);
	if (cleared < 0) {
		fprintf(stderr, "bay: %s: %s\n", run, strerror(-cleared));
		return BAY_FAILED;
	}
	if (rc == -ENOENT)
		fprintf(stderr, "bay: the bench was not up%s\n",
			cleared ? "; what a killed one left is removed" : "");
	if (cli->json)
		print_json(json_pack("{s:s, s:b}", "name", cli->bench->name,
				     "down", 1),
			   JSON_LINE);
	return BAY_OK;
}

static void print_rail(const json_t *slot, const char *rail)
{
	const json_t *r = json_object_get(slot, rail);

	printf("  %6.2f V %5.2f A",
	       (double)json_integer_value(json_object_get(r, "mv")) / 1000,
	       (double)json_integer_value(json_object_get(r, "ma")) / 1000);
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void print_slots(const json_t *slots)
{
	size_t i;
	const json_t *s;

	if (json_array_size(slots))
		printf("\nslot  disk                  5 V rail           12 V "
		       "rail  disk     in guest  faults\n");
	json_array_foreach((json_t *)slots, i, s)
	{
		const json_t *faults = json_object_get(s, "faults");
		size_t k;
		const json_t *f;

		printf("%4d  %-14s",
		       (int)json_integer_value(json_object_get(s, "slot")),
		       text_of(s, "serial"));
		print_rail(s, "5v");
		print_rail(s, "12v");
		printf("  %-7s  %-8s ", text_of(s, "disk"),
		       json_is_true(json_object_get(s, "attached")) ? "yes"
								    : "no");
		json_array_foreach((json_t *)faults, k, f)
			printf(" %s", json_string_value(f));
		printf("\n");
	}
}

static void print_status(const json_t *root)
{
	const json_t *backplane = json_object_get(root, "backplane");
	size_t i;
	const json_t *c;

	printf("bench %s is %s in %s\n", text_of(root, "name"),
	       text_of(root, "state"), text_of(root, "run"));
	printf("rig %s, guest kernel %s (%s), agent %s\n\n",
	       text_of(root, "board"), text_of(root, "kernel"),
	       text_of(root, "accel"),
	       json_is_true(json_object_get(backplane, "agent")) ? "ready"
								 : "not ready");
	printf("%-24s %8s  %-11s %8s  %s\n", "part", "pid", "state", "restarts",
	       "last end");
	json_array_foreach(json_object_get(root, "children"), i, c)
		printf("%-24s %8d  %-11s %8d  %s\n", text_of(c, "name"),
		       (int)json_integer_value(json_object_get(c, "pid")),
		       text_of(c, "state"),
		       (int)json_integer_value(json_object_get(c, "restarts")),
		       text_of(c, "last_exit"));
	print_slots(json_object_get(backplane, "slots"));
}

static int run_status(struct cli *cli, int argc, char **argv)
{
	char run[VBENCH_PATH_MAX];
	struct err err = { 0 };
	char *answer = NULL;
	json_t *root;
	int rc = plain_parse(cli, argc, argv, run, NULL);

	if (rc != -1)
		return rc;
	if (vbench_ask(run, "{\"cmd\":\"status\"}", ANSWER_MS, &answer, &err))
		return complain(&err, BAY_UNREACHABLE);
	root = json_loads(answer, 0, NULL);
	if (cli->json)
		puts(answer);
	else
		print_status(root);
	free(answer);
	json_decref(root);
	return BAY_OK;
}

static const struct command bench_up = {
	"up",
	"[--kernel NAME] [--foreground] [--no-guest] [--usb-rig] "
	"[--keep-logs]",
	"start a virtual bench", run_up, NULL
};
static const struct command bench_down = { "down", "[--force]",
					   "stop it and leave nothing behind",
					   run_down, NULL };
static const struct command bench_status = { "status", "",
					     "show its parts and slots",
					     run_status, NULL };

static const struct command *const bench_commands[] = {
	&bench_up,    &bench_down,  &bench_status, &bench_boot, &bench_rig,
	&bench_plant, &bench_clear, &bench_faults, NULL,
};

const struct command cmd_bench = { "bench", "COMMAND ...",
				   "the bench without hardware", NULL,
				   bench_commands };
