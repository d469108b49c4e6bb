/* boards/virtual/disk/current.h - what a drive draws from its two rails. */
#ifndef BOARDS_VIRTUAL_DISK_CURRENT_H
#define BOARDS_VIRTUAL_DISK_CURRENT_H

#include "boards/virtual/disk/vdisk.h"

#define CURRENT_PEAK_MIN_MA 2000u
#define CURRENT_PEAK_MAX_MA 2800u

struct current_input {
	enum vdisk_power power;
	bool stalled;        /* the motor never starts (a dead drive) */
	bool active;         /* heads move or transfer */
	uint64_t elapsed_ns; /* since power on */
	uint64_t spinup_ns;  /* how long the spin-up takes */
	uint32_t peak_ma;    /* of the motor, MIN..MAX above */
};

/* Milliamperes at this moment; nothing flows from the rails once the supply is
 * cut, the hold-up comes from the drive's own capacitors. */
void current_now(const struct current_input *in, uint32_t *ma_5v,
		 uint32_t *ma_12v);

#endif
