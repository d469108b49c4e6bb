/* boards/virtual/disk/media_file.h - platters in a sparse file, so that they
 * outlive the process. Reads and writes go through the page cache and are never
 * synced: the power cut that is modelled is the disk's, not this machine's. */
#ifndef BOARDS_VIRTUAL_DISK_MEDIA_FILE_H
#define BOARDS_VIRTUAL_DISK_MEDIA_FILE_H

#include "boards/virtual/disk/vdisk.h"

struct media_file;

/* Open or create; an existing file must have just this size. NULL and errno:
 * EFBIG if it has another, EBUSY if another process has it open here, else of
 * the call that failed. */
struct media_file *media_file_open(const char *path, uint64_t size_bytes);

/* NULL is accepted. */
void media_file_close(struct media_file *m);

/* ctx is the struct media_file; -errno of the file. */
extern const struct vdisk_media_ops media_file_ops;

#endif
