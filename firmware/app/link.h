/* app/link.h - the session with the host: commands in, results and events
 * out. Task context. */
#ifndef APP_LINK_H
#define APP_LINK_H

#include "firmware/app/app.h"

void link_init(struct app *app);

/* Take what came, send what is due and fits. */
void link_run(struct app *app, uint64_t now_us);

/* When link_run() has something to do by time. */
uint64_t link_next_us(const struct app *app, uint64_t now_us);

/* Send all events with a larger number once more. */
void link_events_since(struct app *app, uint32_t number);

#endif
