/* host/tests/fake_agent.h - an agent behind a Unix socket, on the loop of the
 * test, that follows a script. Its disks have power when fake_rig says so. */
#ifndef HOST_TESTS_FAKE_AGENT_H
#define HOST_TESTS_FAKE_AGENT_H

#include <stdbool.h>
#include <uv.h>

#include "host/bench/bench.h"
#include "proto/agent.pb-c.h"

enum fake_fault {
	FAKE_NONE,
	FAKE_HANG_UP, /* the process dies: a new one answers */
	FAKE_REBOOT,  /* as its machine: nothing of it is left but the spool */
	FAKE_SILENT,  /* no answer to this request */
	/* The process dies behind a port: a new one speaks on the connection
	 * that stands, and waits for a hello. */
	FAKE_RESTART,
	FAKE_LOSE_ANSWER = FAKE_RESTART, /* and all before it */
	FAKE_FAIL,                       /* AGENT_FAILED */
	FAKE_RUBBISH,       /* bytes that are no frame, then the answer */
	FAKE_RESTART_AFTER, /* the answer, then as FAKE_RESTART */
	FAKE_STAND_STILL,   /* nobody runs for an hour, then the answer */
};

struct fake_agent {
	const struct bench *bench;
	bool has_rig;

	/* script: at the n-th request from the start, 0 = never */
	unsigned fault_at;
	enum fake_fault fault;
	bool fired;
	bool foreign;            /* every disk has a foreign signature */
	bool other_array;        /* one is there that no cell made */
	const char *damaged;     /* what it tells of a damaged file */
	const char *missing;     /* serial of a disk that never comes */
	unsigned fail_workloads; /* that end as CELL_FAILED */
	/* Serial of a disk that goes away under the first cell that has it. */
	const char *lose;
	unsigned lose_again;       /* and under so many after it */
	bool reset_rig;            /* which is the doing of the rig */
	void (*at_workload)(void); /* called when one starts */

	/* machine */
	unsigned requests, connections, workloads, incarnation, boots;
	uint64_t late_ms; /* by which uv_now() is ahead of the loop's timers */
	const char *release;
	bool array, fs, mounted, knobs;
	bool lost;        /* a disk is away: the array cannot be wiped */
	bool dirty_start; /* a workload ran on a machine that was not ready */
	unsigned foreign_creates;

	/* spool: at most one result, as one cell runs at a time */
	Bay__CellResult *spooled;
};

extern struct fake_agent fake_agent;

void fake_agent_start(uv_loop_t *loop, const char *path,
		      const struct bench *bench);
/* Runs the loop until its handles are closed. */
void fake_agent_stop(void);
/* As a reboot does to its machine. */
void fake_agent_reboot(const char *release);

#endif
