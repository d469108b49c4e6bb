/* host/agent/cell.h - the result of a cell, out of what was measured. */
#ifndef HOST_AGENT_CELL_H
#define HOST_AGENT_CELL_H

#include "host/agent/agent.h"
#include "host/agent/members.h"
#include "host/agent/record.h"
#include "host/sample/metrics.h"
#include "host/sample/sampler.h"
#include "host/workload/workload.h"

/* All that one run of a workload knows. */
struct cell_run {
	const Bay__WorkloadReq *req;
	struct record record;
	struct array_spec spec;
	struct target *target;
	size_t targets;
	struct workload workload;
	struct metrics metrics;
	struct sampler *sampler;
	uint64_t start_realtime_ns;
	struct member *member; /* as the workload found them */
	char **lost;           /* serials, see members_lost */
	size_t n_lost;
	int kmsg_fd;
};

/* Build the result in arena, with series thin enough for the spool. */
Bay__CellResult *cell_result(struct agent *a, struct cell_run *run,
			     Bay__CellState state, const char *error,
			     struct arena *arena);

#endif
