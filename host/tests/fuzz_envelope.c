/* What an agent sends, behind the frame that proto/link fuzzes. */
#include <stddef.h>
#include <stdint.h>

#include "proto/agent.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The payload as it is, so that no checksum stands in the fuzzer's way. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	Bay__Envelope *e = bay__envelope__unpack(NULL, len, data);
	uint8_t buf[256];

	if (!e)
		return 0;
	if (bay__envelope__get_packed_size(e) <= sizeof(buf))
		bay__envelope__pack(e, buf);
	bay__envelope__free_unpacked(e, NULL);
	return 0;
}
