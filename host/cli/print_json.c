#include "host/cli/print_json.h"

#include <errno.h>
#include <stdio.h>

int print_json(json_t *root, enum json_shape shape)
{
	size_t flags = shape == JSON_DOCUMENT ? JSON_INDENT(2) : 0;
	int ret;

	if (!root)
		return -ENOMEM;
	ret = json_dumpf(root, stdout, flags);
	json_decref(root);
	if (ret < 0 || putchar('\n') == EOF || fflush(stdout))
		return -EIO;
	return 0;
}
