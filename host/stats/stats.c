#include "host/stats/stats.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

double stats_mean(const double *v, size_t n)
{
	return n ? gsl_stats_mean(v, 1, n) : NAN;
}

double stats_sigma(const double *v, size_t n)
{
	return n > 1 ? gsl_stats_sd(v, 1, n) : NAN;
}

/* Welford's update, so that pairs left out need no second array. */
struct moments {
	size_t n;
	double mean;
	double squares;
};

static void add(struct moments *m, double x)
{
	double d = x - m->mean;

	m->n++;
	m->mean += d / (double)m->n;
	m->squares += d * (x - m->mean);
}

struct stats_ratio stats_ratio(const double *a, const double *b, size_t n,
			       double level)
{
	struct stats_ratio r = { 0, NAN, NAN, NAN };
	struct moments m = { 0, 0, 0 };
	double half;
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] > 0 && b[i] > 0)
			add(&m, log(b[i] / a[i]));
	r.n = m.n;
	if (m.n == 0)
		return r;
	r.mean = exp(m.mean);
	if (m.n < 2)
		return r;
	half = gsl_cdf_tdist_Pinv((1 + level) / 2, (double)(m.n - 1)) *
	       sqrt(m.squares / (double)(m.n - 1) / (double)m.n);
	r.low = exp(m.mean - half);
	r.high = exp(m.mean + half);
	return r;
}
