/* port/lm3s/port.h - what the files of this port share. */
#ifndef PORT_LM3S_PORT_H
#define PORT_LM3S_PORT_H

#include "firmware/hal/types.h"

/* 50 MHz from the 8 MHz crystal, peripheral clocks, the time base. */
void lm3s_system_init(void);

/* Interrupt handlers, by vector. */
void lm3s_systick_isr(void);
void lm3s_uart_isr(void);
void lm3s_gpio_isr(void);
void lm3s_watchdog_isr(void);

/* Received bytes wait. */
bool lm3s_uart_has_bytes(void);

/* Close all gates of the board. Any context, also before memory is set up. */
void lm3s_gates_off(void);

/* Survives a reset; the handler of a dying firmware writes it. */
struct lm3s_last_words {
	uint32_t magic;
	uint32_t cause; /* reset_cause */
};

extern struct lm3s_last_words lm3s_last_words;
void lm3s_say_last_words(reset_cause cause);

#endif
