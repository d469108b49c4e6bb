/* Vectors and the way from reset to main(). */
#include <string.h>

#include "firmware/hal/reset.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

extern uint32_t ld_stack_top[];
extern uint32_t ld_data_start[];
extern uint32_t ld_data_end[];
extern const uint32_t ld_data_load[];
extern uint32_t ld_bss_start[];
extern uint32_t ld_bss_end[];

int main(void);
_Noreturn void reset_handler(void);
void fault_handler(void);

/* The gates before anything else: not even memory is needed for that. */
_Noreturn void reset_handler(void)
{
	lm3s_gates_off();
	memcpy(ld_data_start, ld_data_load,
	       (size_t)((char *)ld_data_end - (char *)ld_data_start));
	memset(ld_bss_start, 0,
	       (size_t)((char *)ld_bss_end - (char *)ld_bss_start));
	lm3s_system_init();
	main();
	hal_reset(RESET_ASSERT);
}

static _Noreturn __attribute__((used)) void fault_end(void)
{
	lm3s_gates_off();
	hal_reset(RESET_ASSERT);
}

/* Any fault and any interrupt that nobody enabled: a bug of ours. It may be a
 * stack that has no room left, and then not even a call would work: nothing of
 * it is needed any more. */
__attribute__((naked)) void fault_handler(void)
{
	__asm volatile("ldr r0, =ld_stack_top\n"
		       "mov sp, r0\n"
		       "b fault_end\n");
}

typedef void (*vector)(void);

struct vectors {
	uint32_t *stack;
	vector core[15];
	vector irq[IRQ_COUNT];
};

__attribute__((section(".vectors"), used)) const struct vectors vectors = {
	.stack = ld_stack_top,
	.core = {
		[0] = reset_handler,
		[1 ... 13] = fault_handler,
		[14] = lm3s_systick_isr,
	},
	.irq = {
		[0 ... 4] = lm3s_gpio_isr,
		[IRQ_UART0] = lm3s_uart_isr,
		[6 ... 17] = fault_handler,
		[IRQ_WATCHDOG] = lm3s_watchdog_isr,
		[19 ... 29] = fault_handler,
		[IRQ_GPIO_F] = lm3s_gpio_isr,
		[IRQ_GPIO_G] = lm3s_gpio_isr,
		[32 ... IRQ_COUNT - 1] = fault_handler,
	},
};
