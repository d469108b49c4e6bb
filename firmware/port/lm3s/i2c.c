/* I2C0 as master, polled: a transfer is over sooner than an interrupt for
 * each byte would pay. */
#include "firmware/hal/i2c.h"

#include "firmware/hal/clock.h"
#include "firmware/port/lm3s/port.h"
#include "firmware/port/lm3s/regs.h"

#define PORT_B 1u
#define SCL    (1u << 2)
#define SDA    (1u << 3)

/* SCL period = 2 (1 + TPR) 10 clocks: 400 kHz at 50 MHz is 6.25, so 7. */
#define TPR_400KHZ 6u

#define BYTE_TIMEOUT_US 2000u

/* Two directions for a bus that a reset left in the middle of a read: the
 * part holds SDA until it has been clocked through its byte. */
static void unstick(void)
{
	uint32_t base = lm3s_gpio_base(PORT_B);

	GPIO_ODR(base) |= SCL;
	GPIO_DATA(base, SCL) = SCL;
	GPIO_DIR(base) = (GPIO_DIR(base) | SCL) & ~SDA;
	GPIO_DEN(base) |= SCL | SDA;
	for (unsigned i = 0; i < 18 && !GPIO_DATA(base, SDA); i++) {
		uint64_t until_us = hal_clock_us() + 5;

		GPIO_DATA(base, SCL) = i & 1 ? SCL : 0;
		while (hal_clock_us() < until_us)
			;
	}
	GPIO_DIR(base) &= ~(SCL | SDA);
}

/* Start one step and wait for its end.
 * RIG_OK, RIG_BUSY: address not acknowledged, RIG_HW. */
static rig_status step(uint32_t command)
{
	uint64_t until_us = hal_clock_us() + BYTE_TIMEOUT_US;
	uint32_t mcs;

	I2C_MCS = command;
	do {
		mcs = I2C_MCS;
		if (hal_clock_us() > until_us)
			return RIG_HW;
	} while (mcs & I2C_BUSY);
	if (!(mcs & I2C_ERROR))
		return RIG_OK;
	/* QEMU's controller says ARBLST where the part says ADRACK. */
	return mcs & (I2C_ADRACK | I2C_ARBLST) && command & I2C_START ? RIG_BUSY
								      : RIG_HW;
}

static rig_status send(uint8_t address, const uint8_t *wr, size_t len,
		       bool stop)
{
	rig_status rc = RIG_OK;

	I2C_MSA = (uint32_t)address << 1;
	for (size_t i = 0; i < len && rc == RIG_OK; i++) {
		uint32_t command = I2C_RUN;

		if (i == 0)
			command |= I2C_START;
		if (stop && i + 1 == len)
			command |= I2C_STOP;
		I2C_MDR = wr[i];
		rc = step(command);
	}
	return rc;
}

static rig_status receive(uint8_t address, uint8_t *rd, size_t len)
{
	rig_status rc = RIG_OK;

	I2C_MSA = (uint32_t)address << 1 | 1u;
	for (size_t i = 0; i < len && rc == RIG_OK; i++) {
		uint32_t command = I2C_RUN;

		if (i == 0)
			command |= I2C_START;
		/* The last byte is not acknowledged. */
		command |= i + 1 == len ? I2C_STOP : I2C_ACK;
		rc = step(command);
		rd[i] = (uint8_t)I2C_MDR;
	}
	return rc;
}

static rig_status transfer(const struct hal_i2c *bus, uint8_t address,
			   const uint8_t *wr, size_t wr_len, uint8_t *rd,
			   size_t rd_len)
{
	rig_status rc = RIG_OK;

	(void)bus;
	if (wr_len)
		rc = send(address, wr, wr_len, rd_len == 0);
	/* START with STOP but without RUN is no operation for the part (table
	 * 14-3). QEMU 7.2 ignores a START while the bus is busy; this makes it
	 * end the write, so that the next START is one. */
	if (rc == RIG_OK && wr_len && rd_len)
		I2C_MCS = I2C_START | I2C_STOP;
	if (rc == RIG_OK && rd_len)
		rc = receive(address, rd, rd_len);
	if (rc != RIG_OK)
		I2C_MCS = I2C_STOP;
	return rc;
}

static const struct hal_i2c_ops ops = {
	.transfer = transfer,
};

const struct hal_i2c *hal_i2c_init(void)
{
	static const struct hal_i2c bus = { .ops = &ops };
	uint32_t base = lm3s_gpio_base(PORT_B);

	unstick();
	GPIO_AFSEL(base) |= SCL | SDA;
	GPIO_ODR(base) |= SCL | SDA;
	I2C_MCR = I2C_MCR_MFE;
	I2C_MTPR = TPR_400KHZ;
	return &bus;
}
