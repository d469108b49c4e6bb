/* Common options and dispatch. */
#include "host/cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The command that runs now, for usage lines: set by command_dispatch(), one
 * of the two file-scope states of this program (the other is getopt's). */
static struct {
	char prefix[128];
	const struct command *command;
} now;

enum {
	OPT_JSON = 0x10001,
};

static const struct cli_option common_options[] = {
	{ "bench", 'f', "FILE", "the bench; default bench.yaml" },
	{ "json", OPT_JSON, NULL, "print the result as JSON" },
	{ "verbose", 'v', NULL, "say more" },
	{ "help", 'h', NULL, "print this" },
	{ 0 },
};
#define COMMON_COUNT (sizeof(common_options) / sizeof(common_options[0]) - 1)

/* Where the words of --help begin. */
#define HELP_COLUMN 28

static void print_synopsis(FILE *to)
{
	const struct command *const *s;

	if (!now.command) {
		fprintf(to,
			"usage: bay [-f BENCH] COMMAND ...; see bay help\n");
		return;
	}
	if (!now.command->sub) {
		fprintf(to, "usage: %s %s%s%s\n", now.prefix, now.command->name,
			*now.command->args ? " " : "", now.command->args);
		return;
	}
	for (s = now.command->sub; *s; s++)
		fprintf(to, "usage: %s %s %s%s%s\n", now.prefix,
			now.command->name, (*s)->name, *(*s)->args ? " " : "",
			(*s)->args);
}

int cli_usage(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "bay: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	print_synopsis(stderr);
	return BAY_USAGE;
}

static unsigned add_options(struct option *all, unsigned n,
			    const struct cli_option *o)
{
	for (; o && o->name && n < COMMON_COUNT + CLI_OPTIONS_MAX; o++)
		all[n++] = (struct option){ .name = o->name,
					    .has_arg = o->arg != NULL,
					    .val = o->val };
	return n;
}

/* The common options first, then the command's. */
static void merge_options(struct option *all, const struct cli_option *own)
{
	unsigned n = add_options(all, 0, common_options);

	n = add_options(all, n, own);
	memset(&all[n], 0, sizeof(all[n]));
}

/* The common ones have short forms, where val is a character. */
static void print_options(const struct cli_option *o, bool common)
{
	for (; o && o->name; o++) {
		int n = common && o->val < 0x80
				? printf("  -%c, --%s", o->val, o->name)
				: printf("      --%s", o->name);

		if (o->arg)
			n += printf(" %s", o->arg);
		if (n >= HELP_COLUMN) {
			putchar('\n');
			n = 0;
		}
		printf("%*s%s\n", HELP_COLUMN - n, "", o->help);
	}
}

static void print_help(const struct cli_option *own)
{
	print_synopsis(stdout);
	if (now.command && *now.command->summary)
		printf("%s\n", now.command->summary);
	printf("\noptions:\n");
	print_options(own, false);
	print_options(common_options, true);
}

static bool take_common(struct cli *cli, int opt)
{
	switch (opt) {
	case 'f':
		cli->bench_path = optarg;
		return true;
	case 'v':
		cli->verbose++;
		return true;
	case OPT_JSON:
		cli->json = true;
		return true;
	default:
		return false;
	}
}

int cli_getopt(struct cli *cli, int argc, char **argv, const char *shortopts,
	       const struct cli_option *opts)
{
	struct option all[COMMON_COUNT + CLI_OPTIONS_MAX + 1];
	char program[] = "bay";
	char shorts[64];
	char *name = argv[0];
	int opt;

	merge_options(all, opts);
	snprintf(shorts, sizeof(shorts), "%sf:vh", *shortopts ? shortopts : "");
	/* getopt's own messages begin with it; the synopsis names the command.
	 */
	argv[0] = program;
	do {
		opt = getopt_long(argc, argv, shorts, all, NULL);
	} while (opt != -1 && take_common(cli, opt));
	argv[0] = name;
	if (opt == 'h') {
		print_help(opts);
		return CLI_HELP;
	}
	if (opt == '?')
		print_synopsis(stderr);
	return opt;
}

const struct command *command_find(const struct command *const *table,
				   const char *name)
{
	for (; *table; table++)
		if (strcmp((*table)->name, name) == 0)
			return *table;
	return NULL;
}

int command_dispatch(const struct command *const *table, const char *prefix,
		     struct cli *cli, int argc, char **argv)
{
	const struct command *c;
	char deeper[128];

	if (argc < 1)
		return cli_usage("%s needs a command", prefix);
	c = command_find(table, argv[0]);
	if (!c)
		return cli_usage("%s has no command '%s'", prefix, argv[0]);
	snprintf(now.prefix, sizeof(now.prefix), "%s", prefix);
	now.command = c;
	/* 0 and not 1: glibc then starts afresh, with this shortopts' '+'. */
	optind = 0;
	if (c->run)
		return c->run(cli, argc, argv);
	switch (cli_getopt(cli, argc, argv, "+", NULL)) {
	case -1:
		break;
	case CLI_HELP:
		return BAY_OK;
	default:
		return BAY_USAGE;
	}
	snprintf(deeper, sizeof(deeper), "%s %s", prefix, c->name);
	return command_dispatch(c->sub, deeper, cli, argc - optind,
				argv + optind);
}

const struct bench *cli_bench(struct cli *cli)
{
	struct err err = { 0 };

	if (cli->bench)
		return cli->bench;
	if (bench_load(cli->bench_path, &cli->bench, &err) == 0 &&
	    bench_run_dir_check(cli->bench, &err) == 0)
		return cli->bench;
	fprintf(stderr, "bay: %s\n", err.text);
	bench_free(cli->bench);
	cli->bench = NULL;
	return NULL;
}
