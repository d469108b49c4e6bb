/* The watchdog counts down twice: the first zero interrupts, the second
 * resets. A loop that comes back in between is still fed in time. */
#include "firmware/hal/watchdog.h"

#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

#define IRQ_BIT (1u << IRQ_WATCHDOG)

void hal_watchdog_start(uint32_t timeout_ms)
{
	WDT_LOCK = WDT_LOCK_UNLOCK;
	WDT_LOAD = LM3S_HZ / 1000u * (timeout_ms / 2u);
	WDT_TEST = WDT_TEST_STALL; /* while a debugger holds the core */
	WDT_CTL = WDT_CTL_RESEN;
	WDT_CTL = WDT_CTL_RESEN | WDT_CTL_INTEN; /* cannot be undone */
	WDT_LOCK = WDT_LOCK_LOCK;
	NVIC_ISER0 = IRQ_BIT;
}

void hal_watchdog_feed(void)
{
	WDT_LOCK = WDT_LOCK_UNLOCK;
	WDT_ICR = 1; /* clears the interrupt and loads the counter again */
	WDT_LOCK = WDT_LOCK_LOCK;
	/* In case half the time was over already. */
	lm3s_say_last_words(RESET_UNKNOWN);
	NVIC_ICPR0 = IRQ_BIT;
	NVIC_ISER0 = IRQ_BIT;
}

/* Half the time is over. Say why the reset comes, if it comes; the interrupt
 * stays asserted until the watchdog is fed, so it must be masked. */
void lm3s_watchdog_isr(void)
{
	lm3s_say_last_words(RESET_WATCHDOG);
	NVIC_ICER0 = IRQ_BIT;
}
