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
};

bool compare_is_paired(const struct compare_row *r);
bool compare_differs(const struct setting *s);

/* The settings that name the compared kernel itself. */
bool compare_is_kernel(const struct setting *s);

#endif
