/* backplane/ctl.h - RUN/backplane.ctl: one text line in, one JSON object a
 * line out. The supervisor of the bench plants faults through it.
 *
 *   status                     all slots as they are
 *   faults                     names, summaries and parameters
 *   plant SLOT|all NAME [K=V]  a fault of the backplane's table; any other
 *                              name goes to the slot's disk model
 *   clear SLOT|all [NAME]      here and at the disk models
 *
 * plant and clear are answered when they are done: a rig told to fall silent
 * has fallen silent, the disk models have forgotten their faults. What does
 * not react is waited for settle_ms only: it stands still, and sees the
 * fault when it goes on. Rails take their time, as on any bench.
 *
 * Failure: {"ok": false, "error": "one sentence"}. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_CTL_H
#define BOARDS_VIRTUAL_BACKPLANE_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/util/line_server.h"

#define BP_CTL_WAITS 16

struct bp_app;

/* An answer that waits for its effect. */
struct bp_ctl_wait {
	struct bp_app *app;
	unsigned int left;      /* parts that have not settled; 0: unused */
	bool rig_due;           /* the rig's part, which has not been asked */
	struct line_client *cl; /* NULL: has been answered */
	json_t *root;           /* the answer */
	uint64_t deadline_us;
};

struct bp_ctl {
	struct line_server server;
	struct bp_ctl_wait wait[BP_CTL_WAITS];
};

/* 0 or -errno: nothing listens. A socket that is left over is replaced. */
int bp_ctl_open(struct bp_ctl *c, struct bp_app *app, const char *run);

/* Once a tick, behind the rig's refresh: see what has settled, and answer for
 * what has taken too long. */
void bp_ctl_tick(struct bp_ctl *c, uint64_t now_us);

/* Stop listening and unlink the socket. */
void bp_ctl_close(struct bp_ctl *c);

#endif
