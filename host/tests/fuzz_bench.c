/* bench.yaml from foreign hands. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/bench/bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bench *b = NULL;
	struct err err = { 0 };

	if (bench_parse("b", (const char *)data, len, &b, &err) < 0 &&
	    (!err.text[0] || b))
		abort();
	bench_free(b);
	return 0;
}
