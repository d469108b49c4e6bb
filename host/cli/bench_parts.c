/* What can be done to a virtual bench that is up: its guest booted, its rig's
 * emulator stopped, faults planted. */
#include "host/cli/bench_parts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bench/lock.h"

#define ANSWER_MS 10000
#define BOOT_MS   200000

static int complain(const struct err *err, int code)
{
	fprintf(stderr, "bay: %s\n", err->text);
	return code;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

int bench_may_go(struct cli *cli, bool force)
{
	const struct bench *b = cli_bench(cli);
	struct err err = { 0 };
	int rc;

	if (!b)
		return BAY_USAGE;
	if (force)
		return BAY_OK;
	rc = bench_lock_look(b, &err);
	if (rc == -EBUSY) {
		fprintf(stderr, "bay: %s, or add --force\n", err.text);
		return BAY_REFUSED;
	}
	return rc ? complain(&err, BAY_FAILED) : BAY_OK;
}

enum {
	OPT_DISK = 1,
	OPT_FORCE,
};

static const struct cli_option boot_options[] = {
	{ "force", OPT_FORCE, NULL, "also while a bay uses the bench" },
	{ 0 },
};

static const struct cli_option disk_options[] = {
	{ "disk", OPT_DISK, "SERIAL",
	  "at the slot of this disk; default: all slots" },
	{ 0 },
};

/* Send a command, print its answer. Takes root over. */
static int tell(struct cli *cli, const char *run, uint32_t deadline_ms,
		json_t *root)
{
	char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;
	struct err err = { 0 };
	char *answer = NULL;
	json_t *reply;
	int code = BAY_OK;

	json_decref(root);
	if (!line)
		return complain(&(struct err){ "out of memory" }, BAY_FAILED);
	if (vbench_ask(run, line, deadline_ms, &answer, &err)) {
		free(line);
		return complain(&err, BAY_UNREACHABLE);
	}
	reply = json_loads(answer, 0, NULL);
	if (!json_is_true(json_object_get(reply, "ok"))) {
		fprintf(stderr, "bay: %s\n", text_of(reply, "error"));
		code = json_is_true(json_object_get(reply, "usage"))
			       ? BAY_USAGE
			       : BAY_FAILED;
	} else if (cli->json) {
		puts(answer);
	}
	json_decref(reply);
	free(answer);
	free(line);
	return code;
}

int bench_find_run(struct cli *cli, char run[VBENCH_PATH_MAX])
{
	const struct bench *b = cli_bench(cli);
	struct err err = { 0 };

	if (!b)
		return BAY_USAGE;
	if (vbench_is_described(b, &err))
		return complain(&err, BAY_USAGE);
	if (!bench_run_dir(b, run, VBENCH_PATH_MAX))
		return BAY_OK;
	fprintf(stderr, "bay: runtime directory of %s is too long\n", b->name);
	return BAY_USAGE;
}

static int run_boot(struct cli *cli, int argc, char **argv)
{
	char run[VBENCH_PATH_MAX];
	bool force = false;
	const char *kernel;
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", boot_options)) != -1) {
		if (opt != OPT_FORCE)
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
		force = true;
	}
	if (argc - optind > 1)
		return cli_usage("boot takes one kernel");
	kernel = argv[optind];
	if (bench_find_run(cli, run))
		return BAY_USAGE;
	opt = bench_may_go(cli, force);
	if (opt)
		return opt;
	return tell(cli, run, BOOT_MS,
		    json_pack("{s:s, s:s*}", "cmd", "boot", "kernel", kernel));
}

/* Fault name and its parameters as one text. */
static void join(char *text, size_t size, char **words)
{
	size_t n = 0;

	text[0] = '\0';
	for (; *words && n < size; words++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "",
				      *words);
}

static int fault_command(struct cli *cli, int argc, char **argv,
			 const char *verb)
{
	char run[VBENCH_PATH_MAX];
	char fault[200];
	const char *disk = NULL;
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", disk_options)) != -1) {
		if (opt != OPT_DISK)
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
		disk = optarg;
	}
	join(fault, sizeof(fault), argv + optind);
	if (!fault[0] && !strcmp(verb, "plant"))
		return cli_usage("plant needs a fault; see bay bench faults");
	if (bench_find_run(cli, run))
		return BAY_USAGE;
	return tell(cli, run, ANSWER_MS,
		    json_pack("{s:s, s:s*, s:s*}", "cmd", verb, "fault",
			      fault[0] ? fault : NULL, "disk", disk));
}

static int run_plant(struct cli *cli, int argc, char **argv)
{
	return fault_command(cli, argc, argv, "plant");
}

static int run_clear(struct cli *cli, int argc, char **argv)
{
	return fault_command(cli, argc, argv, "clear");
}

static void print_faults(const json_t *faults)
{
	size_t i;
	const json_t *f;

	json_array_foreach((json_t *)faults, i, f)
	{
		const char *unit = text_of(f, "unit");

		printf("%-16s %s", text_of(f, "name"), text_of(f, "summary"));
		if (json_is_true(json_object_get(f, "rail")))
			printf("; rail=5v|12v");
		if (*unit)
			printf("; %s=%d", unit,
			       (int)json_integer_value(
				       json_object_get(f, "default")));
		printf("\n");
	}
	puts("Any other name is a fault of the disk model: "
	     "nbdkit-bay-disk-plugin(1).");
}

static int run_faults(struct cli *cli, int argc, char **argv)
{
	char run[VBENCH_PATH_MAX];
	struct err err = { 0 };
	char *answer = NULL;
	json_t *root;
	int opt = cli_getopt(cli, argc, argv, "", NULL);

	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	if (bench_find_run(cli, run))
		return BAY_USAGE;
	if (vbench_ask(run, "{\"cmd\":\"faults\"}", ANSWER_MS, &answer, &err))
		return complain(&err, BAY_UNREACHABLE);
	root = json_loads(answer, 0, NULL);
	if (cli->json)
		puts(answer);
	else
		print_faults(json_object_get(root, "faults"));
	json_decref(root);
	free(answer);
	return BAY_OK;
}

/* ---- the rig's own process ---- */

static const struct {
	const char *verb;
	const char *cmd;
} rig_verbs[] = {
	{ "reset", "reset-rig" },
	{ "stop", "stop-rig" },
	{ "cont", "cont-rig" },
};

static int run_rig(struct cli *cli, int argc, char **argv)
{
	char run[VBENCH_PATH_MAX];
	int opt = cli_getopt(cli, argc, argv, "", NULL);

	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	if (argc - optind != 1)
		return cli_usage("rig takes reset, stop or cont");
	for (size_t i = 0; i < sizeof(rig_verbs) / sizeof(rig_verbs[0]); i++) {
		if (strcmp(rig_verbs[i].verb, argv[optind]) != 0)
			continue;
		if (bench_find_run(cli, run))
			return BAY_USAGE;
		return tell(cli, run, ANSWER_MS,
			    json_pack("{s:s}", "cmd", rig_verbs[i].cmd));
	}
	return cli_usage("rig takes reset, stop or cont, not '%s'",
			 argv[optind]);
}

const struct command bench_boot = { "boot", "[--force] [KERNEL]",
				    "boot the guest, wait for its agent",
				    run_boot, NULL };
const struct command bench_plant = { "plant",
				     "[--disk SERIAL] FAULT [KEY=VALUE ...]",
				     "plant a fault at a disk's slot or at all",
				     run_plant, NULL };
const struct command bench_clear = { "clear", "[--disk SERIAL] [FAULT]",
				     "remove planted faults", run_clear, NULL };
const struct command bench_faults = { "faults", "", "list the faults it knows",
				      run_faults, NULL };
const struct command bench_rig = {
	"rig", "reset|stop|cont",
	"reset the rig's MCU; stop its emulator, let it go on", run_rig, NULL
};
