/* Commands of foreign bytes: what nanopb reads it must be able to write
 * again, and read the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <pb_decode.h>
#include <pb_encode.h>

#include "proto/rig.pb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool decode(const uint8_t *data, size_t size, Command *c)
{
	pb_istream_t is = pb_istream_from_buffer(data, size);

	memset(c, 0, sizeof(*c));
	return pb_decode(&is, Command_fields, c);
}

static size_t encode(const Command *c, uint8_t *out, size_t cap)
{
	pb_ostream_t os = pb_ostream_from_buffer(out, cap);

	return pb_encode(&os, Command_fields, c) ? os.bytes_written : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t one[Command_size], two[Command_size];
	Command c;
	size_t n;

	if (size > 492 || !decode(data, size, &c))
		return 0;
	n = encode(&c, one, sizeof(one));
	if (!decode(one, n, &c) || encode(&c, two, sizeof(two)) != n ||
	    memcmp(one, two, n))
		abort();
	return 0;
}
