/* tests/test_limits.h - the limits that the tests of core/ work with. */
#ifndef TESTS_TEST_LIMITS_H
#define TESTS_TEST_LIMITS_H

#include "firmware/core/config.h"
#include "firmware/core/limits.h"

static const struct config_defaults test_defaults = {
	.rig = { .budget_12v_ma = 8000,
		 .budget_5v_ma = 6000,
		 .budget_mw = 100000,
		 LIMITS_HOST },
	.slot = { LIMITS_SLOT },
};

#endif
