/* app/commands.h - what the host may ask. One row a command in a table; a new
 * command is a message in rig.proto, a handler and a row. Task context. */
#ifndef APP_COMMANDS_H
#define APP_COMMANDS_H

#include "firmware/app/app.h"

/* Decode a Command, do it unless it was done before, send its Result. There
 * is room in the window. */
void commands_execute(struct app *app, const uint8_t *payload, size_t len);

/* Fill in what the rig tells about itself; texts are terminated. */
void commands_fill_info(const struct app *app, Info *info);

#endif
