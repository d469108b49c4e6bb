/* host/report/compare_priv.h - between compare.c and compare_print.c only. */
#ifndef HOST_REPORT_COMPARE_PRIV_H
#define HOST_REPORT_COMPARE_PRIV_H

#include "host/report/compare.h"

struct row {
	char *name;
	double sum[COMPARE_SIDES];
	unsigned runs[COMPARE_SIDES];
};

struct metric {
	char *name;
	char *unit;
	size_t place; /* order of the first add */
	struct row *row;
	size_t n, cap;
	struct compare_row *out;
	struct compare_total total;
};

/* Distinct values that a side had, one a line. */
struct setting {
	char *name;
	char *value[COMPARE_SIDES]; /* NULL: the side never had it */
};

struct compare {
	char *label[COMPARE_SIDES];
	struct metric *metric;
	size_t n_metric, cap_metric;
	struct setting *setting;
	size_t n_setting, cap_setting;
	char *tainted; /* runs, one a line; NULL: none */
};

bool compare_is_paired(const struct compare_row *r);

/* After compare_finish(). Whether the case has the i-th metric on this side and
 * not on the other one; whether it has any metric on this side. */
bool compare_is_only_in(const struct compare *c, size_t i,
			const char *case_name, enum compare_side side);
bool compare_has_case(const struct compare *c, enum compare_side side,
		      const char *case_name);

bool compare_differs(const struct setting *s);

/* The settings that name the compared kernel itself. */
bool compare_is_kernel(const struct setting *s);

#endif
