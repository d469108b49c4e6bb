/* core/events.h - the ring of the last 256 events, in memory that survives
 * every reset but loss of power. Pure: the memory is the caller's.
 *
 * Numbers start at 1 and go on over resets. An event that is overwritten
 * before the host acknowledged it is counted and reported as EVENT_OVERFLOW
 * in its place, so the host never misses one silently. */
#ifndef CORE_EVENTS_H
#define CORE_EVENTS_H

#include "firmware/core/rail.h"

#define EVENTS_SIZE 256u
#define EVENTS_OPS  16u

/* An event as the rest of the firmware sees it; fields as in proto: Event. */
struct event {
	uint32_t number;
	event_kind kind;
	uint64_t at_us; /* 48 bits are kept */
	unsigned slot;
	slot_state state;
	slot_fault fault;
	int32_t value;         /* not kept for EVENT_SLOT_STATE */
	uint32_t fall_us;      /* kept for EVENT_SLOT_STATE only */
	struct rail_sample vi; /* kept if events_is_of_slot() */
	uint64_t op_id;        /* 0 once 16 later commands have made events */
	uint32_t boot_id;
};

/* Of a slot: readings are kept, to 8 mV, 16 mV on 12 V, and 8 mA, and 24 bits
 * of the value or fall time, which stops at their end. Of the rig: the whole
 * value and no readings, for there are none. */
static inline bool events_is_of_slot(event_kind kind)
{
	return kind == EVENT_SLOT_STATE || kind == EVENT_FAULT ||
	       kind == EVENT_FAULT_CLEARED || kind == EVENT_SHED ||
	       kind == EVENT_GATE;
}

#define EVENTS_FALL_MAX_US 0xffffffu /* discharging may last 5 s */

/* Bytes only: two of padding would be 512 in the ring. */
struct events_record {
	uint8_t at[6];
	uint8_t kind_fault;
	uint8_t state_slot;
	uint8_t data[8]; /* of a slot: value 3, readings 5; else value 4 */
	uint8_t op;
	uint8_t boot;
	uint8_t check;
};

/* What lies in the retained memory. */
struct events_ring {
	uint32_t magic;
	uint32_t size; /* of this struct: another firmware's is not ours */
	uint32_t boot_id;
	uint32_t next;  /* number of the event to come */
	uint32_t acked; /* the host has all up to this one */
	/* The reference that the next new op_id gets; 0 is none. Every new one
	 * comes with an event, so none in the ring is 256 references old. */
	uint32_t op_next;
	uint64_t op[EVENTS_OPS];
	struct events_record record[EVENTS_SIZE];
};

/* Take the ring over. Its content is kept if it is whole; else it is empty.
 *   boot_id  of this start, in all events to come
 * Returns true if the content was kept. */
bool events_open(struct events_ring *r, uint32_t boot_id);

/* Append; e->number and e->boot_id are set by this. Returns the number. */
uint32_t events_add(struct events_ring *r, const struct event *e);

/* Number of the last event, 0: none ever. */
uint32_t events_last(const struct events_ring *r);

/* The first event with a number above after. If some between were lost, it
 * is an EVENT_OVERFLOW with the number of the last one lost and their count
 * as value.
 * Returns false if there is none yet. */
bool events_after(const struct events_ring *r, uint32_t after,
		  struct event *out);

/* The host has all up to number; a number not given out yet is ignored. */
void events_ack(struct events_ring *r, uint32_t number);

#endif
