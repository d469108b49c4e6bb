/* boards/virtual/disk/media.h - platters in memory; holes cost no memory. */
#ifndef BOARDS_VIRTUAL_DISK_MEDIA_H
#define BOARDS_VIRTUAL_DISK_MEDIA_H

#include "boards/virtual/disk/vdisk.h"

struct media;

/* NULL and errno ENOMEM. Freed with media_free(), which accepts NULL. */
struct media *media_new(uint64_t size_bytes);
void media_free(struct media *m);

/* ctx is the struct media. Reads and writes do not fail. */
extern const struct vdisk_media_ops media_ops;

#endif
