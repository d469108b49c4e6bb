/* host/agent/mounts.h - who uses a block device: mounts and swap. */
#ifndef HOST_AGENT_MOUNTS_H
#define HOST_AGENT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* One line of mountinfo, see proc(5). Octal escapes are resolved. */
struct mount {
	unsigned major, minor;
	char point[512];
	char fs_type[32];
	char source[512];
	char options[512]; /* of the superblock */
};

/* False: the line is not one of mountinfo, or a field does not fit. */
bool mounts_parse(const char *line, size_t len, struct mount *out);

/* Calls fn for each mount until it returns true. 1: stopped by fn, 0: all
 * seen, or -errno. */
int mounts_each(const char *root, bool (*fn)(void *arg, const struct mount *m),
		void *arg);

/* "sda1 is mounted on /", "sda2 is swap", or "" into by. part is a partition
 * of disk, or "" for the whole disk. */
int mounts_user_of(const char *root, const char *disk, const char *part,
		   char *by, size_t size);

/* The mount at a mount point; the topmost of several. False: none. */
bool mounts_at(const char *root, const char *point, struct mount *out);

#endif
