#include "host/agent/fsys.h"

#include <string.h>

/* Cost and quiet of mkfs.
 * nodiscard, -K: trimming a whole disk takes long and changes its state.
 * ext4: with lazy tables mkfs writes little, but the kernel would then write
 * the tables in the background, in the middle of a measurement. noinit_itable
 * at mount time keeps that thread away: cheap and quiet both. */
static const char *const ext4_options[] = {
	"-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
	NULL,
};
static const char *const xfs_options[] = { "-q", "-f", "-K", NULL };
static const char *const btrfs_options[] = { "-q", "-f", "-K", NULL };

static const struct fsys fsys_table[] = {
	{ "ext4", "mkfs.ext4", ext4_options, "-L", 16, "noinit_itable" },
	{ "xfs", "mkfs.xfs", xfs_options, "-L", 12, NULL },
	{ "btrfs", "mkfs.btrfs", btrfs_options, "-L", 255, NULL },
};

#define FSYS_COUNT (sizeof(fsys_table) / sizeof(*fsys_table))

const struct fsys *fsys_find(const char *type)
{
	for (size_t i = 0; i < FSYS_COUNT; i++) {
		if (strcmp(fsys_table[i].type, type) == 0)
			return &fsys_table[i];
	}
	return NULL;
}

char *fsys_label(const struct fsys *fs, const char *array, unsigned index,
		 struct arena *arena)
{
	char *tail = arena_printf(arena, "-%u", index);
	int room = (int)fs->label_max - 4 - (int)strlen(tail);

	return arena_printf(arena, "bay-%.*s%s", room, array, tail);
}

char *fsys_names(struct arena *arena)
{
	char *text = arena_strdup(arena, fsys_table[0].type);

	for (size_t i = 1; i < FSYS_COUNT; i++)
		text = arena_printf(arena, "%s, %s", text, fsys_table[i].type);
	return text;
}
