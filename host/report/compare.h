/* host/report/compare.h - two sides of the same cases, beside one another. */
#ifndef HOST_REPORT_COMPARE_H
#define HOST_REPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "host/stats/stats.h"
#include "host/util/buf.h"

/* The metric whose rows are printed; of the others only the TOTAL is. */
#define COMPARE_MAIN_METRIC "write_bw"

enum compare_side {
	COMPARE_A, /* base */
	COMPARE_B,
	COMPARE_SIDES,
};

struct compare;

/* NULL: no memory. label_a/b head the columns and are copied. */
struct compare *compare_new(const char *label_a, const char *label_b);
void compare_free(struct compare *c); /* accepts NULL */

/* Replace a column's heading. 0, or -ENOMEM and the old one stays. */
int compare_label(struct compare *c, enum compare_side side, const char *label);

/* Add one run's value; several runs of a case are averaged. The value is kept
 * unrounded. 0; -EINVAL: not a finite number; -ENOMEM. */
int compare_add(struct compare *c, enum compare_side side,
		const char *case_name, const char *metric, const char *unit,
		double value);

/* Add a setting that was in force on a side, for the list of differences.
 * 0 or -ENOMEM. */
int compare_setting(struct compare *c, enum compare_side side, const char *name,
		    const char *value);

/* Note that a run was tainted, by a text without newline. 1: it is the first
 * time, 0: it was noted before, on either side; -ENOMEM. */
int compare_taint(struct compare *c, const char *run);

/* Sort and sum; call once after the last add, before anything below.
 * Rows are in strcmp() order of the case, as in the published tables. */
int compare_finish(struct compare *c);

/* ---- what came out -------------------------------------------------------*/

struct compare_row {
	const char *case_name;
	double value[COMPARE_SIDES];  /* mean over the runs */
	unsigned runs[COMPARE_SIDES]; /* 0: this side lacks the case */
};

/* Sums over the rows that both sides have, and those rows' ratio. */
struct compare_total {
	const char *metric;
	const char *unit;
	const struct compare_row *row; /* n_row, those without partner too */
	size_t n_row;
	size_t n; /* with both sides */
	double value[COMPARE_SIDES];
	struct stats_ratio ratio; /* 95 % */
};

/* Metrics in the order in which they were first added, the main one first. */
size_t compare_metrics(const struct compare *c);
const struct compare_total *compare_metric(const struct compare *c, size_t i);

/* Values, each of a case and a metric, that one side lacks. */
size_t compare_unpaired(const struct compare *c);

/* 100 (b-a)/a; false and nothing written if either is 0, as published. */
bool compare_percent(double a, double b, double *percent);

/* Rows of the main metric that fell by more than limit percent. */
size_t compare_regressions(const struct compare *c, double limit_percent);

/* ---- printing: append to out; 0 or -ENOMEM ------------------------------ */

int compare_text(const struct compare *c, struct buf *out);
int compare_csv(const struct compare *c, struct buf *out);
int compare_json(const struct compare *c, struct buf *out);

#endif
