#include "firmware/core/events.h"

#include <string.h>

#define MAGIC 0xba7e7e57u

/* Ten bits each of four numbers. */
#define FIELD_MAX 1023

/* Where the readings begin in the data of a slot's event. */
#define VALUE_BYTES 3u

static void put_le(uint8_t *out, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *in, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)in[i] << (8 * i);
	return v;
}

static uint16_t field(int32_t value, int32_t unit)
{
	int32_t n = (value + unit / 2) / unit;

	if (n < 0)
		return 0;
	return n > FIELD_MAX ? FIELD_MAX : (uint16_t)n;
}

static void pack_vi(uint8_t out[5], const struct rail_sample *s)
{
	uint64_t bits = field(s->mv[RAIL_5V], 8);

	bits |= (uint64_t)field(s->ma[RAIL_5V], 8) << 10;
	bits |= (uint64_t)field(s->mv[RAIL_12V], 16) << 20;
	bits |= (uint64_t)field(s->ma[RAIL_12V], 8) << 30;
	put_le(out, 5, bits);
}

static int16_t unfield(uint64_t bits, unsigned at, int32_t unit)
{
	return (int16_t)((int32_t)((bits >> at) & FIELD_MAX) * unit);
}

static void unpack_vi(const uint8_t in[5], struct rail_sample *s)
{
	uint64_t bits = get_le(in, 5);

	s->mv[RAIL_5V] = unfield(bits, 0, 8);
	s->ma[RAIL_5V] = unfield(bits, 10, 8);
	s->mv[RAIL_12V] = unfield(bits, 20, 16);
	s->ma[RAIL_12V] = unfield(bits, 30, 8);
}

static uint8_t crc8(uint8_t crc, uint8_t byte)
{
	crc ^= byte;
	for (unsigned i = 0; i < 8; i++)
		crc = (uint8_t)(crc << 1 ^ (crc & 0x80 ? 0x07 : 0));
	return crc;
}

/* Covers the number too: a record that a reset left from 256 events ago, or
 * half of one, does not pass for the one expected. */
static uint8_t check_of(const struct events_record *rec, uint32_t number)
{
	const uint8_t *p = (const uint8_t *)rec;
	uint8_t crc = 0xff;

	for (unsigned i = 0; i < 4; i++)
		crc = crc8(crc, (uint8_t)(number >> (8 * i)));
	for (size_t i = 0; i < offsetof(struct events_record, check); i++)
		crc = crc8(crc, p[i]);
	return crc;
}

static struct events_record *record_of(struct events_ring *r, uint32_t number)
{
	return &r->record[number % EVENTS_SIZE];
}

static uint32_t oldest(const struct events_ring *r)
{
	return r->next > EVENTS_SIZE ? r->next - EVENTS_SIZE : 1;
}

static bool is_whole(struct events_ring *r)
{
	if (r->magic != MAGIC || r->size != sizeof(*r) || r->next == 0 ||
	    r->acked >= r->next)
		return false;
	for (uint32_t n = oldest(r); n < r->next; n++) {
		if (record_of(r, n)->check != check_of(record_of(r, n), n))
			return false;
	}
	return true;
}

bool events_open(struct events_ring *r, uint32_t boot_id)
{
	bool whole = is_whole(r);

	if (!whole) {
		memset(r, 0, sizeof(*r));
		r->size = sizeof(*r);
		r->next = 1;
		r->op_next = 1;
		r->magic = MAGIC;
	}
	r->boot_id = boot_id;
	return whole;
}

static uint8_t op_reference(struct events_ring *r, uint64_t op_id)
{
	uint32_t last = r->op_next - 1u;

	if (!op_id)
		return 0;
	if ((uint8_t)last && r->op[last % EVENTS_OPS] == op_id)
		return (uint8_t)last;
	last = r->op_next;
	if (!(uint8_t)last) /* means none */
		last++;
	r->op[last % EVENTS_OPS] = op_id;
	r->op_next = last + 1u;
	return (uint8_t)last;
}

static uint64_t op_of(const struct events_ring *r, uint8_t reference)
{
	uint8_t age = (uint8_t)(r->op_next - reference);

	if (!reference || !age || age > EVENTS_OPS)
		return 0;
	return r->op[(r->op_next - age) % EVENTS_OPS];
}

static void pack_data(uint8_t data[8], const struct event *e)
{
	uint32_t value = (uint32_t)e->value;

	if (!events_is_of_slot(e->kind)) {
		put_le(data, 4, value);
		return;
	}
	if (e->kind == EVENT_SLOT_STATE)
		value = e->fall_us < EVENTS_FALL_MAX_US ? e->fall_us
							: EVENTS_FALL_MAX_US;
	put_le(data, VALUE_BYTES, value);
	pack_vi(data + VALUE_BYTES, &e->vi);
}

static void unpack_data(const uint8_t data[8], struct event *out)
{
	uint32_t value;

	if (!events_is_of_slot(out->kind)) {
		out->value = (int32_t)get_le(data, 4);
		return;
	}
	value = (uint32_t)get_le(data, VALUE_BYTES);
	if (out->kind == EVENT_SLOT_STATE)
		out->fall_us = value;
	else /* the sign is bit 23 */
		out->value = (int32_t)(value ^ 0x800000u) - 0x800000;
	unpack_vi(data + VALUE_BYTES, &out->vi);
}

uint32_t events_add(struct events_ring *r, const struct event *e)
{
	uint32_t number = r->next;
	struct events_record *rec = record_of(r, number);

	memset(rec, 0, sizeof(*rec));
	put_le(rec->at, sizeof(rec->at), e->at_us);
	rec->op = op_reference(r, e->op_id);
	rec->kind_fault =
		(uint8_t)((unsigned)e->kind << 4 | (unsigned)e->fault);
	rec->state_slot = (uint8_t)((unsigned)e->state << 4 | e->slot);
	pack_data(rec->data, e);
	rec->boot = (uint8_t)r->boot_id;
	rec->check = check_of(rec, number);
	/* A reset before this line forgets the event, after it keeps it. */
	__atomic_store_n(&r->next, number + 1, __ATOMIC_RELEASE);
	return number;
}

uint32_t events_last(const struct events_ring *r)
{
	return r->next - 1;
}

static void unpack(const struct events_ring *r, uint32_t number,
		   struct event *out)
{
	const struct events_record *rec = &r->record[number % EVENTS_SIZE];

	memset(out, 0, sizeof(*out));
	out->number = number;
	out->kind = (event_kind)(rec->kind_fault >> 4);
	out->fault = (slot_fault)(rec->kind_fault & 15);
	out->state = (slot_state)(rec->state_slot >> 4);
	out->slot = rec->state_slot & 15;
	out->at_us = get_le(rec->at, sizeof(rec->at));
	unpack_data(rec->data, out);
	out->op_id = op_of(r, rec->op);
	out->boot_id = r->boot_id - (uint8_t)((uint8_t)r->boot_id - rec->boot);
}

bool events_after(const struct events_ring *r, uint32_t after,
		  struct event *out)
{
	uint32_t first = oldest(r);

	if (after + 1 >= r->next || after == UINT32_MAX)
		return false;
	if (after + 1 < first) {
		memset(out, 0, sizeof(*out));
		out->number = first - 1;
		out->kind = EVENT_OVERFLOW;
		out->value = (int32_t)(first - 1 - after);
		out->boot_id = r->boot_id;
		return true;
	}
	unpack(r, after + 1, out);
	return true;
}

void events_ack(struct events_ring *r, uint32_t number)
{
	if (number > r->acked && number < r->next)
		r->acked = number;
}
