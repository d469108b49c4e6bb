/* bay: command line and controller of the test bay. */
#include <signal.h>
#include <stdio.h>

#include "host/cli/command.h"

#define VERSION_OPTION 'V'

static const struct cli_option options[] = {
	{ "version", VERSION_OPTION, NULL, "print the version" },
	{ 0 },
};

static int run(struct cli *cli, int argc, char **argv)
{
	switch (cli_getopt(cli, argc, argv, "+V", options)) {
	case -1:
		return command_dispatch(command_table, "bay", cli,
					argc - optind, argv + optind);
	case VERSION_OPTION:
		puts("bay " BAY_VERSION);
		return BAY_OK;
	case CLI_HELP:
		return BAY_OK;
	default:
		return BAY_USAGE;
	}
}

int main(int argc, char **argv)
{
	struct cli cli = { .bench_path = "bench.yaml" };
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = run(&cli, argc, argv);
	bench_free(cli.bench);
	if (fflush(stdout) != 0) {
		perror("bay: cannot write the result to standard output");
		return rc ? rc : BAY_FAILED;
	}
	return rc;
}
