/* core/limits.h - limits that disks and the host ask for, whatever the board:
 * a board's .defaults and the tests' limits are made of these and of the
 * budgets, which the board's supply gives.
 *
 * The compiler takes no field twice: a board for other disks writes the fields
 * of its SlotConfig itself. */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

/* Fields of a RigConfig: how long the host may be silent. */
#define LIMITS_HOST .host_late_ms = 1500, .host_lost_ms = 5000

/* Fields of a SlotConfig: a 3.5" hard disk. */
#define LIMITS_SLOT                                                            \
	.min_off_ms = 5000, .spinup_reserve_ma = 3000, .spinup_max_ms = 15000, \
	.idle_12v_ma = 500, .trip_5v_ma = 2500, .trip_12v_ma = 4500,           \
	.trip_ms = 5, .i2t_12v_ma = 3000, .i2t_ms = 15000, .blank_ms = 20,     \
	.ramp_timeout_ms = 200

#endif
