/* host/agent/guard.h - the only door to writing on a disk. A guard holds one
 * allow-listed disk, proven to be that disk through the open descriptor,
 * claimed exclusively, with its signatures judged. */
#ifndef HOST_AGENT_GUARD_H
#define HOST_AGENT_GUARD_H

#include "host/agent/agent.h"
#include "host/agent/disk.h"
#include "host/agent/probe.h"

struct guard {
	struct disk disk;
	char serial[96];          /* as asked for */
	char path[FS_PATH_BYTES]; /* node */
	int fd;                   /* exclusive claim; -1 */
	int pin_fd;               /* keeps the kernel name from being reused
				   * while a tool opens the node by path; -1 */
	struct probe_result sigs;
	bool ours; /* carries signatures, all of bay's */
};

/* Claim one disk. -EPERM: not allow-listed, in use, read-only, or it carries a
 * signature that bay did not write. -ENODEV, -ENOTUNIQ: see disk_find. g is
 * closed on failure. */
int guard_open(struct guard *g, const struct agent *a, const char *serial,
	       struct err *err);

/* Claim several; all or none. */
int guard_open_all(struct guard *g, const struct agent *a, char *const *serials,
		   size_t count, struct err *err);

/* Whether the descriptor still is the disk asked for; call right before each
 * destructive step. -EPERM. */
int guard_verify(const struct guard *g, const struct agent *a, struct err *err);

/* Erase bay's signatures. Verifies first. */
int guard_wipe(struct guard *g, const struct agent *a, struct err *err);

/* Verify, then give the exclusive claim up for a tool that wants its own; the
 * name stays pinned until guard_close. */
int guard_hand_over(struct guard *g, const struct agent *a, struct err *err);

void guard_close(struct guard *g);
void guard_close_all(struct guard *g, size_t count);

#endif
