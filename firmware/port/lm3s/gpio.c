/* Pins: gates, and the activity lines with their interrupts. */
#include "firmware/app/board.h"
#include "firmware/hal/activity.h"
#include "firmware/hal/gpio.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

struct activity {
	const struct hal_pin *pins;
	size_t count;
	uint32_t edges[RIG_SLOTS_MAX];
};

/* Mailbox of the GPIO interrupts. */
static volatile struct activity activity;

static uint32_t mask_of(struct hal_pin p)
{
	return 1u << p.bit;
}

/* All pins of a port at once: an emulated PL061 shows an input as a high
 * output, so one pin after the other would show edges. */
static void port_outputs_low(unsigned port, uint32_t mask)
{
	uint32_t base = lm3s_gpio_base(port);

	/* DATA is 0 after reset: the pins go from floating, held low by their
	 * pull-downs, to driven low; only then are the pads enabled. */
	GPIO_DIR(base) |= mask;
	GPIO_DATA(base, mask) = 0;
	GPIO_DEN(base) |= mask;
}

void hal_gpio_outputs_low(const struct hal_pin *pins, size_t n)
{
	SYSCTL_RCGC2 = RCGC2_GPIO;
	/* Three clocks before the first access to a port (5.2.5). */
	(void)SYSCTL_RCGC2;
	for (unsigned port = 0; port < LM3S_PORTS; port++) {
		uint32_t mask = 0;

		for (size_t i = 0; i < n; i++) {
			if (pins[i].port == port)
				mask |= mask_of(pins[i]);
		}
		if (mask)
			port_outputs_low(port, mask);
	}
}

void hal_gpio_set(struct hal_pin p, bool high)
{
	GPIO_DATA(lm3s_gpio_base(p.port), mask_of(p)) = high ? mask_of(p) : 0;
}

bool hal_gpio_get(struct hal_pin p)
{
	return GPIO_DATA(lm3s_gpio_base(p.port), mask_of(p)) != 0;
}

/* The table is in flash, so this works before RAM is set up. */
void lm3s_gates_off(void)
{
	hal_gpio_outputs_low(board.gates, board.slots * RIG_RAILS);
}

static unsigned irq_of(unsigned port)
{
	return port < 5 ? port : IRQ_GPIO_F + (port - 5);
}

void hal_activity_init(const struct hal_pin *pins, size_t n)
{
	activity.pins = pins;
	activity.count = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t base = lm3s_gpio_base(pins[i].port);
		uint32_t mask = mask_of(pins[i]);

		activity.edges[i] = 0;
		GPIO_DIR(base) &= ~mask;
		GPIO_PUR(base) |= mask;
		GPIO_DEN(base) |= mask;
		/* Falling edges, as reset leaves IS, IBE and IEV. */
		GPIO_ICR(base) = mask;
		GPIO_IM(base) |= mask;
		NVIC_ISER0 = 1u << irq_of(pins[i].port);
	}
}

void lm3s_gpio_isr(void)
{
	for (size_t i = 0; i < activity.count; i++) {
		uint32_t base = lm3s_gpio_base(activity.pins[i].port);
		uint32_t mask = mask_of(activity.pins[i]);

		if (!(GPIO_MIS(base) & mask))
			continue;
		GPIO_ICR(base) = mask;
		activity.edges[i]++;
	}
}

uint32_t hal_activity_edges(size_t ch)
{
	return activity.edges[ch];
}

bool hal_activity_is_active(size_t ch)
{
	return !hal_gpio_get(activity.pins[ch]);
}
