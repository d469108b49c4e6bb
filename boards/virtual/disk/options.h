/* boards/virtual/disk/options.h - the plugin's KEY=VALUE parameters. */
#ifndef BOARDS_VIRTUAL_DISK_OPTIONS_H
#define BOARDS_VIRTUAL_DISK_OPTIONS_H

#include "boards/virtual/disk/vdisk.h"

struct options {
	struct vdisk_cfg disk;
	bool fua;          /* offer FUA as the disk's own */
	bool trim;         /* offer trim */
	uint32_t ms_per_s; /* as shell_cfg */
	char *image;       /* file of the platters; NULL: memory */
	char *ctl;         /* path of the control socket; NULL: none */
};

void options_init(struct options *o);
void options_free(struct options *o);

/* Set one. -ENOENT: no such key; -EINVAL: a value it does not take; -ENOMEM.
 * `why` gets one sentence. */
int options_set(struct options *o, const char *key, const char *value,
		char why[256]);

/* Check what only the whole can tell and fill in what follows from others. As
 * options_set(). */
int options_complete(struct options *o, char why[256]);

/* The list of keys for --help. */
extern const char options_help[];

#endif
