/* boards/virtual/disk/tests/nbd_disk.c - nbdkit as a child. */
#include "boards/virtual/disk/tests/nbd_disk.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PARAMS_MAX 8u
#define TRIES      1000u

void nbd_disk_init(struct nbd_disk *d)
{
	memset(d, 0, sizeof(*d));
	strcpy(d->dir, "/tmp/bay-disk-XXXXXX");
	if (mkdtemp(d->dir) == NULL)
		err(1, "mkdtemp");
	snprintf(d->nbd, sizeof(d->nbd), "%s/nbd", d->dir);
	snprintf(d->ctl, sizeof(d->ctl), "%s/ctl", d->dir);
	snprintf(d->image, sizeof(d->image), "%s/image", d->dir);
}

void nbd_disk_fini(struct nbd_disk *d)
{
	unlink(d->nbd);
	unlink(d->ctl);
	unlink(d->image);
	rmdir(d->dir);
}

static void exec_nbdkit(const struct nbd_disk *d, const char *plugin,
			const char *const *params)
{
	char ctl[128];
	const char *argv[16 + PARAMS_MAX] = {
		"nbdkit", "-f",   "--exit-with-parent", "-U",
		d->nbd,   plugin, "serial=T1",          ctl
	};
	size_t n = 8;

	snprintf(ctl, sizeof(ctl), "ctl=%s", d->ctl);
	for (size_t i = 0; i < PARAMS_MAX && params[i] != NULL; i++)
		argv[n++] = params[i];
	execvp(argv[0], (char *const *)argv);
	err(127, "nbdkit");
}

/* Both sockets are there before nbdkit can say so: ask until it answers. */
static int connect_to(const char *path)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	for (unsigned i = 0; i < TRIES; i++) {
		if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
			return fd;
		nanosleep(&pause, NULL);
	}
	errx(1, "%s: nobody answers", path);
}

void nbd_disk_start(struct nbd_disk *d, const char *plugin,
		    const char *const *params)
{
	d->pid = fork();
	if (d->pid < 0)
		err(1, "fork");
	if (d->pid == 0)
		exec_nbdkit(d, plugin, params);
	close(connect_to(d->nbd));
	d->ctl_fd = connect_to(d->ctl);
	d->h = nbd_create();
	if (d->h == NULL || nbd_connect_unix(d->h, d->nbd) != 0)
		errx(1, "%s", nbd_get_error());
}

int nbd_disk_stop(struct nbd_disk *d, int signal)
{
	int status = 0;

	kill(d->pid, signal);
	nbd_close(d->h);
	close(d->ctl_fd);
	if (waitpid(d->pid, &status, 0) != d->pid)
		err(1, "waitpid");
	unlink(d->nbd);
	return status;
}

void nbd_disk_ask(struct nbd_disk *d, const char *line, char *answer,
		  size_t size)
{
	size_t n = 0;

	if (dprintf(d->ctl_fd, "%s\n", line) < 0)
		err(1, "%s", d->ctl);
	while (n + 1 < size && read(d->ctl_fd, answer + n, 1) == 1)
		if (answer[n++] == '\n')
			break;
	if (n == 0)
		errx(1, "%s: no answer to %s", d->ctl, line);
	answer[n - 1] = '\0';
}
