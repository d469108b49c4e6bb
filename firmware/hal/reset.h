/* hal/reset.h - why we start, and starting again. */
#ifndef HAL_RESET_H
#define HAL_RESET_H

#include "firmware/hal/types.h"

/* Why the MCU came out of reset; the same on every call. */
reset_cause hal_reset_cause(void);

/* Reset the MCU now; the next hal_reset_cause() is why, which is
 * RESET_SOFTWARE or RESET_ASSERT. Any context. */
_Noreturn void hal_reset(reset_cause why);

/* Memory that keeps its content over every reset but loss of power, after
 * which it holds anything: the owner proves it by checksum.
 * Returns the same 8-byte aligned block every time, NULL if size is more than
 * the port has. */
void *hal_retained(size_t size);

/* Bytes that tell this MCU from others of its kind; constant.
 *   id  out: 16 bytes. Returns how many of them count, 0 if there are none. */
size_t hal_unique_id(uint8_t id[16]);

#endif
