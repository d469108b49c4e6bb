/* backplane/rig.h - the rig's side of the copper: whichever way a firmware
 * runs, it moves gates and sees voltages through this. Event loop context. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_RIG_H
#define BOARDS_VIRTUAL_BACKPLANE_RIG_H

#include <stdbool.h>
#include <uv.h>

#include "boards/virtual/backplane/model.h"
#include "boards/virtual/vboard.h"

struct bp_rig_events {
	void (*gate)(void *arg, unsigned int slot, unsigned int rail, bool on);
	void (*gates_off)(void *arg); /* MCU reset, or the rig is gone */
	void *arg;
};

struct bp_rig_cfg {
	const char *run;            /* runtime directory */
	const struct vboard *board; /* of bp_rig_qemu: one with a machine */
	struct bp_rig_events events;
};

struct bp_rig;

typedef void (*bp_rig_fn)(void *arg);

struct bp_rig_ops {
	const char *name;
	/* NULL with errno. Reconnects by itself for ever. */
	struct bp_rig *(*open)(uv_loop_t *loop, const struct bp_rig_cfg *cfg);
	/* Show the firmware what changed in the model. */
	void (*refresh)(struct bp_rig *rig, const struct bp_model *m);
	bool (*online)(const struct bp_rig *rig);
	/* Call fn, now or later but exactly once, when what was refreshed so
	 * far has reached the firmware, or when the rig is gone. false: the
	 * last refresh could not be shown; ask again after the next. */
	bool (*settle)(struct bp_rig *rig, bp_rig_fn fn, void *arg);
	/* Asynchronous: free(rig) is the caller's, once the loop has run
	 * dry. */
	void (*close)(struct bp_rig *rig);
};

extern const struct bp_rig_ops bp_rig_qemu;
extern const struct bp_rig_ops bp_rig_posix;

#endif
