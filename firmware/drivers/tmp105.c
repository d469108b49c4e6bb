#include "firmware/drivers/tmp105.h"

#define REG_TEMPERATURE 0x00
#define REG_CONFIG      0x01
#define CONFIG_12_BITS  0x60

rig_status tmp105_init(uint8_t address, const struct hal_i2c *bus)
{
	static const uint8_t wr[] = { REG_CONFIG, CONFIG_12_BITS };

	return hal_i2c_transfer(bus, address, wr, sizeof(wr), NULL, 0);
}

rig_status tmp105_read(uint8_t address, const struct hal_i2c *bus,
		       int32_t *mdegc)
{
	static const uint8_t reg = REG_TEMPERATURE;
	uint8_t rd[2];
	rig_status rc = hal_i2c_transfer(bus, address, &reg, 1, rd, 2);

	/* 1/256 degree, two's complement, most significant byte first. */
	if (rc == RIG_OK)
		*mdegc = (int16_t)(uint16_t)((unsigned)rd[0] << 8 | rd[1]) *
			 1000 / 256;
	return rc;
}
