#include "firmware/drivers/adm127x.h"

#include <string.h>

#define IOUT_OC_WARN_LIMIT 0x4a
#define READ_VIN           0x88
#define READ_VOUT          0x8b
#define READ_IOUT          0x8c
#define MFR_MODEL          0x9a
#define PMON_CONTROL       0xd3
#define PMON_CONFIG        0xd4

#define PMON_RUN 0x01

/* PMON_CONFIG. 30 mV range, continuous, VIN and VOUT on; averaging by 2
 * instead of the default 128, which would blur 5 ms. */
#define CFG_IRANGE_30MV 0x0001
#define CFG_VOUT_EN     0x0002
#define CFG_VIN_EN      0x0004
#define CFG_CONTINUOUS  0x0010
#define CFG_VRANGE_100V 0x0020
#define CFG_VI_AVG_2    0x0100

/* DIRECT: Y = (m X + b) 10^R; volts with R = -2, amperes with R = -1 and m
 * times the sense resistor in milliohms (30 mV range). */
#define M_VOLTS_60V  6770
#define M_VOLTS_100V 4062
#define M_AMPERES    663
#define B_AMPERES    20480

#define MODEL       "ADM127"
#define MODEL_BYTES 11u /* length byte and 10 characters */

static rig_status read_word(const struct adm127x_cfg *cfg,
			    const struct hal_i2c *bus, uint8_t command,
			    uint16_t *word)
{
	uint8_t rd[2];
	rig_status rc = hal_i2c_transfer(bus, cfg->address, &command, 1, rd, 2);

	if (rc == RIG_OK)
		*word = (uint16_t)(rd[0] | (unsigned)rd[1] << 8);
	return rc;
}

static rig_status write_word(const struct adm127x_cfg *cfg,
			     const struct hal_i2c *bus, uint8_t command,
			     uint16_t word)
{
	uint8_t wr[3] = { command, (uint8_t)(word & 0xffu),
			  (uint8_t)(word >> 8) };

	return hal_i2c_transfer(bus, cfg->address, wr, sizeof(wr), NULL, 0);
}

static rig_status write_byte(const struct adm127x_cfg *cfg,
			     const struct hal_i2c *bus, uint8_t command,
			     uint8_t byte)
{
	uint8_t wr[2] = { command, byte };

	return hal_i2c_transfer(bus, cfg->address, wr, sizeof(wr), NULL, 0);
}

static rig_status identify(const struct adm127x_cfg *cfg,
			   const struct hal_i2c *bus)
{
	uint8_t command = MFR_MODEL;
	uint8_t rd[MODEL_BYTES];
	rig_status rc = hal_i2c_transfer(bus, cfg->address, &command, 1, rd,
					 sizeof(rd));

	if (rc != RIG_OK)
		return rc;
	return memcmp(rd + 1, MODEL, strlen(MODEL)) ? RIG_HW : RIG_OK;
}

rig_status adm127x_init(const struct adm127x_cfg *cfg,
			const struct hal_i2c *bus)
{
	uint16_t config = CFG_IRANGE_30MV | CFG_VOUT_EN | CFG_VIN_EN |
			  CFG_CONTINUOUS | CFG_VI_AVG_2;
	rig_status rc = identify(cfg, bus);

	if (!cfg->range_60v)
		config |= CFG_VRANGE_100V;
	/* The configuration may change only while no conversion runs. */
	if (rc == RIG_OK)
		rc = write_byte(cfg, bus, PMON_CONTROL, 0);
	if (rc == RIG_OK)
		rc = write_word(cfg, bus, PMON_CONFIG, config);
	if (rc == RIG_OK)
		rc = write_byte(cfg, bus, PMON_CONTROL, PMON_RUN);
	return rc;
}

static int32_t to_mv(const struct adm127x_cfg *cfg, uint16_t y)
{
	int64_t m = cfg->range_60v ? M_VOLTS_60V : M_VOLTS_100V;

	return (int32_t)(((int64_t)y * 100000 + m / 2) / m);
}

static int32_t to_ma(const struct adm127x_cfg *cfg, uint16_t y)
{
	int64_t m = (int64_t)M_AMPERES * cfg->shunt_uohm;

	return (int32_t)(((int64_t)y * 10 - B_AMPERES) * 1000000 / m);
}

static rig_status read_mv(const struct adm127x_cfg *cfg,
			  const struct hal_i2c *bus, uint8_t command,
			  int32_t *mv)
{
	uint16_t y;
	rig_status rc = read_word(cfg, bus, command, &y);

	if (rc == RIG_OK)
		*mv = to_mv(cfg, y);
	return rc;
}

rig_status adm127x_read_vout(const struct adm127x_cfg *cfg,
			     const struct hal_i2c *bus, int32_t *mv)
{
	return read_mv(cfg, bus, READ_VOUT, mv);
}

rig_status adm127x_read_vin(const struct adm127x_cfg *cfg,
			    const struct hal_i2c *bus, int32_t *mv)
{
	return read_mv(cfg, bus, READ_VIN, mv);
}

rig_status adm127x_read_iout(const struct adm127x_cfg *cfg,
			     const struct hal_i2c *bus, int32_t *ma)
{
	uint16_t y;
	rig_status rc = read_word(cfg, bus, READ_IOUT, &y);

	if (rc == RIG_OK)
		*ma = to_ma(cfg, y);
	return rc;
}

rig_status adm127x_set_warn(const struct adm127x_cfg *cfg,
			    const struct hal_i2c *bus, uint32_t ma)
{
	int64_t m = (int64_t)M_AMPERES * cfg->shunt_uohm;
	int64_t y = (m * ma / 1000000 + B_AMPERES) / 10;

	return write_word(cfg, bus, IOUT_OC_WARN_LIMIT,
			  (uint16_t)(y > 0xfff ? 0xfff : y));
}
