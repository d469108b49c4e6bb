/* host/cli/progress.h - a run's progress for people, on stderr: one line a
 * cell, and on a terminal a line that moves. */
#ifndef HOST_CLI_PROGRESS_H
#define HOST_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/matrix/control.h"

struct progress {
	FILE *to;
	bool tty;
	double cell_s; /* expected for one cell, from the journal or the plan */
	bool measured; /* cell_s comes from cells that ran */
	unsigned i, n, ended;
	uint64_t start_ms; /* of the run */
	uint64_t shown_ms;
	double spent_s; /* in ended cells */
	char name[256];
	char phase[32];
	bool line_open;
};

/* cell_s: expected seconds of one cell; measured: as seen before. */
void progress_init(struct progress *p, FILE *to, double cell_s, bool measured);
struct control_watch progress_watch(struct progress *p);
/* End the moving line, before anything else is written. */
void progress_clear(struct progress *p);

/* "1:02:03" or "4:05". buf has 32 bytes. */
const char *progress_time(double seconds, char *buf);

/* "done", "quarantined", ... */
const char *progress_state(Bay__CellState s);

#endif
