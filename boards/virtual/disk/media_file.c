/* boards/virtual/disk/media_file.c - platters in a sparse file. */
#include "boards/virtual/disk/media_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct media_file {
	int fd;
};

static int set_size(int fd, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (st.st_size == 0)
		return ftruncate(fd, (off_t)size) == 0 ? 0 : -errno;
	return (uint64_t)st.st_size == size ? 0 : -EFBIG;
}

static int take_file(int fd, uint64_t size)
{
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return set_size(fd, size);
}

struct media_file *media_file_open(const char *path, uint64_t size_bytes)
{
	struct media_file *m = calloc(1, sizeof(*m));
	int err;

	if (m == NULL)
		return NULL;
	m->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (m->fd < 0) {
		err = errno;
		goto err_free;
	}
	err = -take_file(m->fd, size_bytes);
	if (err == 0)
		return m;
	close(m->fd);
err_free:
	free(m);
	errno = err;
	return NULL;
}

void media_file_close(struct media_file *m)
{
	if (m == NULL)
		return;
	close(m->fd);
	free(m);
}

static int file_read(void *ctx, void *buf, uint64_t offset, size_t n)
{
	struct media_file *m = ctx;
	char *to = buf;

	while (n > 0) {
		ssize_t got = pread(m->fd, to, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO; /* somebody cut the file short */
		to += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int file_write(void *ctx, const void *buf, uint64_t offset, size_t n)
{
	struct media_file *m = ctx;
	const char *from = buf;

	while (n > 0) {
		ssize_t put = pwrite(m->fd, from, n, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		from += put;
		offset += (uint64_t)put;
		n -= (size_t)put;
	}
	return 0;
}

/* For file systems that punch no holes. */
static int write_zeros(struct media_file *m, uint64_t offset, uint64_t n)
{
	static const char zeros[65536];

	while (n > 0) {
		size_t step = n < sizeof(zeros) ? (size_t)n : sizeof(zeros);
		int err = file_write(m, zeros, offset, step);

		if (err != 0)
			return err;
		offset += step;
		n -= step;
	}
	return 0;
}

static int file_zero(void *ctx, uint64_t offset, uint64_t n)
{
	struct media_file *m = ctx;

	if (fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)offset, (off_t)n) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return -errno;
	return write_zeros(m, offset, n);
}

const struct vdisk_media_ops media_file_ops = {
	.read = file_read,
	.write = file_write,
	.zero = file_zero,
};
