/* host/rig/timefit.h - the rig's clock against the host's, from pings. Pure.
 *
 * The last 64 samples are kept; the quarter with the shortest round trips is
 * fitted by least squares for offset and rate. */
#ifndef HOST_RIG_TIMEFIT_H
#define HOST_RIG_TIMEFIT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/link/control.h"

#define TIMEFIT_WINDOW 64u
#define TIMEFIT_FIRST  8u

struct timefit_sample {
	double host_us; /* middle of the exchange */
	double rig_us;
	double rtt_us;
};

struct timefit {
	double out_us;  /* known time of the bytes on the wire, to the rig */
	double back_us; /* and back; 0 unless a UART */
	struct timefit_sample sample[TIMEFIT_WINDOW];
	unsigned count; /* ever taken */
	/* The fit: rig = rig0 + (host - host0) * rate */
	double host0_us;
	double rig0_us;
	double rate;
	double rate_error;
	double half_rtt_us; /* mean of the kept samples */
};

void timefit_init(struct timefit *t, double out_us, double back_us);
void timefit_add(struct timefit *t, const struct control_stamps *s);
bool timefit_is_valid(const struct timefit *t);
double timefit_to_host_us(const struct timefit *t, double rig_us);
double timefit_to_rig_us(const struct timefit *t, double host_us);
/* How far off a conversion at this host time may be. */
double timefit_bound_us(const struct timefit *t, double host_us);

#endif
