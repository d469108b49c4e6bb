/* host/cli/run_job.h - one call of bay run, and what it prints (run_print.c).
 */
#ifndef HOST_CLI_RUN_JOB_H
#define HOST_CLI_RUN_JOB_H

#include "host/cli/command.h"
#include "host/matrix/control.h"
#include "host/matrix/matrix.h"
#include "host/matrix/plan.h"
#include "host/store/store.h"

struct run_job {
	struct cli *cli;
	const char *results;
	const char *path; /* of the matrix */
	bool dry_run, resume, stop, retry;

	const struct bench *bench;
	struct matrix *matrix;
	struct plan plan;
	struct store *store;
	int lock;
	double cell_s;
	bool measured;
};

/* The cells in order, on standard output. An exit code. */
int run_print_plan(const struct run_job *j);

/* What has become of the cells, on standard error. */
void run_print_sum(struct run_job *j, enum control_end end,
		   const struct control_sum *s);

/* The same for programs, on standard output.
 *   err  what ended the run; its text may be empty */
void run_print_json(struct run_job *j, enum control_end end,
		    const struct control_sum *s, const struct err *err);

#endif
