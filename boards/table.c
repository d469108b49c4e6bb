#include "boards/table.h"

#include <string.h>

/* BOARDS and FAMILIES, made by meson.build. */
#include "boards/board_list.h"

#define DECLARE_FAMILY(port) extern const struct port_family port_##port;
#define DECLARE_BOARD(symbol, folder, port)                                    \
	extern const struct board board_##symbol;
#define ROW(symbol, folder, port) { folder, &board_##symbol, &port_##port },

FAMILIES(DECLARE_FAMILY)
BOARDS(DECLARE_BOARD)

const struct board_row board_table[] = { BOARDS(ROW){ 0 } };

const struct board_row *board_find(const char *folder)
{
	for (const struct board_row *r = board_table; r->folder; r++) {
		if (!strcmp(r->folder, folder))
			return r;
	}
	return NULL;
}
