/* port/lm3s/regs.h - registers of the LM3S6965 (data sheet DS-LM3S6965-18,
 * chapters as noted) and of the Cortex-M3 (ARM DDI 0403). Only what the port
 * uses. */
#ifndef PORT_LM3S_REGS_H
#define PORT_LM3S_REGS_H

#include <stdint.h>

/* In tests the registers are a recording: tests/fake_regs.h. */
#ifndef LM3S_REG
#define LM3S_REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#endif

/* System control, chapter 5 */
#define SYSCTL_RIS       LM3S_REG(0x400fe050)
#define SYSCTL_RESC      LM3S_REG(0x400fe05c)
#define SYSCTL_RCC       LM3S_REG(0x400fe060)
#define SYSCTL_RCGC0     LM3S_REG(0x400fe100)
#define SYSCTL_RCGC1     LM3S_REG(0x400fe104)
#define SYSCTL_RCGC2     LM3S_REG(0x400fe108)
#define SYSCTL_USER_REG0 LM3S_REG(0x400fe1e0)
#define SYSCTL_USER_REG1 LM3S_REG(0x400fe1e4)
#define SYSCTL_DID0      LM3S_REG(0x400fe000)
#define SYSCTL_DID1      LM3S_REG(0x400fe004)

#define RIS_PLLLRIS (1u << 6)

#define RESC_EXT (1u << 0)
#define RESC_POR (1u << 1)
#define RESC_BOR (1u << 2)
#define RESC_WDT (1u << 3)
#define RESC_SW  (1u << 4)

#define RCC_MOSCDIS     (1u << 0)
#define RCC_XTAL_MASK   (0xfu << 6)
#define RCC_XTAL_8MHZ   (0xeu << 6)
#define RCC_OSCSRC_MASK (3u << 4)
#define RCC_BYPASS      (1u << 11)
#define RCC_PWRDN       (1u << 13)
#define RCC_USESYSDIV   (1u << 22)
#define RCC_SYSDIV_MASK (0xfu << 23)
#define RCC_SYSDIV_4    (3u << 23) /* 200 MHz / 4 */

#define RCGC0_WDT   (1u << 3)
#define RCGC1_UART0 (1u << 0)
#define RCGC1_I2C0  (1u << 12)
#define RCGC2_GPIO  0x7fu /* A..G */

/* GPIO, chapter 8: a PL061 with pad control. base = lm3s_gpio_base(port) */
#define GPIO_DATA(base, mask) LM3S_REG((base) + ((mask) << 2))
#define GPIO_DIR(base)        LM3S_REG((base) + 0x400)
#define GPIO_IS(base)         LM3S_REG((base) + 0x404)
#define GPIO_IBE(base)        LM3S_REG((base) + 0x408)
#define GPIO_IEV(base)        LM3S_REG((base) + 0x40c)
#define GPIO_IM(base)         LM3S_REG((base) + 0x410)
#define GPIO_MIS(base)        LM3S_REG((base) + 0x418)
#define GPIO_ICR(base)        LM3S_REG((base) + 0x41c)
#define GPIO_AFSEL(base)      LM3S_REG((base) + 0x420)
#define GPIO_ODR(base)        LM3S_REG((base) + 0x50c)
#define GPIO_PUR(base)        LM3S_REG((base) + 0x510)
#define GPIO_DEN(base)        LM3S_REG((base) + 0x51c)

#define LM3S_PORTS 7u

/* Ports A..D and E..G lie in two blocks. */
static inline uint32_t lm3s_gpio_base(unsigned port)
{
	return port < 4 ? 0x40004000u + port * 0x1000u
			: 0x40024000u + (port - 4) * 0x1000u;
}

/* UART0, chapter 12: a PL011 */
#define UART_DR   LM3S_REG(0x4000c000)
#define UART_FR   LM3S_REG(0x4000c018)
#define UART_IBRD LM3S_REG(0x4000c024)
#define UART_FBRD LM3S_REG(0x4000c028)
#define UART_LCRH LM3S_REG(0x4000c02c)
#define UART_CTL  LM3S_REG(0x4000c030)
#define UART_IFLS LM3S_REG(0x4000c034)
#define UART_IM   LM3S_REG(0x4000c038)
#define UART_MIS  LM3S_REG(0x4000c040)
#define UART_ICR  LM3S_REG(0x4000c044)

#define UART_FR_RXFE       (1u << 4)
#define UART_FR_TXFF       (1u << 5)
#define UART_LCRH_8N1_FIFO (3u << 5 | 1u << 4)
#define UART_CTL_ENABLE    (1u << 0 | 1u << 8 | 1u << 9)
#define UART_INT_RX        (1u << 4)
#define UART_INT_RT        (1u << 6)
#define UART_DR_OVERRUN    (1u << 11)

/* I2C0 master, chapter 14 */
#define I2C_MSA  LM3S_REG(0x40020000)
#define I2C_MCS  LM3S_REG(0x40020004)
#define I2C_MDR  LM3S_REG(0x40020008)
#define I2C_MTPR LM3S_REG(0x4002000c)
#define I2C_MCR  LM3S_REG(0x40020020)

/* MCS, written */
#define I2C_RUN   (1u << 0)
#define I2C_START (1u << 1)
#define I2C_STOP  (1u << 2)
#define I2C_ACK   (1u << 3)
/* MCS, read */
#define I2C_BUSY   (1u << 0)
#define I2C_ERROR  (1u << 1)
#define I2C_ADRACK (1u << 2)
#define I2C_DATACK (1u << 3)
#define I2C_ARBLST (1u << 4)

#define I2C_MCR_MFE (1u << 4)

/* Watchdog, chapter 11: a PL805 */
#define WDT_LOAD LM3S_REG(0x40000000)
#define WDT_CTL  LM3S_REG(0x40000008)
#define WDT_ICR  LM3S_REG(0x4000000c)
#define WDT_TEST LM3S_REG(0x40000418)
#define WDT_LOCK LM3S_REG(0x40000c00)

#define WDT_CTL_INTEN   (1u << 0)
#define WDT_CTL_RESEN   (1u << 1)
#define WDT_TEST_STALL  (1u << 8)
#define WDT_LOCK_UNLOCK 0x1acce551u
#define WDT_LOCK_LOCK   1u

/* Cortex-M3 */
#define SYST_CSR   LM3S_REG(0xe000e010)
#define SYST_RVR   LM3S_REG(0xe000e014)
#define SYST_CVR   LM3S_REG(0xe000e018)
#define NVIC_ISER0 LM3S_REG(0xe000e100)
#define NVIC_ICER0 LM3S_REG(0xe000e180)
#define NVIC_ISPR0 LM3S_REG(0xe000e200)
#define NVIC_ICPR0 LM3S_REG(0xe000e280)
#define SCB_ICSR   LM3S_REG(0xe000ed04)
#define SCB_AIRCR  LM3S_REG(0xe000ed0c)

#define SYST_CSR_RUN       7u /* enable, interrupt, core clock */
#define SCB_ICSR_PENDSTSET (1u << 26)
#define SCB_AIRCR_RESET    (0x05fau << 16 | 1u << 2)

/* Interrupt numbers */
enum lm3s_irq {
	IRQ_GPIO_A = 0,
	IRQ_GPIO_E = 4,
	IRQ_UART0 = 5,
	IRQ_WATCHDOG = 18,
	IRQ_GPIO_F = 30,
	IRQ_GPIO_G = 31,
	IRQ_COUNT = 44,
};

#define LM3S_HZ 50000000u

#endif
