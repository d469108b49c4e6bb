/* port/lm3s/cpu.h - Cortex-M3 instructions that C does not have. */
#ifndef PORT_LM3S_CPU_H
#define PORT_LM3S_CPU_H

static inline void cpu_irq_off(void)
{
	__asm__ volatile("cpsid i" ::: "memory");
}

static inline void cpu_irq_on(void)
{
	__asm__ volatile("cpsie i" ::: "memory");
}

/* Sleep until an interrupt is pending, also while they are off. */
static inline void cpu_wait(void)
{
	__asm__ volatile("dsb\n\twfi" ::: "memory");
}

#endif
