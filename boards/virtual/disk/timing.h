/* boards/virtual/disk/timing.h - how long heads and platters take.
 *
 * A place on the disk is the time at which a head that never leaves the media
 * would reach it (media time). Sequential transfers are exact sums of it, the
 * angle of a place is media time modulo a revolution, and the distance of a
 * seek is a difference of media times. */
#ifndef BOARDS_VIRTUAL_DISK_TIMING_H
#define BOARDS_VIRTUAL_DISK_TIMING_H

#include "boards/virtual/disk/vdisk.h"

#define TIMING_ZONES 16u

struct timing {
	uint64_t start_byte[TIMING_ZONES + 1];
	uint64_t start_ns[TIMING_ZONES + 1];
	uint64_t rate[TIMING_ZONES]; /* bytes a second; 0: no timing */
	uint64_t rev_ns;             /* 0: no rotational delay */
	uint64_t phase_ns;           /* angle at virtual time 0 */
	uint64_t track_ns, avg_ns, full_ns;
};

/* `phase` is any number; the angle at time 0 is derived from it. */
void timing_init(struct timing *t, const struct vdisk_cfg *cfg, uint64_t phase);

/* Media time of a byte offset, 0..size. */
uint64_t timing_at(const struct timing *t, uint64_t byte);

/* Time to transfer n bytes from `byte` on, once the head is there. */
uint64_t timing_transfer_ns(const struct timing *t, uint64_t byte, uint64_t n);

/* Time of a seek between two offsets, without the rotation. */
uint64_t timing_seek_ns(const struct timing *t, uint64_t from, uint64_t to);

/* Time from now until the head, at `from`, is over `to`. */
uint64_t timing_position_ns(const struct timing *t, uint64_t from, uint64_t to,
			    uint64_t now_ns);

#endif
