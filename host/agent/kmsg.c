#include "host/agent/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/util/fs.h"
#include "host/util/parse.h"

#define KMSG_RECORD_BYTES 8192u /* CONSOLE_EXT_LOG_MAX of the kernel */
#define KMSG_LEVEL_MASK   7u
#define KMSG_LEVEL_ERROR  3u

int kmsg_open(const char *root)
{
	char path[FS_PATH_BYTES];
	int fd;

	if (fs_path(path, "%s/dev/kmsg", root))
		return -1;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_END);
	return fd;
}

bool kmsg_parse(char *record, const char **text)
{
	const char *p = record;
	char *semicolon = strchr(record, ';');
	uint64_t priority;

	if (!semicolon || !parse_next_u64(&p, semicolon, &priority) ||
	    (priority & KMSG_LEVEL_MASK) > KMSG_LEVEL_ERROR)
		return false;
	semicolon[1 + strcspn(semicolon + 1, "\n")] = '\0';
	*text = semicolon + 1;
	return true;
}

char **kmsg_errors(int fd, struct arena *arena, size_t *count)
{
	struct argv lines = { .arena = arena };
	char record[KMSG_RECORD_BYTES];

	while (fd >= 0 && lines.count < KMSG_LINES_MAX) {
		ssize_t n = read(fd, record, sizeof(record) - 1);
		const char *text;

		/* EPIPE: the oldest records were overwritten meanwhile. */
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			break;
		record[n] = '\0';
		if (kmsg_parse(record, &text))
			argv_add(&lines, text);
	}
	*count = lines.count;
	return (char **)(uintptr_t)lines.arg;
}
