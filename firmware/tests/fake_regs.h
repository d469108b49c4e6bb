/* tests/fake_regs.h - included before each file of port/lm3s: its registers
 * become cells whose accesses are written down, and the instructions that
 * only the Cortex-M3 has do nothing. */
#ifndef TESTS_FAKE_REGS_H
#define TESTS_FAKE_REGS_H

#include <stddef.h>
#include <stdint.h>

/* The cell of a register; the access through it is noted. */
volatile uint32_t *fake_reg(uint32_t address);

#define LM3S_REG(address) (*fake_reg(address))

#define PORT_LM3S_CPU_H

static inline void cpu_irq_off(void)
{
}

static inline void cpu_irq_on(void)
{
}

#endif
