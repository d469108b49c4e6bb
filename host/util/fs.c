#include "host/util/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/util/parse.h"

#define FS_ASIDE_MAX 1000u

#define FS_READ_STEP 4096u

int fs_path(char path[FS_PATH_BYTES], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, FS_PATH_BYTES, fmt, ap);
	va_end(ap);
	if (n >= 0 && n < FS_PATH_BYTES)
		return 0;
	path[0] = '\0';
	return -ENAMETOOLONG;
}

static int fs_read_fd(int fd, size_t max, struct buf *out)
{
	size_t total = 0;

	for (;;) {
		int rc = buf_reserve(out, FS_READ_STEP);
		ssize_t n;

		if (rc)
			return rc;
		n = read(fd, out->data + out->len, FS_READ_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		total += (size_t)n;
		if (total > max)
			return -EFBIG;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
}

int fs_read(const char *path, size_t max, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = fs_read_fd(fd, max, out);
	close(fd);
	return rc;
}

int fs_read_line(const char *path, char *text, size_t size)
{
	struct buf b = { 0 };
	char *line;
	int rc = fs_read(path, 65536, &b);

	if (rc)
		goto out;
	if (buf_append(&b, "", 0)) {
		rc = -ENOMEM;
		goto out;
	}
	b.data[strcspn(b.data, "\n")] = '\0';
	line = str_trim(b.data);
	if (!str_copy(text, size, line))
		rc = -EMSGSIZE;
out:
	buf_free(&b);
	return rc;
}

int fs_read_u64(const char *path, uint64_t *out)
{
	char text[32];
	int rc = fs_read_line(path, text, sizeof(text));

	return rc ? rc : parse_u64(text, out);
}

static int fs_write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int fs_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int rc = 0;
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n < 0)
		rc = -errno;
	else if ((size_t)n != len)
		rc = -EIO;
	close(fd);
	return rc;
}

/* Make a rename or an unlink in path's folder durable. */
static int fs_sync_folder(const char *path)
{
	char dir[FS_PATH_BYTES];
	char *slash;
	int fd;
	int rc = 0;

	if (!str_copy(dir, sizeof(dir), path))
		return -ENAMETOOLONG;
	slash = strrchr(dir, '/');
	if (!slash)
		(void)str_copy(dir, sizeof(dir), ".");
	else
		slash[slash == dir] = '\0';
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0 && errno != EINVAL)
		rc = -errno;
	close(fd);
	return rc;
}

static int fs_write_new(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = fs_write_all(fd, data, len);
	if (!rc && fsync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && !rc)
		rc = -errno;
	if (rc)
		(void)unlink(path);
	return rc;
}

int fs_rename_sync(const char *from, const char *to)
{
	if (rename(from, to) < 0)
		return -errno;
	return fs_sync_folder(to);
}

int fs_write_atomic(const char *path, const void *data, size_t len)
{
	char tmp[FS_PATH_BYTES];
	int rc = fs_path(tmp, "%s.new", path);

	if (!rc)
		rc = fs_write_new(tmp, data, len);
	if (rc)
		return rc;
	rc = fs_rename_sync(tmp, path);
	if (rc)
		(void)unlink(tmp);
	return rc;
}

int fs_set_aside(const char *path, char aside[FS_PATH_BYTES])
{
	int rc = fs_path(aside, "%s" FS_ASIDE, path);

	for (unsigned i = 1; !rc && i < FS_ASIDE_MAX && fs_exists(aside); i++)
		rc = fs_path(aside, "%s" FS_ASIDE "-%u", path, i);
	if (!rc && fs_exists(aside))
		rc = -EEXIST;
	return rc ? rc : fs_rename_sync(path, aside);
}

int fs_unlink_sync(const char *path)
{
	if (unlink(path) < 0)
		return errno == ENOENT ? 0 : -errno;
	return fs_sync_folder(path);
}

int fs_mkdirs(const char *path)
{
	char part[FS_PATH_BYTES];

	if (!str_copy(part, sizeof(part), path))
		return -ENAMETOOLONG;
	for (char *p = part + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = c;
		if (c == '\0')
			return 0;
	}
}

static int fs_remove_one(const char *path, const struct stat *st, int type,
			 struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 ? -errno : 0;
}

int fs_remove_tree(const char *path)
{
	int rc =
		nftw(path, fs_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

	if (rc == -1)
		return errno == ENOENT ? 0 : -errno;
	return rc;
}

bool fs_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int fs_free_bytes(const char *path, uint64_t *bytes)
{
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return -errno;
	*bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

int fs_cloexec(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}
