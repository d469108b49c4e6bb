#include "host/cli/print_json.h"

#include <errno.h>
#include <stdio.h>

int print_json(json_t *root, enum json_shape shape)
{
	/* 15 digits hold what was measured, and 23.4 stays 23.4. */
	size_t flags = JSON_REAL_PRECISION(15) |
		       (shape == JSON_DOCUMENT ? JSON_INDENT(2) : 0);
	int ret;

	if (!root)
		return -ENOMEM;
	ret = json_dumpf(root, stdout, flags);
	json_decref(root);
	if (ret < 0 || putchar('\n') == EOF || fflush(stdout))
		return -EIO;
	return 0;
}
