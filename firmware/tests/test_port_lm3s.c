/* port/lm3s by the sequence of its register accesses. */
#include "firmware/app/board.h"
#include "firmware/hal/activity.h"
#include "firmware/hal/clock.h"
#include "firmware/hal/gpio.h"
#include "firmware/hal/i2c.h"
#include "firmware/hal/uart.h"
#include "firmware/hal/watchdog.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

#include "firmware/tests/test.h"

#define CELLS 64
#define NOTES 512

#define MCS 0x40020004u
#define FR  0x4000c018u
#define DR  0x4000c000u

struct note {
	uint32_t address;
	uint32_t after; /* value once the access was over */
};

static struct {
	uint32_t address[CELLS];
	volatile uint32_t cell[CELLS];
	size_t cells;
	struct note note[NOTES];
	size_t notes;
	uint64_t now_us;
	/* What MCS reads after the n-th command, repeated at the end. */
	const uint32_t *mcs;
	size_t mcs_left;
	/* Bytes in the UART's receive FIFO. */
	const uint32_t *fifo;
	size_t fifo_left;
	bool tx_full;
	reset_cause said;
} fake;

uint64_t hal_clock_us(void)
{
	return ++fake.now_us;
}

void lm3s_say_last_words(reset_cause cause)
{
	fake.said = cause;
}

static volatile uint32_t *cell_of(uint32_t address)
{
	for (size_t i = 0; i < fake.cells; i++) {
		if (fake.address[i] == address)
			return &fake.cell[i];
	}
	assert_true(fake.cells < CELLS);
	fake.address[fake.cells] = address;
	return &fake.cell[fake.cells++];
}

static void finish_last_note(void)
{
	struct note *n;

	if (!fake.notes)
		return;
	n = &fake.note[fake.notes - 1];
	n->after = *cell_of(n->address);
}

/* A status register shows its status; a command written to it is in the cell
 * until the next access. */
static void show_status(uint32_t address, volatile uint32_t *cell)
{
	if (address == MCS) {
		*cell = fake.mcs ? fake.mcs[0] : 0;
		if (fake.mcs_left > 1 &&
		    fake.note[fake.notes - 1].address == MCS) {
			fake.mcs++;
			fake.mcs_left--;
		}
	}
	if (address == FR)
		*cell = (fake.fifo_left ? 0 : UART_FR_RXFE) |
			(fake.tx_full ? UART_FR_TXFF : 0);
	if (address == DR && fake.fifo_left) {
		*cell = *fake.fifo++;
		fake.fifo_left--;
	}
}

volatile uint32_t *fake_reg(uint32_t address)
{
	volatile uint32_t *cell = cell_of(address);

	finish_last_note();
	show_status(address, cell);
	if (fake.notes < NOTES)
		fake.note[fake.notes++].address = address;
	return cell;
}

static int fresh(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static void assert_accesses(const struct note *want, size_t n)
{
	finish_last_note();
	for (size_t i = 0; i < n && i < fake.notes; i++) {
		assert_int_equal(fake.note[i].address, want[i].address);
		assert_int_equal(fake.note[i].after, want[i].after);
	}
	assert_int_equal(fake.notes, n);
}

#define ASSERT_ACCESSES(want)                                                  \
	assert_accesses((want), sizeof(want) / sizeof((want)[0]))

/* Direction before data before pad, a whole port at once: no edge at start. */
static void gates_are_driven_low_port_by_port(void **state)
{
	static const struct note want[] = {
		{ 0x400fe108, 0x7f },
		{ 0x400fe108, 0x7f },
		/* B: 0, 1, 4, 5 */
		{ 0x40005400, 0x33 },
		{ 0x40005000 + (0x33 << 2), 0 },
		{ 0x4000551c, 0x33 },
		/* C: 4..7; JTAG on 0..3 is left alone */
		{ 0x40006400, 0xf0 },
		{ 0x40006000 + (0xf0 << 2), 0 },
		{ 0x4000651c, 0xf0 },
		/* D */
		{ 0x40007400, 0xff },
		{ 0x40007000 + (0xff << 2), 0 },
		{ 0x4000751c, 0xff },
	};

	(void)state;
	lm3s_gates_off();
	ASSERT_ACCESSES(want);
}

static void other_pins_of_a_port_keep_their_direction(void **state)
{
	(void)state;
	*cell_of(0x40005400) = 0x04;
	*cell_of(0x4000651c) = 0x0f;
	lm3s_gates_off();
	assert_int_equal(*cell_of(0x40005400), 0x37);
	assert_int_equal(*cell_of(0x4000651c), 0xff);
}

static void a_pin_is_set_through_its_own_address(void **state)
{
	static const struct note want[] = {
		{ 0x40024000 + (4 << 2), 4 },
		{ 0x40024000 + (4 << 2), 4 },
		{ 0x40024000 + (4 << 2), 0 },
	};
	struct hal_pin pin = { 4, 2 };

	(void)state;
	hal_gpio_set(pin, true);
	assert_true(hal_gpio_get(pin));
	hal_gpio_set(pin, false);
	ASSERT_ACCESSES(want);
}

static void falling_edges_are_counted_by_interrupt(void **state)
{
	static const struct hal_pin pins[] = { { 4, 0 }, { 6, 1 } };

	(void)state;
	hal_activity_init(pins, 2);
	assert_int_equal(*cell_of(0x40024510), 1); /* pull-up */
	assert_int_equal(*cell_of(0x40024410), 1); /* interrupt mask */
	assert_int_equal(*cell_of(0x40026410), 2);
	assert_int_equal(*cell_of(0x40026404), 0); /* edges, not levels */
	*cell_of(0x40026418) = 2;                  /* masked status */
	lm3s_gpio_isr();
	assert_int_equal(*cell_of(0x4002641c), 2); /* cleared */
	assert_int_equal(hal_activity_edges(0), 0);
	assert_int_equal(hal_activity_edges(1), 1);
}

static void the_watchdog_is_started_once_and_locked(void **state)
{
	static const struct note want[] = {
		{ 0x40000c00, 0x1acce551 }, { 0x40000000, 25000000 },
		{ 0x40000418, 0x100 },      { 0x40000008, 2 },
		{ 0x40000008, 3 },          { 0x40000c00, 1 },
		{ 0xe000e100, 1u << 18 },
	};

	(void)state;
	hal_watchdog_start(1000);
	ASSERT_ACCESSES(want);
}

static void feeding_after_half_the_time_takes_the_last_words_back(void **state)
{
	static const struct note want[] = {
		{ 0xe000e180, 1u << 18 }, { 0x40000c00, 0x1acce551 },
		{ 0x4000000c, 1 },        { 0x40000c00, 1 },
		{ 0xe000e280, 1u << 18 }, { 0xe000e100, 1u << 18 },
	};

	(void)state;
	lm3s_watchdog_isr();
	assert_int_equal(fake.said, RESET_WATCHDOG);
	hal_watchdog_feed();
	assert_int_equal(fake.said, RESET_UNKNOWN);
	ASSERT_ACCESSES(want);
}

/* ---- I2C ---- */

static const struct hal_i2c *bus_up(void)
{
	const struct hal_i2c *bus = hal_i2c_init();

	assert_int_equal(*cell_of(0x40020020), 0x10); /* master */
	assert_int_equal(*cell_of(0x4002000c), 6);    /* 357 kHz */
	fake.notes = 0;
	return bus;
}

static void a_write_is_start_bytes_and_stop(void **state)
{
	static const uint8_t wr[] = { 0xd4, 0x37, 0x01 };
	static const struct note want[] = {
		{ 0x40020000, 0x22 }, { 0x40020008, 0xd4 }, { MCS, 3 },
		{ MCS, 0 },           { 0x40020008, 0x37 }, { MCS, 1 },
		{ MCS, 0 },           { 0x40020008, 0x01 }, { MCS, 5 },
		{ MCS, 0 },
	};
	const struct hal_i2c *bus = bus_up();

	(void)state;
	assert_int_equal(hal_i2c_transfer(bus, 0x11, wr, 3, NULL, 0), RIG_OK);
	ASSERT_ACCESSES(want);
}

static void a_read_follows_with_a_repeated_start(void **state)
{
	static const uint8_t wr[] = { 0x8b };
	static const struct note want[] = {
		{ 0x40020000, 0x20 }, { 0x40020008, 0x8b }, { MCS, 3 },
		{ MCS, 0 },           { MCS, 6 }, /* no operation */
		{ 0x40020000, 0x21 }, { MCS, 0xb },         { MCS, 0 },
		{ 0x40020008, 0x8b }, { MCS, 5 },           { MCS, 0 },
		{ 0x40020008, 0x8b },
	};
	const struct hal_i2c *bus = bus_up();
	uint8_t rd[2];

	(void)state;
	assert_int_equal(hal_i2c_transfer(bus, 0x10, wr, 1, rd, 2), RIG_OK);
	ASSERT_ACCESSES(want);
}

static rig_status transfer_with(uint32_t first, uint32_t then)
{
	static const uint8_t wr[] = { 1, 2 };
	const struct hal_i2c *bus = bus_up();
	uint32_t status[2] = { first, then };
	rig_status rc;

	fake.mcs = status;
	fake.mcs_left = 2;
	rc = hal_i2c_transfer(bus, 0x10, wr, 2, NULL, 0);
	fake.mcs = NULL;
	finish_last_note();
	/* However it ended, the bus was given up. */
	assert_int_equal(fake.note[fake.notes - 1].address, MCS);
	assert_int_equal(fake.note[fake.notes - 1].after, I2C_STOP);
	return rc;
}

static void no_acknowledge_of_the_address_is_busy(void **state)
{
	(void)state;
	assert_int_equal(
		transfer_with(I2C_ERROR | I2C_ADRACK, I2C_ERROR | I2C_ADRACK),
		RIG_BUSY);
	assert_int_equal(
		transfer_with(I2C_ERROR | I2C_ARBLST, I2C_ERROR | I2C_ARBLST),
		RIG_BUSY);
}

static void no_acknowledge_of_a_byte_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(
		transfer_with(I2C_ERROR | I2C_DATACK, I2C_ERROR | I2C_DATACK),
		RIG_HW);
}

static void a_stuck_bus_is_given_up(void **state)
{
	uint64_t start_us;

	(void)state;
	start_us = fake.now_us;
	assert_int_equal(transfer_with(I2C_BUSY, I2C_BUSY), RIG_HW);
	assert_true(fake.now_us - start_us < 10000);
}

/* ---- UART ---- */

static void the_uart_runs_at_115200_baud(void **state)
{
	(void)state;
	hal_uart_init(115200);
	assert_int_equal(*cell_of(0x4000c024), 27); /* 50 MHz / 16 / 115200 */
	assert_int_equal(*cell_of(0x4000c028), 8);
	assert_int_equal(*cell_of(0x4000c02c), 0x70);
	assert_int_equal(*cell_of(0x4000c030), 0x301);
	assert_int_equal(*cell_of(0x4000c038), 0x50);
	assert_int_equal(*cell_of(0x40004420), 3);
}

static void received_bytes_wait_in_the_ring(void **state)
{
	static const uint32_t bytes[] = { 'b', 'a' | 0x100, 'y' };
	uint8_t buf[8];
	uint64_t at_us = 0;

	(void)state;
	hal_uart_init(115200);
	fake.fifo = bytes;
	fake.fifo_left = 3;
	assert_false(lm3s_uart_has_bytes());
	lm3s_uart_isr();
	assert_true(lm3s_uart_has_bytes());
	assert_int_equal(hal_uart_read(buf, 2, &at_us), 2);
	assert_int_equal(hal_uart_read(buf + 2, 6, &at_us), 1);
	assert_memory_equal(buf, "bay", 3);
	assert_true(at_us > 0);
	assert_int_equal(hal_uart_read(buf, 8, &at_us), 0);
}

static void bytes_beyond_the_ring_are_counted(void **state)
{
	static uint32_t bytes[300];
	uint8_t buf[400];
	uint64_t at_us;
	uint32_t before = hal_uart_overruns();

	(void)state;
	fake.fifo = bytes;
	fake.fifo_left = 300;
	lm3s_uart_isr();
	assert_int_equal(hal_uart_overruns() - before, 300 - 256);
	assert_int_equal(hal_uart_read(buf, sizeof(buf), &at_us), 256);
}

static void a_full_transmitter_takes_no_more(void **state)
{
	static const uint8_t data[] = { 1, 2, 3 };

	(void)state;
	fake.tx_full = true;
	assert_int_equal(hal_uart_write(data, 3), 0);
	fake.tx_full = false;
	assert_int_equal(hal_uart_write(data, 3), 3);
	finish_last_note();
	assert_int_equal(*cell_of(DR), 3);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gates_are_driven_low_port_by_port),
		TEST(other_pins_of_a_port_keep_their_direction),
		TEST(a_pin_is_set_through_its_own_address),
		TEST(falling_edges_are_counted_by_interrupt),
		TEST(the_watchdog_is_started_once_and_locked),
		TEST(feeding_after_half_the_time_takes_the_last_words_back),
		TEST(a_write_is_start_bytes_and_stop),
		TEST(a_read_follows_with_a_repeated_start),
		TEST(no_acknowledge_of_the_address_is_busy),
		TEST(no_acknowledge_of_a_byte_is_an_error),
		TEST(a_stuck_bus_is_given_up),
		TEST(the_uart_runs_at_115200_baud),
		TEST(received_bytes_wait_in_the_ring),
		TEST(bytes_beyond_the_ring_are_counted),
		TEST(a_full_transmitter_takes_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
