/* backplane/app.h - the parts of bay-backplane, put together. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_APP_H
#define BOARDS_VIRTUAL_BACKPLANE_APP_H

#include "boards/virtual/backplane/ctl.h"
#include "boards/virtual/backplane/disk.h"
#include "boards/virtual/backplane/guest.h"
#include "boards/virtual/backplane/model.h"
#include "boards/virtual/backplane/rig.h"

struct bp_app_cfg {
	const char *run;
	const struct bp_rig_ops *rig;
	const struct vboard *board;
	uint32_t settle_ms; /* that an answer waits at most; see ctl.h */
	const char *serial[BP_SLOTS]; /* NULL: the slot is empty */
};

struct bp_app {
	struct bp_app_cfg cfg;
	uv_loop_t loop;
	uv_timer_t tick;
	uint64_t tick_us; /* the last one */
	uv_signal_t signal[2];
	struct bp_model model;
	struct bp_rig *rig;
	struct bp_disk disk[BP_SLOTS];
	struct bp_guest guest;
	struct bp_ctl ctl;
};

/* Act upon what is new, an edge, a state or a fault, now and not at the next
 * tick. */
void bp_app_tick_soon(struct bp_app *app);

/* Runs until SIGTERM or SIGINT. 0 or -errno, logged. */
int bp_app_run(struct bp_app *app, const struct bp_app_cfg *cfg);

#endif
