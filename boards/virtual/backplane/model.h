/* backplane/model.h - what lies between gates and disks, without any I/O.
 *
 * Gates go in, with the state of the disks and the planted faults; voltages,
 * currents, disk power and presence at the guest come out. Time is a
 * parameter in microseconds of any monotonic clock. Nothing allocates.
 */
#ifndef BOARDS_VIRTUAL_BACKPLANE_MODEL_H
#define BOARDS_VIRTUAL_BACKPLANE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "boards/virtual/backplane/fault.h"

#define BP_SLOTS 8

/* The tables behind the rails; README.md gives them to users. */
struct bp_rail_spec {
	int32_t nominal_mv;
	uint32_t rise_us; /* 0 to nominal, linear */
	uint32_t tau_us;  /* of the exponential fall */
	int32_t up_mv;    /* disk starts at or above this */
	int32_t down_mv;  /* disk loses power below this */
	int32_t inrush_ma;
};

extern const struct bp_rail_spec bp_rail_specs[BP_RAILS];

enum bp_disk_power {
	BP_DISK_OFF,
	BP_DISK_SPINUP,
	BP_DISK_ON,
	BP_DISK_FALLING,
};

/* What the disk model said of itself last. known is false while nobody
 * answers at its control socket. */
struct bp_disk_state {
	bool known;
	bool busy;
	enum bp_disk_power power;
	uint64_t ops; /* since the disk model started */
	int32_t ma[BP_RAILS];
};

/* What the rest of the world sees of a slot. */
struct bp_outputs {
	int32_t mv[BP_RAILS];     /* at the disk */
	int32_t ma[BP_RAILS];     /* into the disk */
	int32_t vin_mv[BP_RAILS]; /* before the switch */
	bool disk_power;          /* both rails are good enough to run */
	bool present;             /* spun up: the guest should see it */
	bool activity;            /* level of the DAS pin, low when active */
};

struct bp_rail_state {
	bool gate;
	double mv;
};

struct bp_slot {
	bool used; /* a disk is plugged in */
	struct bp_rail_state rail[BP_RAILS];
	struct bp_disk_state disk;
	struct bp_effects fx;
	bool powered;
	bool spun;
	unsigned int pulses; /* activity pulses still to show */
	bool activity;
	struct bp_outputs out;
};

struct bp_model {
	uint64_t now_us;
	double board_mdegc;
	struct bp_slot slot[BP_SLOTS];
	struct bp_fault fault[BP_FAULTS_MAX];
	unsigned int faults;
};

/* All gates open, all rails at 0, ambient temperature, no faults.
 *   slots  bit n: a disk is plugged into slot n */
void bp_model_init(struct bp_model *m, unsigned int slots, uint64_t now_us);

/* One gate moved. Calls must not go back in time (a stamp before the last
 * one counts as the last one). Out of range slots and rails do nothing. */
void bp_model_gate(struct bp_model *m, unsigned int slot, unsigned int rail,
		   bool on, uint64_t now_us);

/* The MCU was reset or is gone: the pull-downs open every gate. */
void bp_model_gates_off(struct bp_model *m, uint64_t now_us);

/* New state of a disk. A rise of its ops shows as one activity pulse. */
void bp_model_disk(struct bp_model *m, unsigned int slot,
		   const struct bp_disk_state *disk);

/* Carry rails, disks and temperature forward to now_us. */
void bp_model_advance(struct bp_model *m, uint64_t now_us);

/* True if another advance would change something soon: a rail moves or an
 * activity pulse is due. Callers tick fast while it holds. */
bool bp_model_moving(const struct bp_model *m);

/* Outputs of a slot as of the last advance; slot below BP_SLOTS. */
const struct bp_outputs *bp_model_outputs(const struct bp_model *m,
					  unsigned int slot);

/* Temperature of the board, 0.001 degrees Celsius. */
int32_t bp_model_board_mdegc(const struct bp_model *m);

/* True while a fault silences the whole rig. */
bool bp_model_silent(const struct bp_model *m);

/* Plant a fault. 0; -ENOSPC: table full; -EINVAL: bad slot. A fault of the
 * same kind on the same slot is replaced. */
int bp_model_plant(struct bp_model *m, const struct bp_fault *f);

/* Remove the faults of a slot, or of all slots (BP_ALL_SLOTS), of one kind
 * or all (NULL). Returns how many went. */
unsigned int bp_model_clear(struct bp_model *m, unsigned int slot,
			    const struct bp_fault_kind *kind);

#endif
