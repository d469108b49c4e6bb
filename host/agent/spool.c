#include "host/agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/link/crc32c.h"

#include "host/util/parse.h"

#define SPOOL_HEADER_BYTES 12u
#define SPOOL_SUFFIX       ".cell"
#define SPOOL_PART         ".part"

/* Bytes and not text: no terminating 0 is stored. */
static const uint8_t spool_magic[4] = { 'B', 'A', 'Y', 'S' };

static void spool_put_u32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t spool_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static int spool_path(const struct spool *s, const char *id, const char *suffix,
		      char path[FS_PATH_BYTES])
{
	if (!*id || strchr(id, '/') || id[0] == '.' ||
	    strlen(id) >= SPOOL_ID_BYTES)
		return -ENOENT;
	return fs_path(path, "%s/%s%s", s->dir, id, suffix);
}

static bool spool_has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name);
	size_t k = strlen(suffix);

	return n > k && strcmp(name + n - k, suffix) == 0;
}

/* A reservation of an agent that died. */
static void spool_drop_parts(struct spool *s)
{
	char path[FS_PATH_BYTES];
	DIR *dir = opendir(s->dir);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (spool_has_suffix(e->d_name, SPOOL_PART) &&
		    fs_path(path, "%s/%s", s->dir, e->d_name) == 0)
			(void)s->ops->unlink(s->ops->arg, path);
	}
	if (dir)
		closedir(dir);
}

int spool_open(struct spool *s, const struct spool_ops *ops, const char *dir,
	       uint64_t incarnation, struct err *err)
{
	*s = (struct spool){ .ops = ops, .fd = -1 };
	if (!str_copy(s->dir, sizeof(s->dir), dir))
		return err_set(err, -ENAMETOOLONG, "%s: path too long", dir);
	(void)snprintf(s->prefix, sizeof(s->prefix), "%016" PRIx64,
		       incarnation);
	spool_drop_parts(s);
	return 0;
}

void spool_close(struct spool *s)
{
	spool_release(s);
}

static int spool_no_space(const struct spool *s, int rc, struct err *err)
{
	return err_set(err, rc,
		       "there is no room for a result in %s, so the workload "
		       "was not started; free %u bytes there or fetch and "
		       "acknowledge the results it holds",
		       s->dir, SPOOL_RESULT_MAX + SPOOL_HEADER_BYTES);
}

int spool_reserve(struct spool *s, struct err *err)
{
	char path[FS_PATH_BYTES];
	int rc;

	spool_release(s);
	if (spool_count(s) >= SPOOL_COUNT_MAX)
		return spool_no_space(s, -ENOSPC, err);
	(void)snprintf(s->id, sizeof(s->id), "%s-%08x", s->prefix, s->next++);
	rc = spool_path(s, s->id, SPOOL_PART, path);
	if (!rc)
		rc = s->ops->create(s->ops->arg, path);
	if (rc >= 0) {
		s->fd = rc;
		rc = s->ops->reserve(s->ops->arg, s->fd,
				     SPOOL_RESULT_MAX + SPOOL_HEADER_BYTES);
	}
	if (!rc)
		return 0;
	spool_release(s);
	if (rc == -ENOSPC || rc == -EDQUOT)
		return spool_no_space(s, -ENOSPC, err);
	return err_sys(err, rc, "cannot make room for a result in %s", s->dir);
}

void spool_release(struct spool *s)
{
	char path[FS_PATH_BYTES];

	if (s->fd >= 0)
		(void)s->ops->close(s->ops->arg, s->fd);
	s->fd = -1;
	if (s->id[0] && spool_path(s, s->id, SPOOL_PART, path) == 0)
		(void)s->ops->unlink(s->ops->arg, path);
	s->id[0] = '\0';
}

static int spool_write(struct spool *s, const void *data, size_t len)
{
	uint8_t header[SPOOL_HEADER_BYTES];
	int rc;

	memcpy(header, spool_magic, sizeof(spool_magic));
	spool_put_u32(header + 4, (uint32_t)len);
	spool_put_u32(header + 8, crc32c(data, len));
	rc = s->ops->write(s->ops->arg, s->fd, header, sizeof(header));
	if (!rc)
		rc = s->ops->write(s->ops->arg, s->fd, data, len);
	if (!rc)
		rc = s->ops->sync(s->ops->arg, s->fd, sizeof(header) + len);
	return rc;
}

int spool_commit(struct spool *s, const void *data, size_t len, struct err *err)
{
	char part[FS_PATH_BYTES];
	char path[FS_PATH_BYTES];
	int rc;

	if (s->fd < 0 || len > SPOOL_RESULT_MAX)
		return err_set(err, -EMSGSIZE,
			       "the result is larger than %u bytes",
			       SPOOL_RESULT_MAX);
	if (lseek(s->fd, 0, SEEK_SET) < 0 && errno != EBADF)
		return err_sys(err, -errno, "cannot write a result");
	rc = spool_write(s, data, len);
	if (!rc)
		rc = spool_path(s, s->id, SPOOL_PART, part);
	if (!rc)
		rc = spool_path(s, s->id, SPOOL_SUFFIX, path);
	if (!rc)
		rc = s->ops->rename(s->ops->arg, part, path);
	if (rc)
		return err_sys(err, rc, "cannot store a result in %s", s->dir);
	(void)s->ops->close(s->ops->arg, s->fd);
	s->fd = -1;
	s->id[0] = '\0';
	return 0;
}

struct spool_found {
	char id[SPOOL_ID_BYTES];
	struct timespec mtime;
	uint64_t bytes;
};

/* By age, then by id: ids of one agent count up, those of two are random. */
static int spool_by_age(const void *x, const void *y)
{
	const struct spool_found *a = x;
	const struct spool_found *b = y;

	if (a->mtime.tv_sec != b->mtime.tv_sec)
		return a->mtime.tv_sec < b->mtime.tv_sec ? -1 : 1;
	if (a->mtime.tv_nsec != b->mtime.tv_nsec)
		return a->mtime.tv_nsec < b->mtime.tv_nsec ? -1 : 1;
	return strcmp(a->id, b->id);
}

static bool spool_stat(const struct spool *s, const char *name,
		       struct spool_found *f)
{
	char path[FS_PATH_BYTES];
	struct stat st;
	size_t n = strlen(name);

	if (!spool_has_suffix(name, SPOOL_SUFFIX) ||
	    n - strlen(SPOOL_SUFFIX) >= sizeof(f->id) ||
	    fs_path(path, "%s/%s", s->dir, name) || stat(path, &st) < 0)
		return false;
	memcpy(f->id, name, n - strlen(SPOOL_SUFFIX));
	f->id[n - strlen(SPOOL_SUFFIX)] = '\0';
	f->mtime = st.st_mtim;
	f->bytes = (uint64_t)st.st_size;
	return true;
}

unsigned spool_count(const struct spool *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *e;
	unsigned n = 0;

	while (dir && (e = readdir(dir)))
		n += spool_has_suffix(e->d_name, SPOOL_SUFFIX);
	if (dir)
		closedir(dir);
	return n;
}

int spool_list(const struct spool *s, struct arena *arena,
	       struct spool_item **out, size_t *count)
{
	struct spool_found *found =
		arena_array(arena, 2 * SPOOL_COUNT_MAX, sizeof(*found));
	DIR *dir = opendir(s->dir);
	struct dirent *e;

	*count = 0;
	if (!dir)
		return -errno;
	while (*count < 2 * SPOOL_COUNT_MAX && (e = readdir(dir)))
		*count += spool_stat(s, e->d_name, &found[*count]);
	closedir(dir);
	qsort(found, *count, sizeof(*found), spool_by_age);
	*out = arena_array(arena, *count + 1, sizeof(**out));
	for (size_t i = 0; i < *count; i++) {
		(void)str_copy((*out)[i].id, SPOOL_ID_BYTES, found[i].id);
		(*out)[i].bytes = found[i].bytes;
	}
	return 0;
}

int spool_get(const struct spool *s, const char *id, struct buf *out)
{
	char path[FS_PATH_BYTES];
	size_t start = out->len;
	const uint8_t *p;
	size_t len;
	int rc = spool_path(s, id, SPOOL_SUFFIX, path);

	if (!rc)
		rc = s->ops->read(s->ops->arg, path,
				  SPOOL_RESULT_MAX + SPOOL_HEADER_BYTES, out);
	if (rc)
		return rc;
	p = (const uint8_t *)out->data + start;
	len = out->len - start;
	if (len < SPOOL_HEADER_BYTES ||
	    memcmp(p, spool_magic, sizeof(spool_magic)) != 0 ||
	    spool_get_u32(p + 4) != len - SPOOL_HEADER_BYTES ||
	    spool_get_u32(p + 8) !=
		    crc32c(p + SPOOL_HEADER_BYTES, len - SPOOL_HEADER_BYTES)) {
		out->len = start;
		return -EBADMSG;
	}
	len -= SPOOL_HEADER_BYTES;
	memmove(out->data + start, p + SPOOL_HEADER_BYTES, len);
	out->len = start + len;
	out->data[out->len] = '\0';
	return 0;
}

int spool_set_aside(const struct spool *s, const char *id)
{
	char path[FS_PATH_BYTES];
	char aside[FS_PATH_BYTES];
	int rc = spool_path(s, id, SPOOL_SUFFIX, path);

	/* Ids are never used twice, so that name is free. */
	if (!rc)
		rc = spool_path(s, id, SPOOL_SUFFIX FS_ASIDE, aside);
	return rc ? rc : s->ops->rename(s->ops->arg, path, aside);
}

int spool_ack(struct spool *s, const char *id)
{
	char path[FS_PATH_BYTES];

	/* An id that cannot be one of ours names nothing: already gone. */
	if (spool_path(s, id, SPOOL_SUFFIX, path))
		return 0;
	return s->ops->unlink(s->ops->arg, path);
}

static int spool_files_create(void *arg, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	(void)arg;
	return fd < 0 ? -errno : fd;
}

static int spool_files_reserve(void *arg, int fd, uint64_t bytes)
{
	(void)arg;
	return -posix_fallocate(fd, 0, (off_t)bytes);
}

static int spool_files_write(void *arg, int fd, const void *data, size_t len)
{
	const char *p = data;

	(void)arg;
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int spool_files_sync(void *arg, int fd, uint64_t len)
{
	(void)arg;
	if (ftruncate(fd, (off_t)len) < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

static int spool_files_close(void *arg, int fd)
{
	(void)arg;
	return close(fd) < 0 ? -errno : 0;
}

static int spool_files_rename(void *arg, const char *from, const char *to)
{
	(void)arg;
	return fs_rename_sync(from, to);
}

static int spool_files_unlink(void *arg, const char *path)
{
	(void)arg;
	return fs_unlink_sync(path);
}

static int spool_files_read(void *arg, const char *path, size_t max,
			    struct buf *out)
{
	(void)arg;
	return fs_read(path, max, out);
}

const struct spool_ops spool_ops_files = {
	.create = spool_files_create,
	.reserve = spool_files_reserve,
	.write = spool_files_write,
	.sync = spool_files_sync,
	.close = spool_files_close,
	.rename = spool_files_rename,
	.unlink = spool_files_unlink,
	.read = spool_files_read,
};
