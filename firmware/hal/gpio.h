/* hal/gpio.h - digital pins. Task context; never blocks, never allocates.
 * Pins come from the board's tables, so none of these can fail. */
#ifndef HAL_GPIO_H
#define HAL_GPIO_H

#include "firmware/hal/types.h"

/* Make all n pins outputs at low level. There is no edge on a pin that was
 * low or an input before. Other pins of their ports stay as they are. */
void hal_gpio_outputs_low(const struct hal_pin *pins, size_t n);

/* Drive one pin that hal_gpio_outputs_low() has made an output. */
void hal_gpio_set(struct hal_pin pin, bool high);

/* The level that is driven. */
bool hal_gpio_get(struct hal_pin pin);

#endif
