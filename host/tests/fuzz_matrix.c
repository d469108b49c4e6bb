/* matrix.yaml from foreign hands: parsed, checked, planned. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/matrix/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const serial[] = { "A", "B", "C" };
	struct matrix *m = NULL;
	struct err err = { 0 };
	struct plan p;

	if (matrix_parse("m", (const char *)data, len, &m, &err) < 0) {
		if (!err.text[0] || m)
			abort();
		return 0;
	}
	if (plan_make(m, serial, 3, &p, &err) == 0)
		plan_free(&p);
	else if (!err.text[0])
		abort();
	matrix_free(m);
	return 0;
}
