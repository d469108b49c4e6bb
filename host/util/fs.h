/* host/util/fs.h - small files, atomically. Paths are used as given; `root`
 * is a prefix put before an absolute path ("" for the real machine, a fixture
 * folder in tests). All return 0 or -errno unless said. */
#ifndef HOST_UTIL_FS_H
#define HOST_UTIL_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/buf.h"

#define FS_PATH_BYTES 1024

/* printf into path. -ENAMETOOLONG when it does not fit (path is then ""). */
__attribute__((format(printf, 2, 3))) int fs_path(char path[FS_PATH_BYTES],
						  const char *fmt, ...);

/* Append the whole file to out. -EFBIG beyond max bytes. Works for /proc and
 * /sys, whose files have no size. */
int fs_read(const char *path, size_t max, struct buf *out);
/* First line of a small file, blanks at both ends removed. -EMSGSIZE when it
 * does not fit. */
int fs_read_line(const char *path, char *text, size_t size);
int fs_read_u64(const char *path, uint64_t *out);

/* One write() of text to an existing file (/proc, /sys). */
int fs_write_text(const char *path, const char *text);
/* New content or the old one, never a mixture, also after a power cut:
 * temporary file beside it, fsync, rename, fsync of the folder. */
int fs_write_atomic(const char *path, const void *data, size_t len);
/* rename, and fsync of the folder of the new name. */
int fs_rename_sync(const char *from, const char *to);
/* What is behind the name of a file that was set aside. */
#define FS_ASIDE ".bad"
/* Rename a file that cannot be read to PATH.bad, or to PATH.bad-1 and so on
 * where that is taken; aside is its new name. Nothing is overwritten. */
int fs_set_aside(const char *path, char aside[FS_PATH_BYTES]);
/* unlink and fsync of the folder; -ENOENT is success. */
int fs_unlink_sync(const char *path);

/* mkdir -p, mode 0700 for what is created. */
int fs_mkdirs(const char *path);
/* rm -r on one file system; a missing path is success. */
int fs_remove_tree(const char *path);
bool fs_exists(const char *path);
/* Bytes an unprivileged writer can still store where path lies. */
int fs_free_bytes(const char *path, uint64_t *bytes);
int fs_cloexec(int fd);

#endif
