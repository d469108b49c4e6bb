/* host/cli/rig_cli.h - what the commands of bay rig share: a rig that is
 * connected for the time of one command. */
#ifndef HOST_CLI_RIG_CLI_H
#define HOST_CLI_RIG_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/cli/command.h"
#include "host/rig/rig.h"

struct rig_cli {
	struct cli *cli;
	int lock; /* of the bench; -1: not held */
	uv_loop_t loop;
	uv_signal_t on_int;
	uv_signal_t on_term;
	struct rig *rig;
	bool interrupted;
	bool first;             /* the next thing printed is the first */
	uint32_t last_line;     /* of the log; of this boot */
	uint32_t lines_dropped; /* as the rig told last */
	int rc;                 /* what a callback found */
};

/* Connect to the rig of the bench. SIGINT and SIGTERM cancel what waits.
 *   what   hold the bench under this name, for a command that stays; NULL:
 *          only look that nobody else holds it
 *   ops    callbacks, called with s; may be NULL
 *   since  number of the last event that is not wanted, or RIG_EVENTS_NEW
 * 0; -EUSERS: another bay uses the bench; -EINVAL: the bench cannot be used,
 * said already if err is empty; or as rig_open(). End with rig_cli_detach() in
 * each case. */
int rig_cli_attach(struct rig_cli *s, struct cli *cli, const char *what,
		   const struct rig_ops *ops, uint32_t since, struct err *err);
void rig_cli_detach(struct rig_cli *s);

/* Print err, if it says anything, and turn rc into the exit code. */
int rig_cli_complain(int rc, const struct err *err);

/* For a command without options or operands: -1 to go on, else the exit
 * code. */
int rig_cli_no_options(struct cli *cli, int argc, char **argv);

/* Serial of the disk that the bench expects in a slot, "" for none. */
const char *rig_cli_disk_in(const struct cli *cli, unsigned slot);

/* Slots by number, by a disk's serial, or "all" (with a disk of the bench).
 * 0 and a mask that is not empty; -EINVAL. */
int rig_cli_slots(struct rig_cli *s, int argc, char **argv, uint32_t *mask,
		  struct err *err);

#endif
