/* The watchdog counts down twice: the first zero interrupts, the second
 * resets. */
#include "firmware/hal/watchdog.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

void hal_watchdog_start(uint32_t timeout_ms)
{
	WDT_LOCK = WDT_LOCK_UNLOCK;
	WDT_LOAD = LM3S_HZ / 1000u * (timeout_ms / 2u);
	WDT_TEST = WDT_TEST_STALL; /* while a debugger holds the core */
	WDT_CTL = WDT_CTL_RESEN;
	WDT_CTL = WDT_CTL_RESEN | WDT_CTL_INTEN; /* cannot be undone */
	WDT_LOCK = WDT_LOCK_LOCK;
	NVIC_ISER0 = 1u << IRQ_WATCHDOG;
}

void hal_watchdog_feed(void)
{
	WDT_LOCK = WDT_LOCK_UNLOCK;
	WDT_ICR = 1; /* clears the interrupt and loads the counter again */
	WDT_LOCK = WDT_LOCK_LOCK;
}

/* Half the time is over and nobody has fed it: the loop hangs. Make safe
 * what still can be, say why, and let the reset come. Not acknowledged: it
 * would come back for ever, so the handler does not return. */
void lm3s_watchdog_isr(void)
{
	lm3s_gates_off();
	lm3s_say_last_words(RESET_WATCHDOG);
	for (;;)
		;
}
