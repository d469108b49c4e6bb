#include "firmware/core/config.h"

#include <string.h>

#include "proto/link/crc32c.h"
#include "proto/link/wire.h"

#define SERIAL_BYTES 32u

enum field_type {
	FIELD_U32,
	FIELD_BOOL,
	FIELD_SERIAL,
};

/* One row a field, in the order of the image: check, encode and decode all
 * go through this table. */
struct field {
	uint8_t number; /* in the proto */
	uint8_t type;
	uint16_t offset;
	uint32_t min;
	uint32_t max;
};

#define U32(msg, name, number, min, max)                                       \
	{                                                                      \
		number, FIELD_U32, offsetof(msg, name), min, max               \
	}
#define BOOL(msg, name, number)                                                \
	{                                                                      \
		number, FIELD_BOOL, offsetof(msg, name), 0, 1                  \
	}

static const struct field rig_fields[] = {
	U32(RigConfig, budget_12v_ma, 1, 0, 60000),
	U32(RigConfig, budget_5v_ma, 2, 0, 60000),
	U32(RigConfig, budget_mw, 3, 0, 600000),
	U32(RigConfig, host_late_ms, 4, 500, 60000),
	U32(RigConfig, host_lost_ms, 5, 1000, 3600000),
};

static const struct field slot_fields[] = {
	U32(SlotConfig, slot, 1, 0, RIG_SLOTS_MAX - 1),
	{ 2, FIELD_SERIAL, offsetof(SlotConfig, serial), 0, 0 },
	U32(SlotConfig, min_off_ms, 3, 0, 600000),
	BOOL(SlotConfig, brownout, 4),
	U32(SlotConfig, spinup_reserve_ma, 5, 0, 10000),
	U32(SlotConfig, spinup_max_ms, 6, 100, 60000),
	U32(SlotConfig, idle_12v_ma, 7, 0, 5000),
	U32(SlotConfig, trip_5v_ma, 8, 100, 5000),
	U32(SlotConfig, trip_12v_ma, 9, 100, 10000),
	U32(SlotConfig, trip_ms, 10, 1, 1000),
	U32(SlotConfig, i2t_12v_ma, 11, 100, 10000),
	U32(SlotConfig, i2t_ms, 12, 100, 60000),
	U32(SlotConfig, blank_ms, 13, 0, 20),
	U32(SlotConfig, ramp_timeout_ms, 14, 10, 2000),
	U32(SlotConfig, skew_ms, 15, 0, 1000),
	BOOL(SlotConfig, v12_first, 16),
	BOOL(SlotConfig, no_12v, 17),
	BOOL(SlotConfig, restore, 18),
	U32(SlotConfig, rated_cycles, 19, 0, UINT32_MAX),
};

struct record {
	const struct field *field;
	size_t count;
	size_t bytes;
};

static const struct record rig_record = {
	rig_fields, sizeof(rig_fields) / sizeof(rig_fields[0]), CONFIG_RIG_BYTES
};
static const struct record slot_record = { slot_fields,
					   sizeof(slot_fields) /
						   sizeof(slot_fields[0]),
					   CONFIG_SLOT_BYTES };

#define MIN_OFF_MS 5000u /* shorter only as a brown-out profile */

void config_default(struct config *c, const struct config_defaults *d,
		    uint32_t slots)
{
	memset(c, 0, sizeof(*c));
	c->slots = slots;
	c->rig = d->rig;
	for (uint32_t i = 0; i < slots; i++) {
		c->slot[i] = d->slot;
		c->slot[i].slot = i;
	}
}

static uint32_t field_get(const void *msg, const struct field *f)
{
	const uint8_t *p = (const uint8_t *)msg + f->offset;
	uint32_t v;

	if (f->type == FIELD_BOOL)
		return *(const bool *)p ? 1 : 0;
	memcpy(&v, p, sizeof(v));
	return v;
}

static void field_put(void *msg, const struct field *f, uint32_t v)
{
	uint8_t *p = (uint8_t *)msg + f->offset;

	if (f->type == FIELD_BOOL)
		*(bool *)p = v != 0;
	else
		memcpy(p, &v, sizeof(v));
}

static uint32_t first_out_of_range(const void *msg, const struct record *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct field *f = &r->field[i];
		uint32_t v;

		if (f->type == FIELD_SERIAL)
			continue;
		v = field_get(msg, f);
		if (v < f->min || v > f->max)
			return f->number;
	}
	return 0;
}

/* What no single range can say. Returns a field number, 0: none. */
static uint32_t slot_contradiction(const struct config *c, uint32_t slot)
{
	const SlotConfig *s = &c->slot[slot];

	if (s->slot != slot)
		return 1;
	if (s->serial[SERIAL_BYTES - 1])
		return 2;
	if (s->min_off_ms < MIN_OFF_MS && !s->brownout)
		return 3;
	/* It would wait for ever. */
	if (!s->no_12v && s->spinup_reserve_ma > c->rig.budget_12v_ma)
		return 5;
	if (s->no_12v && s->v12_first)
		return 16;
	return 0;
}

rig_status config_check(const struct config *c, uint32_t *detail)
{
	uint32_t bad = first_out_of_range(&c->rig, &rig_record);

	if (!bad && c->rig.host_lost_ms <= c->rig.host_late_ms)
		bad = 5;
	if (bad) {
		*detail = bad;
		return RIG_RANGE;
	}
	for (uint32_t i = 0; i < c->slots; i++) {
		bad = first_out_of_range(&c->slot[i], &slot_record);
		if (!bad)
			bad = slot_contradiction(c, i);
		if (bad) {
			*detail = bad + 100 * (i + 1);
			return RIG_RANGE;
		}
	}
	return RIG_OK;
}

static size_t record_encode(const void *msg, const struct record *r,
			    uint8_t *out)
{
	uint8_t *p = out;

	for (size_t i = 0; i < r->count; i++) {
		const struct field *f = &r->field[i];

		if (f->type == FIELD_SERIAL) {
			/* A string may leave anything behind its end. */
			memset(p, 0, SERIAL_BYTES);
			memcpy(p, (const uint8_t *)msg + f->offset,
			       strnlen((const char *)msg + f->offset,
				       SERIAL_BYTES));
			p += SERIAL_BYTES;
		} else {
			wire_put32(p, field_get(msg, f));
			p += 4;
		}
	}
	return (size_t)(p - out);
}

static void record_decode(void *msg, const struct record *r, const uint8_t *in)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct field *f = &r->field[i];

		if (f->type == FIELD_SERIAL) {
			memcpy((uint8_t *)msg + f->offset, in, SERIAL_BYTES);
			in += SERIAL_BYTES;
		} else {
			field_put(msg, f, wire_get32(in));
			in += 4;
		}
	}
}

void config_encode_rig(const RigConfig *rig, uint8_t *out)
{
	record_encode(rig, &rig_record, out);
}

void config_encode_slot(const SlotConfig *slot, uint8_t *out)
{
	record_encode(slot, &slot_record, out);
}

size_t config_encode(const struct config *c, unsigned record, uint8_t *out)
{
	if (record == 0)
		return record_encode(&c->rig, &rig_record, out);
	return record_encode(&c->slot[record - 1], &slot_record, out);
}

void config_decode(struct config *c, unsigned record, const uint8_t *in)
{
	if (record == 0)
		record_decode(&c->rig, &rig_record, in);
	else
		record_decode(&c->slot[record - 1], &slot_record, in);
}

size_t config_image_bytes(uint32_t slots)
{
	return CONFIG_RIG_BYTES + slots * CONFIG_SLOT_BYTES;
}

uint32_t config_image_crc(const struct config *c)
{
	uint8_t record[CONFIG_RECORD_BYTES];
	uint32_t crc = CRC32C_INIT;

	for (unsigned i = 0; i <= c->slots; i++)
		crc = crc32c_update(crc, record, config_encode(c, i, record));
	return crc32c_final(crc);
}
