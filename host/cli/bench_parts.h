/* host/cli/bench_parts.h - commands below `bay bench` that act on a bench that
 * is up; cmd_bench.c lists them. */
#ifndef HOST_CLI_BENCH_PARTS_H
#define HOST_CLI_BENCH_PARTS_H

#include "host/bench/vbench.h"
#include "host/cli/command.h"

/* Whether the bench may be taken away from under whoever uses it: nobody does,
 * or force. BAY_OK, or the exit code after a sentence on stderr. */
int bench_may_go(struct cli *cli, bool force);

/* Run directory of the virtual bench that is described. BAY_OK, or the exit
 * code after a sentence on stderr. */
int bench_find_run(struct cli *cli, char run[VBENCH_PATH_MAX]);

extern const struct command bench_boot;
extern const struct command bench_rig;
extern const struct command bench_plant;
extern const struct command bench_clear;
extern const struct command bench_faults;

#endif
