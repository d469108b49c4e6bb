#include "host/util/clock.h"

#include <limits.h>
#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

struct deadline deadline_in_ms(uint64_t ms)
{
	if (ms == 0)
		return (struct deadline){ 0 };
	return (struct deadline){ clock_mono_ns() + ms * NS_PER_MS };
}

bool deadline_past(struct deadline d)
{
	return d.at_ns && clock_mono_ns() >= d.at_ns;
}

int deadline_poll_ms(struct deadline d)
{
	uint64_t now;
	uint64_t ms;

	if (!d.at_ns)
		return -1;
	now = clock_mono_ns();
	if (now >= d.at_ns)
		return 0;
	ms = (d.at_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}
