/* Every line decoder of the backplane on foreign bytes. */
#include <stdint.h>
#include <stdlib.h>

#include "boards/virtual/backplane/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(void *arg, const char *line)
{
	struct bp_trace t;
	struct bp_qtest q;
	struct bp_qmp_msg m;
	struct bp_posix p;
	struct bp_disk_state d;
	struct bp_fault f = { 0 };
	unsigned int device[4];
	char err[64];

	(void)arg;
	bp_trace_parse(&t, line);
	bp_qtest_parse(&q, line);
	bp_posix_parse(&p, line);
	bp_qmp_msg_parse(&m, line);
	bp_qmp_devices(m.data, "pl061_luminary", device, 4);
	bp_qmp_msg_free(&m);
	bp_disk_parse(&d, line);
	bp_disk_parse_ack(line, err, sizeof(err));
	bp_fault_parse(&f, line, err, sizeof(err));
	if (t.kind == BP_TRACE_OUTPUT && t.pin > 7)
		abort();
	if (p.kind == BP_POSIX_GATE && p.slot >= BP_SLOTS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bp_lines lines;

	bp_lines_init(&lines);
	bp_lines_feed(&lines, (const char *)data, size, decode, NULL);
	bp_lines_feed(&lines, "\n", 1, decode, NULL);
	return 0;
}
