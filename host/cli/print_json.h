/* host/cli/print_json.h - the output of --json. */
#ifndef HOST_CLI_PRINT_JSON_H
#define HOST_CLI_PRINT_JSON_H

#include <jansson.h>

enum json_shape {
	JSON_DOCUMENT, /* the one result of a command, indented */
	JSON_LINE,     /* one of many, or for a shell loop */
};

/* Print root and a newline on stdout, flushed, and drop the reference.
 *   root  NULL: there was no memory for it
 * 0; -ENOMEM; -EIO: stdout is gone. main() reports the latter, too. */
int print_json(json_t *root, enum json_shape shape);

#endif
