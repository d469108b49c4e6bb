/* core/silence.h - what happens to the slots when the host falls silent.
 * Pure: tells what to do, does nothing. */
#ifndef CORE_SILENCE_H
#define CORE_SILENCE_H

#include "firmware/hal/types.h"

#define SILENCE_HOLD_US     (900ull * 1000 * 1000)
#define SILENCE_IDLE_MS     2000u
#define SILENCE_IDLE_MAX_US 30000000u
#define SILENCE_SPACING_US  100000u

enum silence_level {
	SILENCE_LEVEL_NEVER, /* no host yet since reset */
	SILENCE_LEVEL_HEARD,
	SILENCE_LEVEL_LATE,
	SILENCE_LEVEL_LOST,
};

/* What silence_poll() sees of a slot. */
struct silence_slot {
	bool powered;
	bool active;    /* the activity line is low */
	uint32_t edges; /* of it */
};

struct silence_watch {
	uint32_t edges;
	uint32_t quiet_since_ms; /* wraps */
};

struct silence {
	enum silence_level level;
	uint8_t policy[RIG_SLOTS_MAX]; /* silence_policy */
	uint64_t heard_us;
	uint64_t lost_us;
	uint64_t last_off_us;
	struct silence_watch watch[RIG_SLOTS_MAX];
};

struct silence_verdict {
	bool late; /* just became late or lost: report it */
	bool lost;
	uint32_t silent_ms;
	uint8_t off_mask; /* switch these slots off now */
};

void silence_init(struct silence *s);

/* Arm a policy for the slots in mask; in force at the next silence. */
void silence_arm(struct silence *s, uint32_t mask, silence_policy policy);

/* The host was heard. */
void silence_heard(struct silence *s, uint64_t now_us);

/* Nothing new may start while the host is lost, whatever the policy. */
bool silence_forbids_start(const struct silence *s);

/* Call every few milliseconds.
 *   slots  n of them */
struct silence_verdict silence_poll(struct silence *s, const RigConfig *cfg,
				    const struct silence_slot *slots, size_t n,
				    uint64_t now_us);

#endif
