#include "firmware/tests/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool process_dir(struct process *p)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(p->dir, sizeof(p->dir), "%s/bay-fw-XXXXXX",
		 tmp ? tmp : "/tmp");
	p->pid = -1;
	return mkdtemp(p->dir) != NULL;
}

const char *process_path(const struct process *p, const char *name)
{
	static char path[8][128];
	static unsigned turn;
	char *out = path[turn++ % 8];

	snprintf(out, sizeof(path[0]), "%s/%s", p->dir, name);
	return out;
}

bool process_start(struct process *p, char *const argv[])
{
	posix_spawn_file_actions_t fa;
	int rc;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&p->pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return rc == 0;
}

static void remove_dir(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

void process_end(struct process *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	remove_dir(p->dir);
}

int process_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int rc = -ENOENT;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	for (unsigned i = 0; i < 500; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			return fd;
		rc = -errno;
		close(fd);
		poll(NULL, 0, 20);
	}
	return rc;
}

bool process_have(const char *program)
{
	char path[256];
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, program);
		if (!access(path, X_OK))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}
