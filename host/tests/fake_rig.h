/* host/tests/fake_rig.h - the rig client's interface over a rig that follows a
 * script; linked instead of host/rig. */
#ifndef HOST_TESTS_FAKE_RIG_H
#define HOST_TESTS_FAKE_RIG_H

#include <stdbool.h>
#include <stdint.h>

struct fake_rig {
	uint32_t on;      /* slots with power */
	uint32_t faulted; /* slots with a latched fault */
	unsigned commands;
	uint32_t ramp_timeout_ms; /* of slot 0, configured last */
	/* The n-th command from the start fails so; 0 = none. */
	unsigned fail_at;
	int fail_code;
	/* Commands after it that fail, too; UINT32_MAX: for ever. */
	unsigned fail_more;
	bool fired;
	unsigned offs, ons; /* commands that switched */
	bool policy_armed;
	uint32_t telemetry_mask;
	const char *log; /* a line that each tick brings; NULL: none */
	uint32_t log_level;
};

extern struct fake_rig fake_rig;

void fake_rig_reset(void);
/* One telemetry window for each slot that is watched, and the log line. */
void fake_rig_tick(void);
/* A reset: all slots off, and an event of it. */
void fake_rig_boot(void);

#endif
