/* host/cli/command.h - the commands of bay and the options they share.
 *
 * A command = one cmd_*.c that defines a const struct command, and its line in
 * table.c. stdout carries results only, --json for machines;
 * everything else goes to stderr. */
#ifndef HOST_CLI_COMMAND_H
#define HOST_CLI_COMMAND_H

#include <getopt.h> /* optarg, optind */
#include <stdbool.h>

#include "host/bench/bench.h"
#include "host/cli/exit.h"

/* What the common options said. */
struct cli {
	const char *bench_path; /* -f, default "bench.yaml" */
	bool json;              /* --json */
	int verbose;            /* times -v was given */
	struct bench *bench;    /* loaded by cli_bench(), freed by main() */
};

struct command {
	const char *name;
	const char *args;    /* synopsis after the name, may be "" */
	const char *summary; /* one line for bay help */
	/* argv[0] is the command's name. Returns an enum bay_exit. NULL in a
	 * command that only groups others. */
	int (*run)(struct cli *cli, int argc, char **argv);
	const struct command *const *sub; /* NULL-terminated, or NULL */
};

extern const struct command *const command_table[]; /* NULL-terminated */

/* NULL: none of this table is called so. */
const struct command *command_find(const struct command *const *table,
				   const char *name);

/* Run argv[0]'s command out of a table, with its own argc and argv. An
 * unknown or missing name prints one line and returns BAY_USAGE.
 *   prefix  what the user typed so far, for messages: "bay rig" */
int command_dispatch(const struct command *const *table, const char *prefix,
		     struct cli *cli, int argc, char **argv);

/* One long option of a command, for getopt_long() and for --help. */
struct cli_option {
	const char *name; /* without the dashes */
	int val;          /* what cli_getopt() returns for it */
	const char *arg;  /* what its value is called; NULL: it has none */
	const char *help; /* a few words, no full stop */
};

/* Longest option table that a command may bring. */
#define CLI_OPTIONS_MAX 32

/* getopt_long() for a command: the common options (-f/--bench, --json, -v,
 * -h/--help) are handled inside, the command's own are returned.
 *   opts  ends with a zeroed entry, at most CLI_OPTIONS_MAX before it;
 *         may be NULL
 * Returns the option's val, -1 after the last one (operands then start at
 * optind), '?' after a bad option (already reported: return BAY_USAGE), or
 * CLI_HELP when help was printed (return BAY_OK). */
#define CLI_HELP 0x10000
int cli_getopt(struct cli *cli, int argc, char **argv, const char *shortopts,
	       const struct cli_option *opts);

/* Print the synopsis of the command cli_getopt() last worked for and return
 * BAY_USAGE. */
int cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Load the bench description once. NULL: reported on stderr, return
 * BAY_USAGE. The bench stays owned by cli. */
const struct bench *cli_bench(struct cli *cli);

#endif
