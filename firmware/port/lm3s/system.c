/* Clock tree, time base, sleep, reset. */
#include <string.h>

#include "firmware/core/timesync.h"
#include "firmware/hal/clock.h"
#include "firmware/hal/idle.h"
#include "firmware/hal/reset.h"
#include "firmware/port/lm3s/cpu.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

/* The tick bounds how late hal_idle() wakes. */
#define TICK_US       1000u
#define TICK_COUNTS   (LM3S_HZ / 1000000u * TICK_US)
#define COUNTS_PER_US (LM3S_HZ / 1000000u)

#define LAST_WORDS_MAGIC 0x1a57c0deu
#define RETAINED_BYTES   5016u /* the event ring, to the byte */

__attribute__((section(".noinit"))) struct lm3s_last_words lm3s_last_words;
__attribute__((section(".noinit"),
	       aligned(8))) static uint8_t retained[RETAINED_BYTES];

/* Mailbox of the tick's interrupt. */
static volatile uint32_t ticks;
static struct timesync tick_time;

void lm3s_systick_isr(void)
{
	ticks++;
}

static void clock_up(void)
{
	uint32_t rcc = SYSCTL_RCC;

	/* Run from the raw oscillator while the PLL locks (5.2.4). */
	rcc |= RCC_BYPASS;
	rcc &= ~RCC_USESYSDIV;
	SYSCTL_RCC = rcc;
	rcc &= ~(RCC_XTAL_MASK | RCC_OSCSRC_MASK | RCC_MOSCDIS | RCC_PWRDN |
		 RCC_SYSDIV_MASK);
	rcc |= RCC_XTAL_8MHZ | RCC_SYSDIV_4 | RCC_USESYSDIV;
	SYSCTL_RCC = rcc;
	/* 0.5 ms at most; a crystal that is dead leaves us on the bypass. */
	for (unsigned i = 0; i < 100000 && !(SYSCTL_RIS & RIS_PLLLRIS); i++)
		;
	SYSCTL_RCC = rcc & ~RCC_BYPASS;
}

void lm3s_system_init(void)
{
	clock_up();
	SYSCTL_RCGC0 |= RCGC0_WDT;
	SYSCTL_RCGC1 |= RCGC1_UART0 | RCGC1_I2C0;
	SYST_RVR = TICK_COUNTS - 1;
	SYST_CVR = 0;
	SYST_CSR = SYST_CSR_RUN;
}

/* A tick that is pending but not served yet (interrupts off, or this is an
 * interrupt) shows in ICSR; the counter is then read again, for it may have
 * wrapped between the two. */
static uint64_t counts_now(void)
{
	uint32_t tick = ticks;
	uint32_t count = SYST_CVR;

	if (SCB_ICSR & SCB_ICSR_PENDSTSET) {
		tick++;
		count = SYST_CVR;
	}
	return timesync_extend(&tick_time, tick) * TICK_COUNTS +
	       (TICK_COUNTS - 1 - count);
}

uint64_t hal_clock_us(void)
{
	uint32_t primask;
	uint64_t counts;

	__asm__ volatile("mrs %0, primask" : "=r"(primask));
	cpu_irq_off();
	counts = counts_now();
	if (!primask)
		cpu_irq_on();
	return counts / COUNTS_PER_US;
}

/* Every tick wakes; only time or a byte ends it. */
void hal_idle(uint64_t until_us)
{
	while (hal_clock_us() < until_us && !lm3s_uart_has_bytes())
		cpu_wait();
}

/* ---- reset ---- */

void lm3s_say_last_words(reset_cause cause)
{
	lm3s_last_words.magic = LAST_WORDS_MAGIC;
	lm3s_last_words.cause = (uint32_t)cause;
}

/* RESC tells the kind; what we said before we died refines it. An emulator
 * that leaves RESC at 0 is covered by the same words. */
static reset_cause find_cause(uint32_t resc)
{
	bool spoke = lm3s_last_words.magic == LAST_WORDS_MAGIC;

	if (resc & (RESC_POR | RESC_BOR))
		return resc & RESC_POR ? RESET_POWER : RESET_BROWNOUT;
	if (spoke && lm3s_last_words.cause != RESET_UNKNOWN)
		return (reset_cause)lm3s_last_words.cause;
	if (resc & RESC_WDT)
		return RESET_WATCHDOG;
	if (resc & RESC_SW)
		return RESET_SOFTWARE;
	return spoke || resc & RESC_EXT ? RESET_EXTERNAL : RESET_POWER;
}

reset_cause hal_reset_cause(void)
{
	static reset_cause cause;

	if (cause == RESET_UNKNOWN) {
		cause = find_cause(SYSCTL_RESC);
		SYSCTL_RESC = 0;
		/* Alive: a reset that finds this comes from outside. */
		lm3s_say_last_words(RESET_UNKNOWN);
	}
	return cause;
}

_Noreturn void hal_reset(reset_cause why)
{
	cpu_irq_off();
	lm3s_gates_off();
	lm3s_say_last_words(why);
	__asm__ volatile("dsb" ::: "memory");
	SCB_AIRCR = SCB_AIRCR_RESET;
	for (;;)
		;
}

void *hal_retained(size_t size)
{
	return size <= sizeof(retained) ? retained : NULL;
}

/* The MAC address that the part is sold with: unique, in the user registers;
 * all ones if it was never written. */
size_t hal_unique_id(uint8_t id[16])
{
	uint32_t word[2] = { SYSCTL_USER_REG0, SYSCTL_USER_REG1 };

	memset(id, 0, 16);
	for (unsigned i = 0; i < 6; i++)
		id[i] = (uint8_t)(word[i / 3] >> (8 * (i % 3)));
	return 6;
}
