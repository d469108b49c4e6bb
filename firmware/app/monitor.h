/* app/monitor.h - reads the rails, the inputs and the thermometer in turn, as
 * often as the state of each slot asks for. Task context; a turn blocks for
 * the bus transfers that are due, 0.1 ms each. */
#ifndef APP_MONITOR_H
#define APP_MONITOR_H

#include "firmware/app/app.h"

void monitor_init(struct app *app, uint64_t now_us);
void monitor_run(struct app *app);

/* When the next reading is due. */
uint64_t monitor_next_us(const struct app *app);

#endif
