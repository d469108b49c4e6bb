/* Client of the control sockets: one line out, one line back. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/bench/vbench_priv.h"
#include "host/util/buf.h"
#include "host/util/clock.h"

#define ANSWER_MAX (1024 * 1024)

int vbench_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;
	int rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

bool vbench_answers(const char *path)
{
	int fd = vbench_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int send_line(int fd, const char *line)
{
	struct buf b = { 0 };
	size_t done = 0;
	int rc = buf_printf(&b, "%s\n", line);

	while (!rc && done < b.len) {
		ssize_t n = send(fd, b.data + done, b.len - done, MSG_NOSIGNAL);

		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			rc = -errno;
	}
	buf_free(&b);
	return rc;
}

static int receive_some(int fd, struct buf *b, struct deadline deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char part[4096];
	ssize_t n;

	n = poll(&p, 1, deadline_poll_ms(deadline));
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!n)
		return -ETIMEDOUT;
	n = read(fd, part, sizeof(part));
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!n)
		return -ECONNRESET;
	return buf_append(b, part, (size_t)n);
}

static int receive_line(int fd, struct deadline deadline, char **line)
{
	struct buf b = { 0 };
	char *end = NULL;
	int rc = 0;

	while (!rc && !end) {
		rc = receive_some(fd, &b, deadline);
		if (b.len > ANSWER_MAX)
			rc = -EMSGSIZE;
		end = b.len ? memchr(b.data, '\n', b.len) : NULL;
	}
	if (end) {
		*end = '\0';
		*line = b.data;
		return 0;
	}
	buf_free(&b);
	return rc;
}

int vbench_ask_at(const char *path, const char *line, uint32_t deadline_ms,
		  char **answer)
{
	struct deadline deadline = deadline_in_ms(deadline_ms);
	int fd = vbench_connect(path);
	int rc;

	if (fd < 0)
		return fd;
	rc = send_line(fd, line);
	if (!rc)
		rc = receive_line(fd, deadline, answer);
	close(fd);
	return rc;
}

int vbench_ask(const char *run, const char *command, uint32_t deadline_ms,
	       char **answer, struct err *err)
{
	char path[VBENCH_PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%.*s/bench.ctl", VBENCH_PATH_MAX - 16,
		 run);
	rc = vbench_ask_at(path, command, deadline_ms, answer);
	if (rc == -ENOENT || rc == -ECONNREFUSED)
		return err_set(err, -ENOENT, BENCH_NOT_UP, run);
	if (rc == -ETIMEDOUT)
		return err_set(err, rc, "the bench in %s does not answer", run);
	if (rc)
		return err_sys(err, rc, "bench in %s", run);
	return 0;
}
