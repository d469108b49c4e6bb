#include "host/bench/vbench_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/bench/vbench.h"
#include "host/util/clock.h"
#include "host/util/fs.h"

#define LOCK_NAME "lock"

/* A path that cannot be made fails like one that was removed meanwhile. */
#define REMAKE_MAX 100

/* Everything that the parts of a bench make; what is not listed is not ours
 * and stays. */
static const char *const suffixes[] = { ".sock", ".ctl",  ".nbd", ".fifo",
					".img",  ".json", ".new" };

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name);
	size_t s = strlen(suffix);

	return n > s && !strcmp(name + n - s, suffix);
}

static bool is_ours(const char *name, bool keep_logs)
{
	if (ends_with(name, ".log"))
		return !keep_logs;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (ends_with(name, suffixes[i]))
			return true;
	}
	return false;
}

/* Returns how many files went. */
static int remove_ours(const char *path, bool keep_logs)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		if (is_ours(e->d_name, keep_logs) &&
		    !unlinkat(dirfd(dir), e->d_name, 0))
			n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static void lock_path(char path[FS_PATH_BYTES], const char *dir)
{
	fs_path(path, "%s/" LOCK_NAME, dir);
}

/* The holder unlinks the file before it lets go: a lock on a file that is no
 * longer there is worth nothing. */
static bool lock_is_current(int fd, const char *path)
{
	struct stat mine;
	struct stat there;

	return !fstat(fd, &mine) && !stat(path, &there) &&
	       mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

/* A descriptor, or -errno; -EWOULDBLOCK: someone has it. */
static int lock_take(const char *dir, bool create)
{
	char path[FS_PATH_BYTES];
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0);
	int rc;
	int fd;

	lock_path(path, dir);
	for (;;) {
		fd = open(path, flags, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			rc = -errno;
			close(fd);
			return rc;
		}
		if (lock_is_current(fd, path))
			return fd;
		close(fd);
	}
}

static int check_owner(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st))
		return err_sys(err, -errno, "%s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return err_set(err, -EPERM,
			       "%s is not a directory that only you can write",
			       path);
	return 0;
}

/* A descriptor, or -errno with err. */
static int make_and_lock(const char *path, struct err *err)
{
	int rc = fs_mkdirs(path);

	if (rc)
		return err_sys(err, rc, "cannot create %s", path);
	rc = check_owner(path, err);
	if (rc)
		return rc;
	rc = lock_take(path, true);
	if (rc == -EWOULDBLOCK)
		return err_set(err, -EBUSY,
			       "this bench is already up in %s; stop it with "
			       "'bay bench down'",
			       path);
	return rc < 0 ? err_sys(err, rc, "cannot lock %s", path) : rc;
}

int vbench_dir_open(struct vbench_dir *d, const char *path, struct err *err)
{
	struct err why = { 0 };
	int rc = -ENOENT;

	d->lock_fd = -1;
	snprintf(d->path, sizeof(d->path), "%s", path);
	/* A bench that goes down removes it as long as no lock is in it. */
	for (int i = 0; i < REMAKE_MAX && rc == -ENOENT; i++)
		rc = make_and_lock(path, &why);
	if (rc < 0)
		return err_set(err, rc, "%s", why.text);
	d->lock_fd = rc;
	remove_ours(path, false);
	return 0;
}

static void remove_dir(const char *path)
{
	char copy[FS_PATH_BYTES];
	char *parent;

	if (rmdir(path))
		return;
	/* The folder of all benches of this user, when it is empty. */
	snprintf(copy, sizeof(copy), "%s", path);
	parent = dirname(copy);
	if (strstr(parent, "/bay-"))
		(void)rmdir(parent);
}

void vbench_dir_close(struct vbench_dir *d, bool keep_logs)
{
	char path[FS_PATH_BYTES];

	if (d->lock_fd < 0)
		return;
	remove_ours(d->path, keep_logs);
	lock_path(path, d->path);
	unlink(path);
	remove_dir(d->path);
	close(d->lock_fd);
	d->lock_fd = -1;
}

/* A descriptor, or -errno; -ENOENT: whoever had it has let go. */
static int lock_wait(const char *dir, uint32_t deadline_ms)
{
	struct deadline deadline = deadline_in_ms(deadline_ms);
	int fd;

	while ((fd = lock_take(dir, false)) == -EWOULDBLOCK) {
		if (deadline_past(deadline))
			return -ETIMEDOUT;
		usleep(20000);
	}
	return fd;
}

int vbench_dir_clear(const char *run, uint32_t deadline_ms)
{
	struct vbench_dir d = { .lock_fd = lock_wait(run, deadline_ms) };
	int n;

	if (d.lock_fd == -ENOENT) {
		/* The lock goes before the directory: its holder may not have
		 * come to that yet. Only an empty one goes. */
		remove_dir(run);
		return 0;
	}
	if (d.lock_fd < 0)
		return d.lock_fd;
	snprintf(d.path, sizeof(d.path), "%s", run);
	n = remove_ours(run, true);
	vbench_dir_close(&d, false);
	return n > 0;
}
