/* proto/link/tests/pair.h - a host and a rig session joined by two wires in
 * virtual time, with byte errors on request. */
#ifndef PROTO_LINK_TESTS_PAIR_H
#define PROTO_LINK_TESTS_PAIR_H

#include "proto/link/session.h"

#define PAIR_TX      2048u
#define PAIR_PAYLOAD 492u
#define PAIR_WINDOW  4u

/* Small seeded generator; the tests' only source of chance. */
struct rng {
	uint64_t x;
};

uint32_t rng_next(struct rng *r);

struct pair_end {
	struct session s;
	struct session_packet packets[PAIR_WINDOW];
	uint8_t payloads[PAIR_WINDOW * PAIR_PAYLOAD];
	uint8_t tx[PAIR_TX];
};

struct pair {
	uint64_t now_us;
	struct pair_end host;
	struct pair_end rig;
	struct rng rng;
	uint32_t error_ppm; /* of bytes, both directions */
	bool cut;           /* nothing gets through */
	uint64_t bytes;
	uint64_t errors;
};

/* One function table for both ends; arg is the caller's for each. */
void pair_init(struct pair *p, uint64_t seed, const struct session_ops *host,
	       void *host_arg, const struct session_ops *rig, void *rig_arg);

/* Let us microseconds pass, at 115200 baud or so. */
void pair_run(struct pair *p, uint64_t us);

/* One step of 1 ms: move bytes, poll both. */
void pair_step(struct pair *p);

#endif
