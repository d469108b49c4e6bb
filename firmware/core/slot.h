/* core/slot.h - the power of one disk: from OFF to ON, and back with proof.
 *
 *   OFF > QUEUED > PRECHECK > RAMP5 > RAMP12 > SPINUP > ON
 *   any of them > FALLING > DISCHARGING > OFF, or > FAULT, which latches
 *
 * Pure: time and samples are parameters, gates and events go out through
 * ops. The gates move at the moment of the call that moves them. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include "firmware/core/budget.h"
#include "firmware/core/events.h"
#include "firmware/core/trip.h"

#define SLOT_OFF_5V_MV       300
#define SLOT_OFF_12V_MV      500
#define SLOT_PROOF_US        100000u
#define SLOT_DISCHARGE_US    5000000u
#define SLOT_MISSES_MAX      3u
#define SLOT_CALM_US         1000000u
#define SLOT_VOLTAGE_WAIT_US 20000u

struct slot_ops {
	/* Drive a gate now. */
	void (*gate)(void *arg, unsigned slot, unsigned rail, bool on);
	/* Something happened. Returns the event's number. */
	uint32_t (*event)(void *arg, const struct event *e);
};

struct slot_cfg {
	const SlotConfig *limits; /* changes only while slot_may_configure() */
	const struct slot_ops *ops;
	void *arg;
	unsigned index;
};

/* Read freely, change only through the functions. */
struct slot {
	struct slot_cfg cfg;
	uint64_t op_id;
	uint64_t since_us; /* of state */
	/* The slot's place among the others: when it was asked to go on; once
	 * a gate is open, when the first one opened. */
	uint64_t order_us;
	uint64_t off_us; /* both gates were closed; since the proof: that */
	struct rail_sample last;
	/* What is watched with power is not watched while it goes away. Begun
	 * afresh by the first gate that opens and by the last that closes. */
	union {
		struct trip trip;
		uint32_t crossed_us[RIG_RAILS]
				   [2]; /* 90 %, 10 %, after off_us */
	};
	struct trip_log trips;
	uint32_t fault_event; /* number of the event that latched it */
	/* Low halves of times; they wrap, which differences survive. */
	uint32_t gate_us[RIG_RAILS];
	/* Since when something lasts, 0: it does not. Calm current in SPINUP or
	 * low voltage in DISCHARGING; wrong voltage in SPINUP and ON. */
	uint32_t held_since_us;
	uint32_t bad_since_us;
	uint32_t fall_us;
	uint32_t cycles; /* proven */
	uint16_t residual_mv[RIG_RAILS];
	slot_state state;
	slot_fault fault; /* latched */
	bool gate[RIG_RAILS];
	uint8_t misses;  /* samples in a row that failed */
	bool locked : 1; /* too many trips */
	bool wanted_on : 1;
	bool powered : 1;    /* since the last proof of off */
	bool input_sags : 1; /* set by the monitor: no undervoltage fault now */
	bool proven : 1;
};

/* State UNKNOWN until the rails have been seen: the gates are off, but what
 * the rails carry is not known after a reset. */
void slot_init(struct slot *s, const struct slot_cfg *cfg, uint64_t now_us);

/* May the slot be asked for this state? Changes nothing.
 * RIG_OK; RIG_FAULT, RIG_LOCKED: latched; RIG_STATE: rated cycles used up. */
RIG_MUST_USE rig_status slot_check(const struct slot *s, bool on);

/* Ask for a state; it is absolute, asking twice is the same as once. Off is
 * never refused and closes the gates before it returns.
 * As slot_check(). */
RIG_MUST_USE rig_status slot_set(struct slot *s, bool on, uint64_t op_id,
				 uint64_t now_us);

/* A sample of the rails, taken after the last call. */
void slot_feed(struct slot *s, const struct rail_sample *sample);

/* The monitors of the rails did not answer; three times in a row is
 * FAULT_SENSOR. */
void slot_missed(struct slot *s, uint64_t now_us);

/* What happens by time alone. */
void slot_tick(struct slot *s, uint64_t now_us);

/* QUEUED and the minimum off time is over: only the budget is missing. */
bool slot_is_ready(const struct slot *s, uint64_t now_us);

/* Start a slot that is ready. */
void slot_start(struct slot *s, uint64_t now_us);

/* Latch a fault that was found elsewhere (temperature). */
void slot_trip(struct slot *s, slot_fault fault, uint64_t now_us);

/* Clear the latched fault; the slot proves off again.
 * RIG_OK; RIG_STATE: none is latched; RIG_INVALID: another one, or another
 * event; RIG_LOCKED: serial is not the one of the disk in this slot. */
RIG_MUST_USE rig_status slot_clear(struct slot *s, slot_fault fault,
				   uint32_t event, const char *serial,
				   uint64_t now_us);

/* A slot that is off takes new limits. */
bool slot_may_configure(const struct slot *s);

/* At least one gate is open. */
bool slot_is_powered(const struct slot *s);

/* What it draws, or has reserved. */
struct budget_claim slot_claim(const struct slot *s);

/* Time until an ON may start; 0: now. */
uint32_t slot_min_off_left_ms(const struct slot *s, uint64_t now_us);

#endif
