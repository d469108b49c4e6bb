/* host/cli/array_job.h - one call of bay array: what was asked for, and whom to
 * ask. Functions that return an exit code return -1 to go on. */
#ifndef HOST_CLI_ARRAY_JOB_H
#define HOST_CLI_ARRAY_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/bench/dut.h"
#include "host/cli/command.h"
#include "host/rig/rig.h"

#define ARRAY_STEP_MS 300000u

struct array_job {
	struct cli *cli;
	const struct bench *bench;
	const char *layout, *disks, *name;
	unsigned want; /* members */
	Bay__ArraySpec spec;
	Bay__FsSpec fs;
	bool yes;

	uv_loop_t loop;
	bool has_loop;
	struct dut *dut;
	struct rig *rig;
	int lock;
	struct err err;
};

enum array_verb {
	ARRAY_PLAN,
	ARRAY_CREATE,
	ARRAY_SHOW,
	ARRAY_DESTROY,
};

/* Options and operands into j; the bench is loaded. An exit code. */
int array_job_parse(struct array_job *j, enum array_verb verb, int argc,
		    char **argv);

/* Whether a new array can be had as it is described, as far as that needs no
 * agent; its name, number of members, and those that are named, into j. An
 * exit code. */
int array_job_check(struct array_job *j);

/* Members into j->spec: those that were named, or the first of the
 * bench that none of the arrays in all holds. After array_job_check(). An exit
 * code. */
int array_job_choose_disks(struct array_job *j, const Bay__ArrayStates *all);

/* Take the bench's lock and reach its agent. An exit code. */
int array_job_open(struct array_job *j);
/* After array_job_parse(), however far it came. */
void array_job_close(struct array_job *j);

/* Print j->err and turn rc into an exit code. */
int array_job_complain(struct array_job *j, int rc);

/* dut_call() with j->err. */
int array_job_ask(struct array_job *j, Bay__Request *req, uint32_t ms,
		  Bay__Reply **out);

/* The arrays that the agent knows, "" for all. *out has arrays and is freed
 * with bay__reply__free_unpacked(). 0, -EPROTO, or as dut_call(). */
int array_job_ask_arrays(struct array_job *j, const char *name,
			 Bay__Reply **out);

/* Switch the members' slots on, and wait until the agent sees the disks. 0, or
 * as rig_slot_set_and_wait() and dut_call(). */
int array_job_power_up(struct array_job *j);

#endif
