/* tests/sim.h - a whole rig in one process and virtual time: the application
 * on a fake hal/, the parts as register models, disks that draw current, and
 * a host at the other end of the link. Nothing waits for the wall clock. */
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include "firmware/app/app.h"
#include "firmware/port/posix/parts.h"

#define SIM_PIPE_BYTES 65536u
#define SIM_EVENTS     2048u
#define SIM_LINES      256u

/* Bytes under way in one direction. */
struct sim_pipe {
	uint8_t bytes[SIM_PIPE_BYTES];
	size_t len;
};

struct sim_host {
	struct session session;
	struct session_packet packets[4];
	uint8_t payloads[4 * FRAME_PAYLOAD_MAX];
	uint8_t tx[2 * FRAME_WIRE_MAX];
	struct control_info info;
	bool up;
	bool silent; /* sends nothing any more */
	bool deaf;   /* gets nothing any more */
	uint64_t next_op;
	uint64_t waits_for;
	bool answered;
	bool all_off_done;
	uint8_t result_flags;
	Result result;
	uint32_t events;
	Event event[SIM_EVENTS];
	uint32_t lines;
	LogLine line[SIM_LINES];
	uint32_t telemetry[RIG_SLOTS_MAX];
	Telemetry last_telemetry;
};

/* What hangs at a slot. */
struct sim_disk {
	int32_t mv[RIG_RAILS];
	int32_t ma[RIG_RAILS]; /* while powered */
	int32_t spinup_ma;     /* on 12 V, for spinup_us after power-on */
	uint64_t spinup_us;
	uint64_t on_us;
	bool back_feed; /* 5 V stays at 0.6 V */
};

struct sim {
	struct app app;
	uint64_t now_us;
	struct parts parts;
	uint8_t eeprom[PARTS_EEPROM_BYTES];
	uint64_t retained[8192 / 8];
	bool gate[RIG_SLOTS_MAX * RIG_RAILS];
	uint32_t edges[RIG_SLOTS_MAX];
	bool active[RIG_SLOTS_MAX];
	struct sim_disk disk[RIG_SLOTS_MAX];
	int32_t vin_percent;
	struct sim_pipe to_rig;
	struct sim_pipe to_host;
	struct sim_host host;
	reset_cause cause;
	uint64_t fed_us; /* watchdog */
	uint32_t watchdog_ms;
	uint32_t resets;
};

extern struct sim sim;

/* Power on: everything fresh, the EEPROM erased. */
void sim_start(void);

/* Reset the MCU: memory is lost but for what is retained; gates fall. */
void sim_reset(reset_cause why);

/* Go on in steps of 0.5 ms. The watchdog must be fed. */
void sim_run_ms(uint32_t ms);

/* HELLO; returns once the session is up. */
void sim_connect(void);

/* Send a command and go on until its result is in sim.host.result, which is
 * returned. op_id 0: a new one. Fails the test after 5 s. */
const Result *sim_command(const Command *cmd);

/* Commands with one line. They return the status. */
rig_status sim_set(uint32_t mask, bool on);
rig_status sim_simple(pb_size_t tag);
const SlotStatus *sim_status(unsigned slot);

/* Go on until slot is in state; fails the test after limit_ms. Returns the
 * milliseconds it took. */
uint32_t sim_until(unsigned slot, slot_state state, uint32_t limit_ms);

/* The last event of a kind that the host has got, NULL: none. */
const Event *sim_last_event(event_kind kind);

/* Ask for all events and the log; returns when they are there. */
void sim_ask_log(void);

/* How many log lines with this text in them the host has got. */
unsigned sim_count_lines(const char *text);

#endif
