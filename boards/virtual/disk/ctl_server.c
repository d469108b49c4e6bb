/* boards/virtual/disk/ctl_server.c - serve control lines. */
#include "boards/virtual/disk/ctl_server.h"

#include "boards/virtual/disk/ctl.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 16u
#define FD_STOP     0u
#define FD_LISTEN   1u
#define FD_CLIENT   2u

struct client {
	struct ctl_lines lines;
};

struct ctl_server {
	struct sockaddr_un addr;
	char serial[32];
	struct shell *shell;
	pthread_t thread;
	bool running;
	struct pollfd fds[FD_CLIENT + CLIENTS_MAX]; /* fd -1: free */
	struct client clients[CLIENTS_MAX];
};

static int connect_to(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) != 0)
		err = -errno;
	close(fd);
	return err;
}

/* The path is free, or becomes it when its last owner died. */
static int clear_path(const struct sockaddr_un *addr)
{
	int err = connect_to(addr);

	if (err == 0)
		return -EADDRINUSE;
	if (err == -ENOENT)
		return 0;
	if (err != -ECONNREFUSED)
		return err;
	return unlink(addr->sun_path) == 0 ? 0 : -errno;
}

static int listen_at(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int err = 0;

	if (fd < 0)
		return -errno;
	mask = umask(0177);
	if (bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) != 0 ||
	    listen(fd, CLIENTS_MAX) != 0)
		err = -errno;
	umask(mask);
	if (err == 0)
		return fd;
	close(fd);
	return err;
}

static void slots_init(struct ctl_server *srv)
{
	for (unsigned i = 0; i < FD_CLIENT + CLIENTS_MAX; i++)
		srv->fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
}

static int open_fds(struct ctl_server *srv)
{
	int fd = clear_path(&srv->addr);

	if (fd == 0)
		fd = listen_at(&srv->addr);
	if (fd < 0)
		return fd;
	srv->fds[FD_LISTEN].fd = fd;
	srv->fds[FD_STOP].fd = eventfd(0, EFD_CLOEXEC);
	return srv->fds[FD_STOP].fd < 0 ? -errno : 0;
}

static void close_fds(struct ctl_server *srv)
{
	for (unsigned i = 0; i < FD_CLIENT + CLIENTS_MAX; i++)
		if (srv->fds[i].fd >= 0)
			close(srv->fds[i].fd);
}

struct ctl_server *ctl_server_new(const char *path, const char *serial)
{
	struct ctl_server *srv = calloc(1, sizeof(*srv));
	int err;

	if (srv == NULL)
		return NULL;
	slots_init(srv);
	err = -ENAMETOOLONG;
	if (strlen(path) >= sizeof(srv->addr.sun_path) ||
	    strlen(serial) >= sizeof(srv->serial))
		goto err_free;
	srv->addr.sun_family = AF_UNIX;
	strcpy(srv->addr.sun_path, path);
	strcpy(srv->serial, serial);
	err = open_fds(srv);
	if (err == 0)
		return srv;
	if (srv->fds[FD_LISTEN].fd >= 0)
		unlink(path);
	close_fds(srv);
err_free:
	free(srv);
	errno = -err;
	return NULL;
}

static void answer_line(struct ctl_server *srv, const struct ctl_lines *l,
			char answer[CTL_ANSWER_MAX])
{
	struct ctl_cmd cmd;
	char why[128];
	int err;

	if (l->overflow) {
		ctl_refuse("the line is too long", answer);
		return;
	}
	err = ctl_parse(l->line, l->n, &cmd, why);
	if (err != 0) {
		ctl_refuse_usage(why, answer);
		return;
	}
	ctl_execute(shell_enter(srv->shell), srv->serial, &cmd, answer);
	shell_leave(srv->shell);
}

/* False: the peer is gone, or does not read its answers. */
static bool serve_byte(struct ctl_server *srv, unsigned i, char byte)
{
	struct ctl_lines *l = &srv->clients[i].lines;
	char answer[CTL_ANSWER_MAX];
	size_t n;

	if (!ctl_lines_take(l, byte))
		return true;
	answer_line(srv, l, answer);
	ctl_lines_next(l);
	n = strlen(answer);
	return send(srv->fds[FD_CLIENT + i].fd, answer, n,
		    MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

static bool serve_client(struct ctl_server *srv, unsigned i)
{
	char buf[512];
	ssize_t n = recv(srv->fds[FD_CLIENT + i].fd, buf, sizeof(buf),
			 MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	for (ssize_t k = 0; k < n; k++)
		if (!serve_byte(srv, i, buf[k]))
			return false;
	return n > 0;
}

static void accept_client(struct ctl_server *srv)
{
	int fd = accept4(srv->fds[FD_LISTEN].fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	for (unsigned i = 0; i < CLIENTS_MAX; i++) {
		if (srv->fds[FD_CLIENT + i].fd >= 0)
			continue;
		srv->fds[FD_CLIENT + i].fd = fd;
		ctl_lines_next(&srv->clients[i].lines);
		return;
	}
	close(fd);
}

static void serve_ready(struct ctl_server *srv)
{
	for (unsigned i = 0; i < CLIENTS_MAX; i++) {
		struct pollfd *p = &srv->fds[FD_CLIENT + i];

		if (p->fd < 0 || p->revents == 0 || serve_client(srv, i))
			continue;
		close(p->fd);
		p->fd = -1;
		p->revents = 0;
	}
	if (srv->fds[FD_LISTEN].revents != 0)
		accept_client(srv);
}

static void *server_main(void *arg)
{
	struct ctl_server *srv = arg;

	while (srv->fds[FD_STOP].revents == 0) {
		if (poll(srv->fds, FD_CLIENT + CLIENTS_MAX, -1) > 0)
			serve_ready(srv);
	}
	return NULL;
}

int ctl_server_start(struct ctl_server *srv, struct shell *shell)
{
	int err;

	srv->shell = shell;
	err = pthread_create(&srv->thread, NULL, server_main, srv);
	srv->running = err == 0;
	return -err;
}

void ctl_server_free(struct ctl_server *srv)
{
	if (srv == NULL)
		return;
	if (srv->running) {
		eventfd_write(srv->fds[FD_STOP].fd, 1);
		pthread_join(srv->thread, NULL);
	}
	unlink(srv->addr.sun_path);
	close_fds(srv);
	free(srv);
}
