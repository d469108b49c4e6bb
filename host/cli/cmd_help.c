/* bay help [COMMAND ...]: what there is, from the table itself. */
#include "host/cli/command.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/print_json.h"
#include "host/util/buf.h"

/* Where the summaries begin. */
#define SUMMARY_COLUMN 40

/* What is printed: lines of text, or rows of a list. */
struct out {
	json_t *rows; /* NULL: as text */
};

static void print_text(const char *synopsis, const char *summary)
{
	int n = printf("  %s", synopsis);

	if (n >= SUMMARY_COLUMN) {
		putchar('\n');
		n = 0;
	}
	printf("%*s%s\n", SUMMARY_COLUMN - n, "", summary);
}

/* One command.
 *   prefix  what is typed before its name: "bay rig" */
static void print_line(struct out *o, const char *prefix,
		       const struct command *c)
{
	struct buf synopsis = { 0 };

	buf_printf(&synopsis, "%s %s%s%s", prefix, c->name, *c->args ? " " : "",
		   c->args);
	if (o->rows)
		json_array_append_new(o->rows,
				      json_pack("{s:s, s:s}", "synopsis",
						buf_str(&synopsis), "summary",
						c->summary));
	else
		print_text(buf_str(&synopsis), c->summary);
	buf_free(&synopsis);
}

/* A command, or the ones that it groups. */
static void print_command(struct out *o, const char *prefix,
			  const struct command *c)
{
	const struct command *const *s;
	struct buf deeper = { 0 };

	if (!c->sub) {
		print_line(o, prefix, c);
		return;
	}
	buf_printf(&deeper, "%s %s", prefix, c->name);
	for (s = c->sub; *s; s++)
		print_line(o, buf_str(&deeper), *s);
	buf_free(&deeper);
}

static void print_all(struct out *o)
{
	const struct command *const *c;

	if (!o->rows)
		puts("bay: a test bay for disks and arrays\n");
	for (c = command_table; *c; c++)
		print_command(o, "bay", *c);
}

/* The command that the words name: "array create". */
static int print_one(struct out *o, char *const *words, int n)
{
	const struct command *c = command_find(command_table, words[0]);
	struct buf prefix = { 0 };

	buf_printf(&prefix, "bay");
	for (int i = 1; c && i < n; i++) {
		buf_printf(&prefix, " %s", c->name);
		c = c->sub ? command_find(c->sub, words[i]) : NULL;
	}
	if (c)
		print_command(o, buf_str(&prefix), c);
	buf_free(&prefix);
	return c ? 0 : -1;
}

static int no_command(char *const *words, int n)
{
	struct buf all = { 0 };
	int rc;

	for (int i = 0; i < n; i++)
		buf_printf(&all, "%s%s", i ? " " : "", words[i]);
	rc = cli_usage("there is no command '%s'", buf_str(&all));
	buf_free(&all);
	return rc;
}

static int help_run(struct cli *cli, int argc, char **argv)
{
	struct out o = { 0 };
	int opt = cli_getopt(cli, argc, argv, "", NULL);

	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	o.rows = cli->json ? json_array() : NULL;
	if (optind == argc) {
		print_all(&o);
	} else if (print_one(&o, argv + optind, argc - optind)) {
		json_decref(o.rows);
		return no_command(argv + optind, argc - optind);
	}
	if (cli->json)
		return print_json(o.rows, JSON_DOCUMENT) ? BAY_FAILED : BAY_OK;
	puts("\nEvery command also takes -f BENCH (else bench.yaml), --json, "
	     "-v and --help,\n"
	     "which explains its options.\n"
	     "Exit: 0 done, 1 regressions, 2 usage, 3 unequal case sets, "
	     "4 refused for\n"
	     "safety, 5 rig or agent unreachable, 6 some cells failed. "
	     "See bay(1).");
	return BAY_OK;
}

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND ...]",
	.summary = "list the commands",
	.run = help_run,
};
