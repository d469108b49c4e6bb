/* host/array/fs_option.h - options of mkfs and mount that bay passes on. */
#ifndef HOST_ARRAY_FS_OPTION_H
#define HOST_ARRAY_FS_OPTION_H

#include "host/util/err.h"

/* mkfs and mount write to what an option names, too: a device before ours, a
 * log or a journal elsewhere. The allow-list would not be asked.
 * 0; -EPERM and a sentence. */
int fs_option_check(const char *option, struct err *err);

#endif
