/* app/telemetry.h - windows of V, I and energy, one message a slot a period on
 * channel 3. Task context. */
#ifndef APP_TELEMETRY_H
#define APP_TELEMETRY_H

#include "firmware/app/app.h"

/* A sample of a slot. */
void telemetry_feed(struct app *app, unsigned slot,
		    const struct rail_sample *s);

/* period_ms 0: off. Windows start now. */
void telemetry_set(struct app *app, uint32_t period_ms, uint32_t mask,
		   uint64_t now_us);

/* Send the windows that are over, or count them as dropped. */
void telemetry_run(struct app *app, uint64_t now_us);

/* When the next window ends; UINT64_MAX: never. */
uint64_t telemetry_next_us(const struct app *app);

#endif
