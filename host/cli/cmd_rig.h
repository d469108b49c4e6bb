/* host/cli/cmd_rig.h - the parts of bay rig that have a file of their own. */
#ifndef HOST_CLI_CMD_RIG_H
#define HOST_CLI_CMD_RIG_H

#include "host/cli/command.h"

extern const struct command rig_power_command;
extern const struct command rig_monitor_command;
extern const struct command rig_log_command;

#endif
