/* host/cli/bench_parts.h - commands below `bay bench` that act on a bench that
 * is up; cmd_bench.c lists them. */
#ifndef HOST_CLI_BENCH_PARTS_H
#define HOST_CLI_BENCH_PARTS_H

#include "host/cli/command.h"

extern const struct command bench_boot;
extern const struct command bench_rig;
extern const struct command bench_plant;
extern const struct command bench_clear;
extern const struct command bench_faults;

#endif
