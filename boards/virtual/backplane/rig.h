/* backplane/rig.h - the rig's side of the copper: whichever way a firmware
 * runs, it moves gates and sees voltages through this. Event loop context. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_RIG_H
#define BOARDS_VIRTUAL_BACKPLANE_RIG_H

#include <stdbool.h>
#include <uv.h>

#include "boards/virtual/backplane/model.h"

struct bp_pin {
	unsigned int port; /* n-th PL061 of the machine; A is 0 */
	unsigned int pin;  /* 0..7 */
};

/* The pins of a board that QEMU emulates; must say what the board's own
 * table in boards/NAME/board.c says. */
struct bp_board {
	const char *name;
	const char *gpio_type;     /* QOM type of a port */
	const uint32_t *gpio_base; /* address of each port */
	unsigned int gpio_ports;
	uint32_t gpio_data; /* offset: all 8 pins readable */
	uint32_t gpio_dir;  /* offset: 1 = output */
	struct bp_pin gate[BP_SLOTS][BP_RAILS];
	struct bp_pin activity[BP_SLOTS];
};

/* NULL: no such board. */
const struct bp_board *bp_board_find(const char *name);

struct bp_rig_events {
	void (*gate)(void *arg, unsigned int slot, unsigned int rail, bool on);
	void (*gates_off)(void *arg); /* MCU reset, or the rig is gone */
	void *arg;
};

struct bp_rig_cfg {
	const char *run;              /* runtime directory */
	const struct bp_board *board; /* NULL where it is not needed */
	struct bp_rig_events events;
};

struct bp_rig;

struct bp_rig_ops {
	const char *name;
	/* NULL with errno. Reconnects by itself for ever. */
	struct bp_rig *(*open)(uv_loop_t *loop, const struct bp_rig_cfg *cfg);
	/* Show the firmware what changed in the model. */
	void (*refresh)(struct bp_rig *rig, const struct bp_model *m);
	bool (*online)(const struct bp_rig *rig);
	/* Asynchronous: free(rig) is the caller's, once the loop has run
	 * dry. */
	void (*close)(struct bp_rig *rig);
};

extern const struct bp_rig_ops bp_rig_qemu;
extern const struct bp_rig_ops bp_rig_posix;

#endif
