#include "host/bench/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/util/fs.h"

#define LOCK_BYTES 160

static int lock_path(const struct bench *b, char path[FS_PATH_BYTES])
{
	char dir[FS_PATH_BYTES - 16];
	char *slash;
	int ret;

	ret = bench_run_dir(b, dir, sizeof(dir));
	if (ret < 0)
		return ret;
	ret = fs_path(path, "%s.lock", dir);
	slash = strrchr(dir, '/');
	if (ret == 0 && slash && slash != dir) {
		*slash = '\0';
		ret = fs_mkdirs(dir);
	}
	return ret;
}

static int busy(int fd, const struct bench *b, struct err *err)
{
	char holder[LOCK_BYTES] = "";
	ssize_t n = pread(fd, holder, sizeof(holder) - 1, 0);

	holder[n > 0 ? n : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
	return err_set(err, -EBUSY,
		       "bench %s is in use by %s; wait for it or stop it",
		       b->name, *holder ? holder : "another bay");
}

int bench_lock(const struct bench *b, const char *what, struct err *err)
{
	char path[FS_PATH_BYTES], text[LOCK_BYTES];
	int fd, ret, n;

	ret = lock_path(b, path);
	if (ret < 0)
		return err_sys(err, ret, "lock of bench %s", b->name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(err, -errno, "cannot open %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		ret = errno == EWOULDBLOCK
			      ? busy(fd, b, err)
			      : err_sys(err, -errno, "cannot lock %s", path);
		close(fd);
		return ret;
	}
	n = snprintf(text, sizeof(text), "bay %s (process %d)\n", what,
		     (int)getpid());
	/* Only a message: a lock without it is still a lock. */
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) < 0)
		return fd;
	return fd;
}

void bench_unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}
