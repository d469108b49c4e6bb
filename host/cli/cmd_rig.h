/* host/cli/cmd_rig.h - the parts of bay rig that have a file of their own. */
#ifndef HOST_CLI_CMD_RIG_H
#define HOST_CLI_CMD_RIG_H

#include "host/cli/command.h"
#include "host/cli/rig_cli.h"

extern const struct command rig_power_command;
extern const struct command rig_monitor_command;
extern const struct command rig_log_command;
extern const struct command rig_clear_command;

/* Print what became of the slots in mask, as text or JSON.
 *   was_off  they were to be off: tell of the fall
 * 0, or as print_json(). */
int rig_power_report(struct rig_cli *s, uint32_t mask,
		     const struct rig_slot_report *reports, bool was_off);

#endif
