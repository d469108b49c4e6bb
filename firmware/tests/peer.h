/* tests/peer.h - a host for system tests: one session with a firmware behind
 * a Unix socket, commands one at a time. Real time. */
#ifndef TESTS_PEER_H
#define TESTS_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/link/session.h"
#include "proto/rig.pb.h"

#define PEER_EVENTS 512

struct peer {
	int fd;
	bool up;
	bool answered;
	uint64_t next_op;
	uint64_t waits_for;
	uint8_t result_flags;
	Result result;
	struct control_info info;
	unsigned events;
	Event event[PEER_EVENTS];
	unsigned lines; /* of the log */
	LogLine last_line;
	unsigned telemetry;
	Telemetry last_telemetry;
	struct session session;
	struct session_packet packets[4];
	uint8_t payloads[4 * FRAME_PAYLOAD_MAX];
	uint8_t tx[2 * FRAME_WIRE_MAX];
	/* Called in every turn of a wait, NULL: nobody. */
	void (*turn)(void *arg);
	void *arg;
};

/* Connect, trying for up to 10 s. 0 or -errno. */
int peer_open(struct peer *p, const char *path);
void peer_close(struct peer *p);

/* Go on for up to timeout_ms or until *flag is true (NULL: the whole time).
 * Returns false on timeout or a lost connection. */
bool peer_wait(struct peer *p, const bool *flag, unsigned timeout_ms);

/* HELLO until it is answered; p->info is then valid. */
bool peer_hello(struct peer *p);

/* Send a command with a new op_id (or cmd->op_id if set) and wait for its
 * result in p->result. Returns false if none came in 15 s. */
bool peer_command(struct peer *p, const Command *cmd);

/* Wait until slot is in state; asks every 20 ms. */
bool peer_wait_state(struct peer *p, unsigned slot, slot_state state,
		     unsigned timeout_ms);

/* Wait until every slot is proven off. */
bool peer_wait_all_off(struct peer *p);

/* Wait for that, then commit a configuration in which rails may take ms to
 * rise (the most allowed is 2000): a test that plays the copper is
 * late when the machine gives it no turn. */
bool peer_set_ramps(struct peer *p, unsigned ms);

#endif
