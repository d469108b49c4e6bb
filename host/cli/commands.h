/* host/cli/commands.h - every command that table.c lists. */
#ifndef HOST_CLI_COMMANDS_H
#define HOST_CLI_COMMANDS_H

#include "host/cli/command.h"

extern const struct command cmd_array;
extern const struct command cmd_bench;
extern const struct command cmd_compare;
extern const struct command cmd_help;
extern const struct command cmd_results;
extern const struct command cmd_rig;
extern const struct command cmd_run;

#endif
