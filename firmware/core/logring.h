/* core/logring.h - lines for the engineer who wonders why; events are for
 * programs. Pure. Task context only: never from an interrupt.
 *
 * The ring holds the last lines unformatted: the format, which must be a string
 * constant, and its numbers. They become text on their way to the host. A line
 * that is overwritten before any host got it is counted. */
#ifndef CORE_LOGRING_H
#define CORE_LOGRING_H

#include "firmware/hal/types.h"

#define LOGRING_ENTRIES 16u
#define LOGRING_ARGS    3u

/* As LogLine.level. */
enum logring_level {
	LOG_ERROR,   /* something is lost: a slot, the configuration */
	LOG_WARNING, /* somebody should look at it */
	LOG_INFO,
	LOG_DEBUG,
};

struct logring_entry {
	const char *format;
	uintptr_t arg[LOGRING_ARGS];
	uint16_t at[3]; /* 48 bits of us */
	uint8_t level;
};

struct logring {
	uint32_t next;    /* sequence of the line to come, from 1 */
	uint32_t cursor;  /* of the line that this session gets next */
	uint32_t dropped; /* no host ever got them */
	uint32_t sent;    /* the last line that a host got */
	struct logring_entry entry[LOGRING_ENTRIES];
};

void logring_init(struct logring *r);

/* Append a line; the oldest gives way.
 *   format  a constant. Conversions: %u %d %x of int, %s of a constant, %%; at
 *           most LOGRING_ARGS. Longer than 120 bytes it is cut. */
__attribute__((format(printf, 4, 5))) void logring_add(struct logring *r,
						       enum logring_level level,
						       uint64_t at_us,
						       const char *format, ...);

/* A new session begins: it gets the lines to come, and all that are still here
 * once it asks for what was. */
void logring_skip(struct logring *r);
void logring_rewind(struct logring *r);

/* Lines that this session did not get yet. */
uint32_t logring_waiting(const struct logring *r);

/* The next of them. false: there is none. */
bool logring_peek(const struct logring *r, LogLine *out);

/* It was sent. */
void logring_pop(struct logring *r);

#endif
