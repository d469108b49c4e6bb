/* The commands, in the order of bay help. */
#include "host/cli/command.h"

#include <stddef.h>

/* One line a command; each is defined in the file of its name. */
#define COMMANDS(X)                                                            \
	X(cmd_bench)                                                           \
	X(cmd_rig)                                                             \
	X(cmd_array)                                                           \
	X(cmd_run)                                                             \
	X(cmd_results)                                                         \
	X(cmd_compare)                                                         \
	X(cmd_help)

#define DECLARE(cmd) extern const struct command cmd;
#define LIST(cmd)    &(cmd),

COMMANDS(DECLARE)

const struct command *const command_table[] = {
	COMMANDS(LIST) NULL,
};
