/* hal/uart.h - the byte stream to the host. Task context; never blocks. */
#ifndef HAL_UART_H
#define HAL_UART_H

#include "firmware/hal/types.h"

void hal_uart_init(uint32_t baud);

/* Take received bytes.
 *   at_us  out: arrival of the last byte returned; untouched if there is none
 * Returns their number, at most cap. */
size_t hal_uart_read(uint8_t *buf, size_t cap, uint64_t *at_us);

/* Hand over as many bytes as fit now. Returns their number; 0 is normal. */
size_t hal_uart_write(const uint8_t *buf, size_t len);

/* Bytes lost since init because nobody read them in time. */
uint32_t hal_uart_overruns(void);

#endif
