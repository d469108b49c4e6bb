#include "firmware/port/posix/parts.h"

#include <string.h>

#include "firmware/core/rail.h"

#define IOUT_OC_WARN_LIMIT 0x4a
#define READ_VIN           0x88
#define READ_VOUT          0x8b
#define READ_IOUT          0x8c
#define MFR_MODEL          0x9a
#define PMON_CONTROL       0xd3
#define PMON_CONFIG        0xd4
#define PMON_RUN           0x01
#define CFG_VOUT_EN        0x0002
#define CFG_VRANGE_100V    0x0020
#define CFG_DEFAULT        0x3f35

/* ---- ADM1272 ---- */

static uint16_t encode_mv(const struct parts_rail *r, int32_t mv)
{
	int64_t m = r->pmon_config & CFG_VRANGE_100V ? 4062 : 6770;

	return (uint16_t)(m * (mv > 0 ? mv : 0) / 100000);
}

static uint16_t encode_ma(const struct parts_rail *r, int32_t ma)
{
	int64_t m = 663ll * r->shunt_uohm;

	return (uint16_t)((m * ma / 1000000 + 20480) / 10);
}

static uint16_t rail_word(const struct parts_rail *r)
{
	switch (r->command) {
	case READ_VIN:
		return encode_mv(r, r->vin_mv);
	case READ_VOUT:
		return r->pmon_config & CFG_VOUT_EN ? encode_mv(r, r->vout_mv)
						    : 0;
	case READ_IOUT:
		return encode_ma(r, r->iout_ma);
	case IOUT_OC_WARN_LIMIT:
		return r->oc_warn;
	case PMON_CONFIG:
		return r->pmon_config;
	default:
		return 0xffff;
	}
}

static void rail_read(const struct parts_rail *r, uint8_t *rd, size_t len)
{
	static const char model[] = "\012ADM1272-A1";
	uint16_t word = rail_word(r);

	memset(rd, 0xff, len);
	if (r->command == MFR_MODEL) {
		memcpy(rd, model,
		       len < sizeof(model) - 1 ? len : sizeof(model) - 1);
		return;
	}
	if (len > 0)
		rd[0] = (uint8_t)word;
	if (len > 1)
		rd[1] = (uint8_t)(word >> 8);
}

static void rail_write(struct parts_rail *r, const uint8_t *wr, size_t len)
{
	uint16_t word;

	r->command = wr[0];
	if (len < 2)
		return;
	word = wr[1];
	if (len > 2)
		word |= (uint16_t)(wr[2] << 8);
	if (r->command == PMON_CONTROL)
		r->pmon_control = wr[1];
	else if (r->command == IOUT_OC_WARN_LIMIT)
		r->oc_warn = word;
	else if (r->command == PMON_CONFIG && !(r->pmon_control & PMON_RUN))
		r->pmon_config = word;
}

static rig_status rail_transfer(struct parts_rail *r, const uint8_t *wr,
				size_t wr_len, uint8_t *rd, size_t rd_len)
{
	if (!r->present)
		return RIG_BUSY;
	if (wr_len)
		rail_write(r, wr, wr_len);
	if (rd_len)
		rail_read(r, rd, rd_len);
	return RIG_OK;
}

/* ---- TMP105 ---- */

static rig_status thermometer_transfer(struct parts_thermometer *t,
				       const uint8_t *wr, size_t wr_len,
				       uint8_t *rd, size_t rd_len)
{
	uint16_t raw = (uint16_t)(int16_t)(t->mdegc * 256 / 1000);

	if (!t->present)
		return RIG_BUSY;
	if (wr_len)
		t->pointer = wr[0];
	if (wr_len > 1 && t->pointer == 1)
		t->config = wr[1];
	/* Two bits of resolution more for each step of the configuration. */
	raw &= (uint16_t) ~(0xffu >> (1 + (t->config >> 5 & 3)));
	if (rd_len)
		memset(rd, 0, rd_len);
	if (rd_len > 1 && t->pointer == 0) {
		rd[0] = (uint8_t)(raw >> 8);
		rd[1] = (uint8_t)raw;
	}
	return RIG_OK;
}

/* ---- 24C256 ---- */

/* Wraps within the page, as the part does. */
static void eeprom_write(struct parts_eeprom *e, const uint8_t *bytes,
			 size_t len)
{
	uint32_t page = e->at - e->at % PARTS_EEPROM_PAGE;

	for (size_t i = 0; i < len; i++) {
		if (e->cut_after == 0) {
			e->present = false;
			return;
		}
		if (e->cut_after > 0)
			e->cut_after--;
		e->bytes[page + (e->at + i) % PARTS_EEPROM_PAGE] = bytes[i];
	}
	e->busy_left = e->busy_polls;
	if (e->written)
		e->written(e->arg);
}

static rig_status eeprom_transfer(struct parts_eeprom *e, const uint8_t *wr,
				  size_t wr_len, uint8_t *rd, size_t rd_len)
{
	if (!e->present)
		return RIG_BUSY;
	if (e->busy_left) {
		e->busy_left--;
		return RIG_BUSY;
	}
	if (wr_len > 1)
		e->at = (uint16_t)((wr[0] << 8 | wr[1]) % PARTS_EEPROM_BYTES);
	if (wr_len > 2)
		eeprom_write(e, wr + 2, wr_len - 2);
	for (size_t i = 0; i < rd_len; i++) {
		rd[i] = e->bytes[e->at];
		e->at = (uint16_t)((e->at + 1u) % PARTS_EEPROM_BYTES);
	}
	return e->present ? RIG_OK : RIG_HW;
}

/* ---- the bus ---- */

static rig_status transfer(const struct hal_i2c *bus, uint8_t address,
			   const uint8_t *wr, size_t wr_len, uint8_t *rd,
			   size_t rd_len)
{
	struct parts *p = bus->arg;
	unsigned rail = address - PARTS_RAIL_FIRST;

	p->transfers++;
	if (p->fail_in && --p->fail_in == 0)
		return RIG_HW;
	if (rail < PARTS_RAILS)
		return rail_transfer(&p->rail[rail], wr, wr_len, rd, rd_len);
	if (address == p->thermometer_address)
		return thermometer_transfer(&p->thermometer, wr, wr_len, rd,
					    rd_len);
	if (address == p->eeprom_address)
		return eeprom_transfer(&p->eeprom, wr, wr_len, rd, rd_len);
	return RIG_BUSY;
}

static const struct hal_i2c_ops ops = {
	.transfer = transfer,
};

void parts_init(struct parts *p, uint8_t *eeprom)
{
	memset(p, 0, sizeof(*p));
	p->bus.ops = &ops;
	p->bus.arg = p;
	for (unsigned i = 0; i < PARTS_RAILS; i++) {
		p->rail[i].present = true;
		p->rail[i].pmon_control = PMON_RUN;
		p->rail[i].pmon_config = CFG_DEFAULT;
		p->rail[i].shunt_uohm = 300;
		p->rail[i].vin_mv = rail_nominal_mv(i % RIG_RAILS);
	}
	p->thermometer_address = 0x48;
	p->thermometer.present = true;
	p->thermometer.mdegc = 25000;
	p->eeprom_address = 0x50;
	p->eeprom.present = true;
	p->eeprom.bytes = eeprom;
	p->eeprom.busy_polls = 3;
	p->eeprom.cut_after = -1;
}
