/* Anything in a frame of the command channel; the rig must not be moved into
 * a state it may not be in, and must still answer. */
#include "firmware/app/commands.h"
#include "firmware/tests/sim.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_started;

static void check(void)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct slot *s = &sim.app.slot[i];
		bool on = sim.gate[2 * i] || sim.gate[2 * i + 1];

		assert(on == slot_is_powered(s));
		assert(!on || s->state >= SLOT_RAMP5);
		assert(s->state <= SLOT_FAULT);
	}
}

/* The first byte: how many milliseconds pass afterwards. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > FRAME_PAYLOAD_MAX)
		return 0;
	/* Starting takes longer than a command: a rig lives for a while. */
	if (!is_started || sim.now_us > 20000000u) {
		sim_start();
		sim_connect();
		is_started = true;
	}
	commands_execute(&sim.app, data + 1, size - 1);
	sim.app.link.reset_wanted = false;
	sim_run_ms(data[0] % 32);
	check();
	return 0;
}
