/* Any line from the backplane of the posix port. */
#include "firmware/hal/reset.h"
#include "firmware/port/posix/posix.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct posix posix = { .stepped = true, .backplane = { NULL, -1, -1 } };
static uint8_t eeprom[PARTS_EEPROM_BYTES];

/* Never called: lines that reset are left out below. */
_Noreturn void hal_reset(reset_cause why)
{
	(void)why;
	abort();
}

void posix_close_client(struct posix_socket *s)
{
	s->client = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char line[BACKPLANE_PROTO_LINE];

	if (size >= sizeof(line) || memchr(data, 0, size))
		return 0;
	memcpy(line, data, size);
	line[size] = '\0';
	if (!strncmp(line, "reset", 5))
		return 0;
	if (!posix.parts.bus.ops)
		parts_init(&posix.parts, eeprom);
	posix_backplane_line(line);
	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++)
		assert(posix.parts.rail[2 * i].shunt_uohm == 300);
	return 0;
}
