/* host/agent/kmsg.h - the kernel's complaints during a cell. */
#ifndef HOST_AGENT_KMSG_H
#define HOST_AGENT_KMSG_H

#include <stdbool.h>
#include <stddef.h>

#include "host/util/arena.h"

#define KMSG_LINES_MAX 100u

/* Where the log ends now; -1 (and every call is harmless) when there is none.
 * Close with close(). */
int kmsg_open(const char *root);

/* Error lines (level error and worse) since kmsg_open, in arena. At most
 * KMSG_LINES_MAX, the first ones. */
char **kmsg_errors(int fd, struct arena *arena, size_t *count);

/* "3,1234,5678,-;text\n..." to its text, if its level is error or worse. text
 * points into record, which is cut at the end of its first line. */
bool kmsg_parse(char *record, const char **text);

#endif
