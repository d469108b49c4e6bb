/* core/trace.h - the samples of a slot around its last trip: 64 before, 64
 * after. Pure. Stored coarsely, for they must fit eight slots in RAM. */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include "firmware/core/rail.h"

#define TRACE_BEFORE 64u
#define TRACE_AFTER  64u
#define TRACE_NOBODY 0xffu

/* One sample as it is stored and sent (proto: Trace.points). */
struct trace_point {
	uint8_t step;   /* 100 us since the one before; 255: more */
	uint8_t ma_5v;  /* 20 mA */
	uint8_t ma_12v; /* 32 mA */
	uint8_t volts;  /* low nibble 5 V, high nibble 12 V: trace_volts() */
};

/* A voltage in four bits, finest where it matters, in percent of nominal:
 *   0: below 2, 1: below 10, 2: below 50, 3: below 89, 4..14: 90, 92, .. 110
 *   (each +-1), 15: above 111 */
uint8_t trace_volts(unsigned rail, int32_t mv);

/* One a slot: runs as a ring until it is frozen by a trip. */
struct trace {
	struct trace_point before[TRACE_BEFORE];
	uint32_t last_us; /* wraps */
	uint8_t next;
	uint8_t count;
	bool frozen;
};

/* One for all slots: the samples after the latest trip. */
struct trace_tail {
	struct trace_point after[TRACE_AFTER];
	uint32_t last_us;
	uint8_t slot; /* TRACE_NOBODY: free */
	uint8_t count;
};

void trace_init(struct trace *t);
void trace_tail_init(struct trace_tail *tail);

/* Add a sample, unless frozen; then it goes to the tail if that is the
 * slot's. */
void trace_feed(struct trace *t, struct trace_tail *tail, unsigned slot,
		const struct rail_sample *s);

/* A trip: keep what is there, collect what follows. The tail of an earlier
 * trip of another slot is given up when it is complete, else it stays. */
void trace_freeze(struct trace *t, struct trace_tail *tail, unsigned slot);

/* Let the ring run again. */
void trace_release(struct trace *t, struct trace_tail *tail, unsigned slot);

/* Copy points in the order of time.
 *   first  0..127; below TRACE_BEFORE: the ring, else the tail
 * Returns how many were copied, at most cap; never across the trip. */
size_t trace_read(const struct trace *t, const struct trace_tail *tail,
		  unsigned slot, size_t first, struct trace_point *out,
		  size_t cap);

#endif
