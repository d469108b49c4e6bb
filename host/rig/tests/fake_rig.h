/* host/rig/tests/fake_rig.h - a rig on the test's own loop: the real session
 * code behind a Unix socket, slots that switch at once, and misdeeds. */
#ifndef HOST_RIG_TESTS_FAKE_RIG_H
#define HOST_RIG_TESTS_FAKE_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "proto/link/opcache.h"
#include "proto/link/session.h"
#include "proto/rig.pb-c.h"

#define FAKE_SLOTS  8u
#define FAKE_EVENTS 64u
#define FAKE_LINES  16u

struct fake_rig {
	/* What it does wrong; change it at any time. */
	bool deaf;                 /* reads and answers nothing */
	bool dumb_to_slot_set;     /* hears SlotSet, never answers */
	bool drop_after_slot_set;  /* once: executes, then hangs up */
	bool drop_before_slot_set; /* once: hangs up instead */
	bool reset_after_slot_set; /* once: executes, then is reset */
	unsigned drop_at_frame; /* hangs up at this received frame; 0 never */
	RigStatus refuse;       /* answer to SlotSet unless RIG_OK */
	SlotFault fault;        /* what switching on ends in */
	uint32_t fault_slots;   /* in these slots */
	bool stuck;             /* slots never get where they should */

	/* What it saw. */
	unsigned slot_sets; /* executed */
	unsigned duplicates;
	unsigned commits;
	unsigned hellos;
	unsigned frames;
	uint32_t event_acked;
	bool all_off_done;
	SilencePolicy armed[FAKE_SLOTS];

	SlotState slot[FAKE_SLOTS];
	uint32_t generation;
	uint32_t crc;
	uint32_t staged_slots;
	uint32_t boot_id;
	uint32_t last_event;
	uint32_t event_sent;
	unsigned event_slot[FAKE_EVENTS];
	SlotState event_state[FAKE_EVENTS];
	uint32_t last_line;
	uint32_t line_sent;
	const char *line[FAKE_LINES];

	uv_loop_t *loop;
	uv_pipe_t server;
	uv_pipe_t conn;
	uv_timer_t timer;
	bool has_conn;
	bool waiting; /* a client waits until the last one is gone */
	bool hang_up;
	char path[64];
	struct opcache cache;
	struct session session;
	struct session_packet packets[4];
	uint8_t payloads[4 * 492];
	uint8_t tx[4096];
};

/* Listen at a new path (f->path). major: 1 unless it is to be a stranger. */
void fake_rig_start(struct fake_rig *f, uv_loop_t *loop, uint8_t major);
void fake_rig_stop(struct fake_rig *f);

/* As if its watchdog had bitten: all that is not in its retained ring of
 * events is gone, the boot id is another. */
void fake_rig_reset(struct fake_rig *f);
void fake_rig_hang_up(struct fake_rig *f);
/* An event happens. */
void fake_rig_event(struct fake_rig *f, unsigned slot, SlotState state);
/* A line of the log is written; text must live on. */
void fake_rig_line(struct fake_rig *f, const char *text);

#endif
