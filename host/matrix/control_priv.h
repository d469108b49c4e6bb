/* host/matrix/control_priv.h - state of a run; for control.c, attempt.c,
 * cell.c, kernel.c, power.c and steps.c only. */
#ifndef HOST_MATRIX_CONTROL_PRIV_H
#define HOST_MATRIX_CONTROL_PRIV_H

#include "host/bench/dut.h"
#include "host/matrix/control.h"
#include "host/rig/rig.h"

#define CONTROL_ARRAY "cell" /* name of the array that cells use */

/* What the rig told about one rail during a cell. */
struct rail_sum {
	int64_t mv_total, ma_total;
	int32_t mv_min, mv_max, ma_min, ma_max;
	uint64_t energy_first_uj, energy_last_uj;
	uint32_t windows;
};

struct controller {
	struct control_cfg cfg;
	struct dut *dut;
	struct rig *rig; /* NULL: the bench has none */
	unsigned stops;  /* calls of control_stop() */
	unsigned spooled;
	bool ours;             /* machine and slots have been taken over */
	bool rig_failed;       /* it fell silent or was reset in the attempt */
	unsigned rig_failures; /* in a row */
	bool disk_away;        /* one did not come in the attempt */

	/* of the cell that runs */
	const Bay__Cell *cell;
	unsigned attempt;
	Bay__PhaseTime **phase;
	size_t n_phase;
	uint64_t phase_ns; /* start of the one that runs */
	const char *phase_name;
	bool measuring; /* telemetry counts */
	struct rail_sum rail[RIG_SLOTS_MAX][2];
	uint32_t dropped_first, dropped_last;
	struct rig_slot_report off[RIG_SLOTS_MAX];
	char tainted[128];       /* "" = no */
	Bay__CellResult *result; /* pushed by the agent, not yet stored */
};

/* ---- power.c: the rig ---- */

int power_open(struct controller *c, struct err *err);
/* Commit its configuration, which may switch slots off, and arm its policy. */
int power_prepare(struct controller *c, struct err *err);
void power_close(struct controller *c);
/* Bits of the slots of a cell's disks. */
uint32_t power_mask(const struct controller *c, const Bay__Cell *cell);
/* Off with proof; then on. Times go into phases. */
int power_off(struct controller *c, uint32_t mask, struct err *err);
int power_on(struct controller *c, uint32_t mask, struct err *err);
int power_watch(struct controller *c, uint32_t mask, bool on, struct err *err);
/* Add what was seen to a result. 0, -ENOMEM. */
int power_report(const struct controller *c, Bay__CellResult *r);
/* After the last cell, or an abort: as the policy says. */
void power_leave(struct controller *c, bool aborted);
/* Wait for a rig that was lost. 0, or why it is not back. */
int power_back(struct controller *c, struct err *err);

/* ---- steps.c: the agent ---- */

int step_wait_disks(struct controller *c, const Bay__Cell *cell, bool gone,
		    struct err *err);
int step_inventory(struct controller *c, const Bay__Cell *cell,
		   struct err *err);
/* -EPERM: an array that no cell made is in use. */
int step_check_arrays(struct controller *c, struct err *err);
int step_array(struct controller *c, const Bay__Cell *cell, struct err *err);
int step_mkfs(struct controller *c, const Bay__Cell *cell, struct err *err);
int step_mount(struct controller *c, const Bay__Cell *cell, struct err *err);
int step_knobs(struct controller *c, const Bay__Cell *cell, struct err *err);
int step_drop_caches(struct controller *c, struct err *err);
/* *out is the caller's. */
int step_workload(struct controller *c, const Bay__Cell *cell,
		  Bay__CellResult **out, struct err *err);
int step_teardown(struct controller *c, const Bay__Cell *cell, struct err *err);
/* Back to a clean machine. -ENOTEMPTY: something could not be undone, err names
 * it. */
int step_reset(struct controller *c, struct err *err);
/* Store and acknowledge every result that the agent still has. */
int step_collect(struct controller *c, struct err *err);
int step_ack(struct controller *c, const char *spool_id, struct err *err);
/* Stop what runs at the agent, without waiting. */
void step_cancel(struct controller *c);

/* ---- kernel.c ---- */

/* Does a release belong to a kernel's name: 6.1 to 6.1.0-31, not to 6.12? */
bool kernel_matches(const struct bench *b, const char *kernel,
		    const char *release);
/* Can this bench boot it? */
bool kernel_known(const struct bench *b, const char *kernel);
/* Boot the machine into a kernel unless it runs it; "" = any. */
int kernel_ensure(struct controller *c, const char *kernel, struct err *err);
/* Start the guest of a virtual bench that is up without one. -ENOTSUP: there is
 * no such guest to start. */
int kernel_start_guest(struct controller *c, struct err *err);
/* Boot whatever it runs now again. -ENOTSUP: the bench has no way to. */
int kernel_reboot(struct controller *c, struct err *err);

/* ---- cell.c ---- */

/* One attempt at a cell, whose journal row is running. 0: its result is
 * stored (also that of a failed workload). */
int cell_run(struct controller *c, struct err *err);

/* ---- attempt.c ---- */

/* Try a cell, cell i of n, until it has its end. False: the run ends, and rc
 * and err say why. */
bool attempt_cell(struct controller *c, const Bay__Cell *cell, unsigned i,
		  unsigned n, int *rc, struct err *err);
/* How a run ends that ends by rc. */
enum control_end attempt_end(const struct controller *c, int rc);

/* ---- control.c ---- */

void control_phase(struct controller *c, const char *name);
void control_phase_end(struct controller *c);
void control_note(struct controller *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void control_taint(struct controller *c, const char *why);
/* Forget the times of the last cell's phases. */
void control_drop_phases(struct controller *c);
/* How long a lost agent may stay away. */
uint32_t control_agent_ms(const struct controller *c);

#endif
