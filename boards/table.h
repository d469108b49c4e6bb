/* boards/table.h - all boards side by side, for native programs: the check of
 * their tables and the virtual bench. The list is made by the build, from the
 * folders that hold a board.c. */
#ifndef BOARDS_TABLE_H
#define BOARDS_TABLE_H

#include "firmware/app/board.h"
#include "firmware/port/family.h"

struct board_row {
	const char *folder;
	const struct board *board;
	const struct port_family *family; /* as board.ini's port says */
};

extern const struct board_row board_table[]; /* ends with folder NULL */

/* NULL: there is no such folder. */
const struct board_row *board_find(const char *folder);

#endif
