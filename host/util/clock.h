/* host/util/clock.h - time and deadlines on CLOCK_MONOTONIC. */
#ifndef HOST_UTIL_CLOCK_H
#define HOST_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

uint64_t clock_mono_ns(void);
uint64_t clock_real_ns(void);

/* A zeroed deadline never passes. */
struct deadline {
	uint64_t at_ns;
};

/* ms = 0: never. */
struct deadline deadline_in_ms(uint64_t ms);
bool deadline_past(struct deadline d);
/* For poll(): ms left, rounded up, 0 when past, -1 for never. */
int deadline_poll_ms(struct deadline d);

#endif
