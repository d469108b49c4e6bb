/* COBS code of foreign bytes; what decodes must encode to a code that decodes
 * to the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/link/cobs.h"

#define MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t plain[MAX], code[COBS_MAX(MAX)], back[MAX];
	size_t n, m, len;

	if (size > MAX || !cobs_decode(data, size, plain, size, &n))
		return 0;
	len = cobs_encode(plain, n, code, sizeof(code));
	if (!len || memchr(code, 0, len))
		abort();
	if (!cobs_decode(code, len, back, sizeof(back), &m) || m != n ||
	    memcmp(back, plain, n))
		abort();
	return 0;
}
