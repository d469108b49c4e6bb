/* app/retain.h - the little that is kept beside the configuration: the boot
 * counter, and which slots were on, for those that are to come back after a
 * loss of supply. Task context. */
#ifndef APP_RETAIN_H
#define APP_RETAIN_H

#include "firmware/app/app.h"

/* Count this boot and set app->boot_id; note what is to be restored. Without
 * a working EEPROM the id is 1 and nothing comes back. */
void retain_init(struct app *app);

/* Save which slots are on when that has changed and no slot is moving; put
 * them on again once they have been proven off. */
void retain_run(struct app *app, uint64_t now_us);

#endif
