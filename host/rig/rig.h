/* host/rig/rig.h - client of the rig's firmware.
 *
 * Lives on the caller's libuv loop: PINGs, events, telemetry and reconnection
 * go on whenever the loop runs. The functions that wait run the loop
 * themselves until the answer or a deadline; they must not be called from a
 * callback. One thread.
 *
 * Errors: 0 or -errno with one sentence in err (may be NULL):
 *   -ETIMEDOUT     the rig is silent; what was asked may or may not be done
 *   -ENOTCONN      no connection now, nothing was done
 *   -EPROTO        the rig speaks another major version, or nonsense
 *   -ECANCELED     rig_cancel()
 *   -EREMOTEIO     the rig answered and refused; rig_refusal() says why
 *   others         from opening the carrier (-ENOENT, -EACCES, -ENODEV, ...)
 * rig_is_unreachable() tells which of them mean exit code 5. */
#ifndef HOST_RIG_RIG_H
#define HOST_RIG_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/util/err.h"
#include "proto/link/session.h"
#include "proto/rig.pb-c.h"

#define RIG_SLOTS_MAX  8u
#define RIG_ANSWER_MS  5000u /* default deadline of one command */
#define RIG_OPEN_MS    5000u
#define RIG_EVENTS_NEW UINT32_MAX

enum rig_carrier {
	RIG_SOCKET, /* Unix socket; the other end is the server */
	RIG_SERIAL, /* tty, found by USB id, or by path */
};

struct rig_address {
	enum rig_carrier carrier;
	const char *path; /* socket, or tty; NULL = find by usb */
	uint16_t usb_vid; /* 0 = path is used */
	uint16_t usb_pid;
	const char *usb_serial; /* NULL = any, but then only one may match */
	uint32_t baud;          /* 0 = 115200 */
};

/* Parse "VID:PID" in hexadecimal. 0 or -EINVAL. */
int rig_parse_usb_id(const char *text, uint16_t *vid, uint16_t *pid);

/* Called while the loop runs; any may be NULL. They must not call functions
 * that wait, nor rig_close(). */
struct rig_ops {
	/* Each event once, in order, also those that happened while the link
	 * was down. EVENT_OVERFLOW and a changed boot_id say what is missing.
	 */
	void (*event)(void *arg, const Event *ev);
	void (*telemetry)(void *arg, const Telemetry *t);
	/* Each line that came, once; the ones that the rig still has first.
	 * Sequence and dropped say what is missing. The text is printable
	 * ASCII. Sequences begin at 1 again when the rig was reset. */
	void (*log)(void *arg, const LogLine *l);
	/* The link is up, again after a loss. */
	void (*connected)(void *arg, const struct control_info *info);
	/* The link is down; reconnection is tried by itself. */
	void (*lost)(void *arg, const char *why);
};

struct rig_cfg {
	uv_loop_t *loop;
	struct rig_address address;
	const struct rig_ops *ops; /* NULL = none */
	void *arg;
	uint32_t answer_ms; /* 0 = RIG_ANSWER_MS */
	uint32_t open_ms;   /* 0 = RIG_OPEN_MS */
	/* Deliver events with a larger number; RIG_EVENTS_NEW: only those that
	 * happen from now on. 0: all that the rig still has. */
	uint32_t events_since;
};

struct rig;

/* Open the carrier and shake hands; waits at most open_ms. -EPROTO: another
 * major, the sentence names both. On failure nothing is left behind. */
int rig_open(const struct rig_cfg *cfg, struct rig **out, struct err *err);

/* Close and free; runs the loop until the handles are closed. NULL is
 * accepted. The rig's slots are left as they are. */
void rig_close(struct rig *r);

/* Make the wait that runs, and every later one, end with -ECANCELED. May be
 * called from a callback (a signal watcher's). rig_resume() undoes it. */
void rig_cancel(struct rig *r);
void rig_resume(struct rig *r);

bool rig_is_connected(const struct rig *r);
/* What the last HELLO_ACK told. Valid until rig_close(). */
const struct control_info *rig_hello(const struct rig *r);
const struct control_hello *rig_peer(const struct rig *r);
/* Where the rig is, for messages: "socket /run/x", "ttyUSB0 (0403:6001)". */
const char *rig_where(const struct rig *r);
/* Counters of the link; losses counts every new session. */
const struct session_stats *rig_link_stats(const struct rig *r);
/* Round trip of the last ping, us; 0 = none yet. */
uint32_t rig_rtt_us(const struct rig *r);

/* Status of the last -EREMOTEIO, and its detail. */
RigStatus rig_refusal(const struct rig *r, uint32_t *detail);
bool rig_is_unreachable(int rc);

/* Run the loop for ms (callbacks come), or until rig_cancel(): -ECANCELED.
 * ms = 0: until then. Loss of the link does not end it. */
int rig_run(struct rig *r, uint64_t ms, struct err *err);

/* Wait until the events up to number have been delivered (events_since or
 * later). -ETIMEDOUT: they do not come. */
int rig_wait_events(struct rig *r, uint32_t number, struct err *err);

/* Wait until the log lines that the rig has have been delivered, but for those
 * that the carrier lost: they are not sent again. As rig_get_info();
 * -ETIMEDOUT: it has ever more. */
int rig_wait_log(struct rig *r, struct err *err);

/* ---- commands; each waits for its result ---- */

/* Any command. op_id is filled in. If the link is lost meanwhile, the outcome
 * is asked for with GetOp after reconnection; never is a command done twice,
 * nor its outcome assumed.
 *   out  the result, freed by the caller with result__free_unpacked(p, NULL);
 *        may be NULL; set on 0 and on -EREMOTEIO only */
int rig_command(struct rig *r, Command *cmd, Result **out, struct err *err);

int rig_get_info(struct rig *r, Result **out, struct err *err);
/* *out->slot_status is set on success. */
int rig_get_status(struct rig *r, unsigned slot, Result **out, struct err *err);

/* Wanted absolute state of slots; 0 = the rig has accepted it.
 *   at_us  MCU time of the edge, 0 = now */
int rig_slot_set(struct rig *r, uint32_t mask, bool on, uint64_t at_us,
		 struct err *err);

/* All gates closed, whatever the state of the link's upper layers. */
int rig_all_off(struct rig *r, struct err *err);

/* Clear the fault that a slot holds now; it then discharges to OFF.
 *   disk_serial  as somebody typed it: a locked slot asks for it; may be NULL
 * 0; -EINVAL: it holds none; or as rig_command(). */
int rig_clear_fault(struct rig *r, unsigned slot, const char *disk_serial,
		    struct err *err);
int rig_arm_silence(struct rig *r, uint32_t mask, SilencePolicy policy,
		    struct err *err);
/* Before slots are switched on by hand: they keep their power when this program
 * is gone. What an earlier run armed would take it away. */
int rig_hold_power(struct rig *r, uint32_t mask, struct err *err);
/* period_ms 0 = off. */
int rig_set_telemetry(struct rig *r, uint32_t period_ms, uint32_t mask,
		      struct err *err);

/* How one slot ended up. */
struct rig_slot_report {
	SlotState state;
	SlotFault fault;
	uint64_t at_us;          /* MCU time of the last change of state */
	uint32_t fall_us;        /* of the last off, 90 to 10 % */
	uint32_t residual_5v_mv; /* at the last proof of off */
	uint32_t residual_12v_mv;
	uint32_t cycles;
	double took_s; /* from the command to the final state, host clock */
};

/* Switch slots and wait until each is ON, or proven OFF. A slot that ends in
 * FAULT ends the wait: -EREMOTEIO, the sentence names slot and fault. Not
 * there in time: -ETIME, the sentence names slot and state. A rig that is reset
 * meanwhile forgets what was wanted: -ECONNRESET, asking again is safe.
 *   timeout_ms  for all of it; the minimum off time and the spin-up of slots
 *               that queue for the budget count too
 *   reports     NULL, or RIG_SLOTS_MAX entries; those in mask are filled with
 *               what is known, also on failure */
int rig_slot_set_and_wait(struct rig *r, uint32_t mask, bool on,
			  uint32_t timeout_ms, struct rig_slot_report *reports,
			  struct err *err);

/* Off, proven, and on again: cuts the mask's power once. reports tell of the
 * off part's fall time and residual, and of the final state. */
int rig_slot_cycle(struct rig *r, uint32_t mask, uint32_t timeout_ms,
		   struct rig_slot_report *reports, struct err *err);

/* ---- configuration ---- */

struct rig_config {
	RigConfig rig;
	SlotConfig slot[RIG_SLOTS_MAX]; /* serials point into this struct */
	char serial[RIG_SLOTS_MAX][32];
	unsigned slots; /* as the rig has */
};

/* The configuration in force, to be changed and given to rig_config_sync().
 * Do not copy the struct: it points into itself. */
int rig_config_get(struct rig *r, struct rig_config *c, struct err *err);

/* The disk expected in a slot, "" for none. -EINVAL: no such slot, or longer
 * than 31 bytes. */
int rig_config_set_serial(struct rig_config *c, unsigned slot,
			  const char *serial);

/* CRC-32C of the image both ends agree on (docs/protocol.md). */
uint32_t rig_config_crc(const struct rig_config *c);

/* Make c the configuration in force. Nothing is sent when the rig reports its
 * CRC already. Else staged, validated and committed as the next generation;
 * slots that are not OFF refuse (-EREMOTEIO, RIG_STATE).
 *   generation  out, may be NULL */
int rig_config_sync(struct rig *r, const struct rig_config *c,
		    uint32_t *generation, struct err *err);

/* ---- time ---- */

struct rig_clock {
	bool valid;      /* 8 samples have been taken */
	double rate_ppm; /* rig's clock against CLOCK_MONOTONIC_RAW */
	double bound_us; /* of a conversion now */
	unsigned samples;
};

void rig_clock_get(const struct rig *r, struct rig_clock *out);

/* Convert an MCU time to CLOCK_MONOTONIC_RAW of this host.
 *   bound_us  out, may be NULL: how far off it may be
 * false: not enough samples yet. */
bool rig_to_host_ns(const struct rig *r, uint64_t mcu_us, int64_t *raw_ns,
		    double *bound_us);
bool rig_from_host_ns(const struct rig *r, int64_t raw_ns, uint64_t *mcu_us);

/* ---- words ---- */

/* "OFF", "SPINUP"; "?" for a number this version does not know. */
const char *rig_state_name(SlotState s);
const char *rig_fault_name(SlotFault f);
const char *rig_status_name(RigStatus s);
const char *rig_event_name(EventKind k);
const char *rig_reset_name(ResetCause c);
/* "error", "warning", "info", "debug"; "?" for another number. */
const char *rig_level_name(uint32_t level);

#endif
