/* boards/virtual/disk/current.c - rail currents of a 3.5 inch drive. */
#include "boards/virtual/disk/current.h"

/* Figures of common 7200 rpm data sheets. */
#define LOGIC_STALLED_MA 180u
#define LOGIC_SPINUP_MA  450u
#define LOGIC_IDLE_MA    300u
#define LOGIC_ACTIVE_MA  650u
#define MOTOR_IDLE_MA    350u
#define MOTOR_ACTIVE_MA  560u

/* The motor's current falls as its back-EMF rises: flat against the limit at
 * first, then faster and faster down to the running current. */
static uint32_t spinup_ma(const struct current_input *in)
{
	uint64_t thousandth = 1000;

	if (in->spinup_ns > 0)
		thousandth = in->elapsed_ns / (in->spinup_ns / 1000 + 1);
	if (thousandth > 1000)
		thousandth = 1000;
	return (uint32_t)(in->peak_ma - (in->peak_ma - MOTOR_IDLE_MA) *
						thousandth * thousandth /
						1000000);
}

void current_now(const struct current_input *in, uint32_t *ma_5v,
		 uint32_t *ma_12v)
{
	*ma_5v = 0;
	*ma_12v = 0;
	if (in->power == VDISK_OFF || in->power == VDISK_FALLING)
		return;
	if (in->stalled) {
		*ma_5v = LOGIC_STALLED_MA;
	} else if (in->power == VDISK_SPINUP) {
		*ma_5v = LOGIC_SPINUP_MA;
		*ma_12v = spinup_ma(in);
	} else {
		*ma_5v = in->active ? LOGIC_ACTIVE_MA : LOGIC_IDLE_MA;
		*ma_12v = in->active ? MOTOR_ACTIVE_MA : MOTOR_IDLE_MA;
	}
}
