#include "host/bench/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/util/fs.h"

#define LOCK_BYTES 160

/* All of the file. */
static struct flock whole_file(void)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

static int lock_path(const struct bench *b, char path[FS_PATH_BYTES])
{
	char dir[FS_PATH_BYTES - 16];
	int ret;

	ret = bench_run_dir(b, dir, sizeof(dir));
	if (ret < 0)
		return ret;
	ret = fs_path(path, "%s.lock", dir);
	return ret;
}

/* The folder that a lock lies in. */
static int make_folder(const char *path)
{
	char dir[FS_PATH_BYTES];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	return fs_mkdirs(dir);
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
	struct flock lock = whole_file();
	int fd, ret, n;

	ret = lock_path(b, path);
	if (ret == 0)
		ret = make_folder(path);
	if (ret < 0)
		return err_sys(err, ret, "lock of bench %s", b->name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(err, -errno, "cannot open %s", path);
	/* Of the open file, not of the process, and unlike that of flock(2) it
	 * can be looked at by bench_lock_look(). */
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		ret = errno == EAGAIN || errno == EACCES
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

int bench_lock_look(const struct bench *b, struct err *err)
{
	char path[FS_PATH_BYTES];
	struct flock lock = whole_file();
	int fd, ret;

	ret = lock_path(b, path);
	if (ret < 0)
		return err_sys(err, ret, "lock of bench %s", b->name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, -errno, "cannot open %s", path);
	if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
		ret = err_sys(err, -errno, "cannot look at %s", path);
	else if (lock.l_type != F_UNLCK)
		ret = busy(fd, b, err);
	close(fd);
	return ret;
}

void bench_unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}
