/* boards/symbol.h - included before each board.c where several of them are
 * linked together (meson.build): its `board` gets a symbol of its own. */
#ifndef BOARDS_SYMBOL_H
#define BOARDS_SYMBOL_H

#include "firmware/app/board.h"

extern const struct board board __asm__(BOARD_SYMBOL);

#endif
