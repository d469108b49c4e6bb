/* core/timesync.h - the rig's half of the clock: a 64-bit time out of a
 * counter that wraps. (The host estimates offset and rate from the stamps
 * in PONG.) Pure. */
#ifndef CORE_TIMESYNC_H
#define CORE_TIMESYNC_H

#include <stdint.h>

struct timesync {
	uint32_t last; /* counter at the last call */
	uint64_t ticks;
};

/* Extend a counter that counts up and wraps at 2^32.
 *   count  its value; read at least once a wrap
 * Returns ticks since the first call's zero; never goes back. */
static inline uint64_t timesync_extend(struct timesync *t, uint32_t count)
{
	t->ticks += (uint32_t)(count - t->last);
	t->last = count;
	return t->ticks;
}

#endif
