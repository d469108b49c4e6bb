/* UART0: receive by interrupt into a ring, transmit into the FIFO. */
#include "firmware/hal/clock.h"
#include "firmware/hal/uart.h"
#include "firmware/port/lm3s/cpu.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

/* 22 ms at 115200 baud; the loop takes 3 ms. What comes while a configuration
 * is being stored may be lost and is sent again. */
#define RING_BYTES 256u
#define PORT_A     0u
#define PINS       3u /* PA0, PA1 */

struct ring {
	uint8_t bytes[RING_BYTES];
	uint32_t head; /* written, wraps */
	uint32_t tail; /* read, wraps */
	uint32_t overruns;
	uint32_t timeout_us; /* the FIFO's: 32 bits without a new byte */
	uint64_t at_us;
};

/* Mailbox of the receive interrupt. */
static volatile struct ring rx;

void hal_uart_init(uint32_t baud)
{
	uint32_t base = lm3s_gpio_base(PORT_A);
	/* In 1/64: clock / (16 baud), rounded. */
	uint32_t divisor = (LM3S_HZ * 4u + baud / 2u) / baud;

	GPIO_AFSEL(base) |= PINS;
	GPIO_DEN(base) |= PINS;
	rx.timeout_us = 32u * 1000000u / baud;
	UART_CTL = 0;
	UART_ICR = 0x7ff;
	UART_IBRD = divisor >> 6;
	UART_FBRD = divisor & 63u;
	/* Empties both FIFOs. QEMU's UART keeps them over a reset, and a full
	 * one never interrupts again. */
	UART_LCRH = 0;
	UART_LCRH = UART_LCRH_8N1_FIFO;
	UART_IFLS = 0; /* receive at 2 bytes, and by time-out */
	UART_IM = UART_INT_RX | UART_INT_RT;
	UART_CTL = UART_CTL_ENABLE;
	/* A byte that came since would be seen with the next one at best. */
	NVIC_ISPR0 = 1u << IRQ_UART0;
	NVIC_ISER0 = 1u << IRQ_UART0;
}

/* A byte with a framing error goes in too: the frame's CRC judges it. */
void lm3s_uart_isr(void)
{
	bool late = UART_MIS & UART_INT_RT;

	UART_ICR = UART_INT_RX | UART_INT_RT;
	while (!(UART_FR & UART_FR_RXFE)) {
		uint32_t dr = UART_DR;
		bool full = rx.head - rx.tail == RING_BYTES;

		if (full || dr & UART_DR_OVERRUN)
			rx.overruns++;
		if (full)
			continue;
		rx.bytes[rx.head % RING_BYTES] = (uint8_t)dr;
		rx.head++;
	}
	rx.at_us = hal_clock_us() - (late ? rx.timeout_us : 0);
}

bool lm3s_uart_has_bytes(void)
{
	return rx.head != rx.tail;
}

size_t hal_uart_read(uint8_t *buf, size_t cap, uint64_t *at_us)
{
	size_t n = 0;

	while (n < cap && rx.tail != rx.head) {
		buf[n++] = rx.bytes[rx.tail % RING_BYTES];
		rx.tail++;
	}
	if (n) {
		/* 64 bits are not read in one go. */
		cpu_irq_off();
		*at_us = rx.at_us;
		cpu_irq_on();
	}
	return n;
}

size_t hal_uart_write(const uint8_t *buf, size_t len)
{
	size_t n = 0;

	while (n < len && !(UART_FR & UART_FR_TXFF))
		UART_DR = buf[n++];
	return n;
}

uint32_t hal_uart_overruns(void)
{
	return rx.overruns;
}
