/* tests/test_limits.h - the limits that the tests of core/ work with. */
#ifndef TESTS_TEST_LIMITS_H
#define TESTS_TEST_LIMITS_H

#include "firmware/core/config.h"

static const struct config_defaults test_defaults = {
	.rig = { .budget_12v_ma = 8000,
		 .budget_5v_ma = 6000,
		 .budget_mw = 100000,
		 .host_late_ms = 1500,
		 .host_lost_ms = 5000 },
	.slot = { .min_off_ms = 5000,
		  .spinup_reserve_ma = 3000,
		  .spinup_max_ms = 15000,
		  .idle_12v_ma = 500,
		  .trip_5v_ma = 2500,
		  .trip_12v_ma = 4500,
		  .trip_ms = 5,
		  .i2t_12v_ma = 3000,
		  .i2t_ms = 15000,
		  .blank_ms = 20,
		  .ramp_timeout_ms = 200 },
};

#endif
