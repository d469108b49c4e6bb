/* bay help [COMMAND]: what there is, from the table itself. */
#include "host/cli/command.h"

#include <stdio.h>
#include <string.h>

static void print_line(const char *prefix, const struct command *c)
{
	char left[128];

	snprintf(left, sizeof(left), "%s%s %s", prefix, c->name, c->args);
	if (strlen(left) > 34)
		printf("  bay %s\n%40s%s\n", left, "", c->summary);
	else
		printf("  bay %-34s%s\n", left, c->summary);
}

static void print_command(const struct command *c)
{
	const struct command *const *s;
	char prefix[64];

	if (!c->sub) {
		print_line("", c);
		return;
	}
	snprintf(prefix, sizeof(prefix), "%s ", c->name);
	for (s = c->sub; *s; s++)
		print_line(prefix, *s);
}

static int help_run(struct cli *cli, int argc, char **argv)
{
	const struct command *const *c;
	const char *only;
	bool found = false;
	int opt;

	opt = cli_getopt(cli, argc, argv, "", NULL);
	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	only = optind < argc ? argv[optind] : NULL;
	if (!only)
		puts("bay: a test bay for disks and arrays\n");
	for (c = command_table; *c; c++) {
		if (only && strcmp(only, (*c)->name) != 0)
			continue;
		print_command(*c);
		found = true;
	}
	if (!found)
		return cli_usage("there is no command '%s'", only);
	puts("\nEvery command takes -f/--bench FILE (bench.yaml), --json, -v "
	     "and "
	     "--help.\nExit: 0 done, 1 regressions, 2 usage, 3 unequal case "
	     "sets, 4 refused for\nsafety, 5 rig or agent unreachable, 6 some "
	     "cells failed. See bay(1).");
	return BAY_OK;
}

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "list the commands",
	.run = help_run,
};
