/* host/stats/stats.h - numbers about a few runs. Pure; n counts values, all of
 * them finite; results are NAN where n is too small to say. */
#ifndef HOST_STATS_STATS_H
#define HOST_STATS_STATS_H

#include <stddef.h>

double stats_mean(const double *v, size_t n); /* n >= 1 */

/* Sample standard deviation (divided by n - 1); n >= 2. */
double stats_sigma(const double *v, size_t n);

/* Ratio b/a over pairs, as a geometric mean with its confidence interval. */
struct stats_ratio {
	size_t n;    /* pairs with both values above 0: only they count */
	double mean; /* exp(mean(log(b/a))); NAN at n = 0 */
	double low;  /* NAN at n < 2 */
	double high;
};

/* exp(m +- t(n-1, (1+level)/2) * s / sqrt(n)), m and s mean and sample
 * deviation of log(b/a): Student's interval on the log scale, as the logs of
 * rates are far closer to normal than the rates.
 *   level  0 < level < 1, e.g. 0.95 */
struct stats_ratio stats_ratio(const double *a, const double *b, size_t n,
			       double level);

#endif
