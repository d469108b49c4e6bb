#include "host/matrix/pb.h"

#include <errno.h>
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <string.h>

int pb_add(void ***list, size_t *n, void *entry)
{
	void **p = realloc(*list, (*n + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	p[(*n)++] = entry;
	*list = p;
	return 0;
}

int pb_set_string(char **field, const char *value)
{
	char *s = strdup(value);

	if (!s)
		return -ENOMEM;
	if (*field && *field != protobuf_c_empty_string)
		free(*field);
	*field = s;
	return 0;
}

int pb_add_string(char ***list, size_t *n, const char *value)
{
	char *s = strdup(value);
	int ret;

	if (!s)
		return -ENOMEM;
	ret = pb_add((void ***)list, n, s);
	if (ret < 0)
		free(s);
	return ret;
}
