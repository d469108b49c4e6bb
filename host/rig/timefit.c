#include "host/rig/timefit.h"

#include <math.h>
#include <stdlib.h>

/* Crystals are better than this; used while the samples span too little to
 * tell the rate. */
#define RATE_UNKNOWN 100e-6
#define SPAN_MIN_US  5e6

void timefit_init(struct timefit *t, double out_us, double back_us)
{
	*t = (struct timefit){ .out_us = out_us,
			       .back_us = back_us,
			       .rate = 1.0,
			       .rate_error = RATE_UNKNOWN };
}

static int by_rtt(const void *a, const void *b)
{
	const struct timefit_sample *x = a;
	const struct timefit_sample *y = b;

	return (x->rtt_us > y->rtt_us) - (x->rtt_us < y->rtt_us);
}

/* Copy the samples, best first. Returns how many to use. */
static unsigned best_quarter(const struct timefit *t,
			     struct timefit_sample *out)
{
	unsigned n = t->count < TIMEFIT_WINDOW ? t->count : TIMEFIT_WINDOW;

	for (unsigned i = 0; i < n; i++)
		out[i] = t->sample[i];
	qsort(out, n, sizeof(*out), by_rtt);
	return (n + 3) / 4;
}

struct sums {
	double sxx, sxy, syy;
	double min, max;
};

static void fit_rate(struct timefit *t, const struct sums *s, unsigned n)
{
	double slope, rest;

	t->rate = 1.0;
	t->rate_error = RATE_UNKNOWN;
	if (n < 4 || s->max - s->min < SPAN_MIN_US)
		return;
	/* y is offset, so that the rate's small part is not lost in it. */
	slope = s->sxy / s->sxx;
	rest = s->syy - slope * s->sxy;
	t->rate = 1.0 + slope;
	t->rate_error = sqrt((rest > 0 ? rest : 0) / (n - 2) / s->sxx);
}

static void fit(struct timefit *t)
{
	struct timefit_sample s[TIMEFIT_WINDOW];
	unsigned n = best_quarter(t, s);
	struct sums sum = { .min = s[0].host_us, .max = s[0].host_us };
	double host = 0, offset = 0, rtt = 0;

	for (unsigned i = 0; i < n; i++) {
		host += (s[i].host_us - s[0].host_us) / n;
		offset += (s[i].rig_us - s[i].host_us -
			   (s[0].rig_us - s[0].host_us)) /
			  n;
		rtt += s[i].rtt_us / n;
	}
	host += s[0].host_us;
	offset += s[0].rig_us - s[0].host_us;
	for (unsigned i = 0; i < n; i++) {
		double x = s[i].host_us - host;
		double y = s[i].rig_us - s[i].host_us - offset;

		sum.sxx += x * x;
		sum.sxy += x * y;
		sum.syy += y * y;
		sum.min = fmin(sum.min, s[i].host_us);
		sum.max = fmax(sum.max, s[i].host_us);
	}
	t->host0_us = host;
	t->rig0_us = host + offset;
	t->half_rtt_us = rtt / 2;
	fit_rate(t, &sum, n);
}

void timefit_add(struct timefit *t, const struct control_stamps *s)
{
	double sent = (double)s->host_sent_us + t->out_us;
	double back = (double)s->host_rx_us - t->back_us;
	double rig_rx = (double)s->rig_rx_us;
	double rig_tx = (double)s->rig_tx_us;
	double rtt = (back - sent) - (rig_tx - rig_rx);

	t->sample[t->count % TIMEFIT_WINDOW] = (struct timefit_sample){
		.host_us = (sent + back) / 2,
		.rig_us = (rig_rx + rig_tx) / 2,
		.rtt_us = rtt > 0 ? rtt : 0,
	};
	t->count++;
	fit(t);
}

bool timefit_is_valid(const struct timefit *t)
{
	return t->count >= TIMEFIT_FIRST;
}

double timefit_to_host_us(const struct timefit *t, double rig_us)
{
	return t->host0_us + (rig_us - t->rig0_us) / t->rate;
}

double timefit_to_rig_us(const struct timefit *t, double host_us)
{
	return t->rig0_us + (host_us - t->host0_us) * t->rate;
}

double timefit_bound_us(const struct timefit *t, double host_us)
{
	return t->half_rtt_us + t->rate_error * fabs(host_us - t->host0_us);
}
