/* One line a command, in the order of bay help. */
#include "host/cli/command.h"

#include <stddef.h>

#include "host/cli/commands.h"

const struct command *const command_table[] = {
	&cmd_bench,   &cmd_rig,     &cmd_array, &cmd_run,
	&cmd_results, &cmd_compare, &cmd_help,  NULL,
};
