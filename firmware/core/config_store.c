#include "firmware/core/config_store.h"

#include "proto/link/crc32c.h"
#include "proto/link/wire.h"

#define MAGIC        0x43796162u /* "bayC" */
#define COMMITTED    0x5ea1ed01u
#define HEADER_BYTES 16u
#define NONE         2u

struct header {
	uint32_t magic;
	uint32_t schema;
	uint32_t generation;
	uint32_t length;
};

static uint32_t base_of(unsigned slot)
{
	return slot * CONFIG_STORE_SLOT_BYTES;
}

static void header_encode(const struct header *h, uint8_t *out)
{
	wire_put32(out, h->magic);
	wire_put32(out + 4, h->schema);
	wire_put32(out + 8, h->generation);
	wire_put32(out + 12, h->length);
}

static void header_decode(const uint8_t *in, struct header *h)
{
	h->magic = wire_get32(in);
	h->schema = wire_get32(in + 4);
	h->generation = wire_get32(in + 8);
	h->length = wire_get32(in + 12);
}

static size_t record_bytes(unsigned record)
{
	return record == 0 ? CONFIG_RIG_BYTES : CONFIG_SLOT_BYTES;
}

/* The CRC of the image as it lies there; decode it into c unless NULL. */
static rig_status image_read(const struct hal_storage *st, uint32_t at,
			     uint32_t slots, uint32_t *crc, struct config *c)
{
	uint8_t buf[CONFIG_RECORD_BYTES];

	for (unsigned i = 0; i <= slots; i++) {
		size_t len = record_bytes(i);
		rig_status rc = hal_storage_read(st, at, buf, len);

		if (rc != RIG_OK)
			return rc;
		*crc = crc32c_update(*crc, buf, len);
		if (c)
			config_decode(c, i, buf);
		at += (uint32_t)len;
	}
	return RIG_OK;
}

static bool header_fits(const struct header *h, uint32_t slots)
{
	return h->magic == MAGIC && h->schema == CONFIG_STORE_SCHEMA &&
	       h->length == config_image_bytes(slots);
}

/* RIG_OK: slot holds a committed image of this many slots. */
static rig_status slot_check_stored(const struct hal_storage *st, unsigned slot,
				    uint32_t slots, uint32_t *generation)
{
	uint8_t buf[HEADER_BYTES];
	struct header h;
	uint32_t at = base_of(slot);
	uint32_t crc;
	rig_status rc = hal_storage_read(st, at, buf, sizeof(buf));

	if (rc != RIG_OK)
		return rc;
	header_decode(buf, &h);
	if (!header_fits(&h, slots))
		return RIG_CRC;
	crc = crc32c_update(CRC32C_INIT, buf, sizeof(buf));
	rc = image_read(st, at + HEADER_BYTES, slots, &crc, NULL);
	if (rc != RIG_OK)
		return rc;
	rc = hal_storage_read(st, at + HEADER_BYTES + h.length, buf, 8);
	if (rc != RIG_OK)
		return rc;
	if (wire_get32(buf) != crc32c_final(crc) ||
	    wire_get32(buf + 4) != COMMITTED)
		return RIG_CRC;
	*generation = h.generation;
	return RIG_OK;
}

/* Newest first; both are tried, for the newest may not pass the check of
 * this firmware's ranges. */
rig_status config_store_open(struct config_store *s,
			     const struct hal_storage *st, struct config *c)
{
	uint32_t generation[2] = { 0, 0 };
	rig_status rc[2];
	uint32_t ignored = CRC32C_INIT;
	unsigned newest;

	s->st = st;
	s->in_force = NONE;
	for (unsigned i = 0; i < 2; i++)
		rc[i] = slot_check_stored(st, i, c->slots, &generation[i]);
	if (rc[0] != RIG_OK && rc[1] != RIG_OK)
		return rc[0] == RIG_HW || rc[1] == RIG_HW ? RIG_HW : RIG_CRC;
	newest = rc[0] != RIG_OK ||
		 (rc[1] == RIG_OK && generation[1] > generation[0]);
	rc[0] = image_read(st, base_of(newest) + HEADER_BYTES, c->slots,
			   &ignored, c);
	if (rc[0] != RIG_OK)
		return rc[0];
	c->generation = generation[newest];
	s->in_force = newest;
	return RIG_OK;
}

static unsigned spare_of(const struct config_store *s)
{
	return s->in_force == 0 ? 1 : 0;
}

static uint32_t record_at(unsigned slot, unsigned record)
{
	uint32_t at = base_of(slot) + HEADER_BYTES;

	if (record > 0)
		at += CONFIG_RIG_BYTES + (record - 1) * CONFIG_SLOT_BYTES;
	return at;
}

static uint32_t crc_at(unsigned slot, uint32_t slots)
{
	return base_of(slot) + HEADER_BYTES +
	       (uint32_t)config_image_bytes(slots);
}

static rig_status put_word(const struct hal_storage *st, uint32_t at,
			   uint32_t word)
{
	uint8_t buf[4];

	wire_put32(buf, word);
	return hal_storage_write(st, at, buf, sizeof(buf));
}

rig_status config_store_put(struct config_store *s, unsigned record,
			    const uint8_t *bytes)
{
	return hal_storage_write(s->st, record_at(spare_of(s), record), bytes,
				 record_bytes(record)) == RIG_OK
		       ? RIG_OK
		       : RIG_STORAGE;
}

rig_status config_store_stage(struct config_store *s, const struct config *c)
{
	struct header h = { MAGIC, CONFIG_STORE_SCHEMA, c->generation,
			    (uint32_t)config_image_bytes(c->slots) };
	unsigned spare = spare_of(s);
	uint8_t buf[CONFIG_RECORD_BYTES];
	rig_status rc = RIG_OK;

	/* First, or a half-written image could meet the commit word of the
	 * last. */
	if (put_word(s->st, crc_at(spare, c->slots) + 4, 0) != RIG_OK)
		return RIG_STORAGE;
	header_encode(&h, buf);
	if (hal_storage_write(s->st, base_of(spare), buf, HEADER_BYTES) !=
	    RIG_OK)
		return RIG_STORAGE;
	for (unsigned i = 0; i <= c->slots && rc == RIG_OK; i++) {
		config_encode(c, i, buf);
		rc = config_store_put(s, i, buf);
	}
	return rc;
}

/* The CRC over header and image as they lie there; c may be NULL. */
static rig_status staged_read(struct config_store *s, uint32_t slots,
			      uint32_t *crc, struct header *h, struct config *c)
{
	uint8_t buf[HEADER_BYTES];
	uint32_t at = base_of(spare_of(s));

	if (hal_storage_read(s->st, at, buf, sizeof(buf)) != RIG_OK)
		return RIG_STORAGE;
	header_decode(buf, h);
	if (!header_fits(h, slots))
		return RIG_STORAGE;
	*crc = crc32c_update(CRC32C_INIT, buf, sizeof(buf));
	if (image_read(s->st, at + HEADER_BYTES, slots, crc, c) != RIG_OK)
		return RIG_STORAGE;
	return RIG_OK;
}

rig_status config_store_staged(struct config_store *s, struct config *c)
{
	struct header h;
	uint32_t crc;
	rig_status rc = staged_read(s, c->slots, &crc, &h, c);

	if (rc == RIG_OK)
		c->generation = h.generation;
	return rc;
}

rig_status config_store_commit(struct config_store *s, const struct config *c)
{
	unsigned spare = spare_of(s);
	uint32_t at = crc_at(spare, c->slots);
	uint32_t generation = 0;
	struct header h;
	uint32_t crc;

	if (staged_read(s, c->slots, &crc, &h, NULL) != RIG_OK ||
	    put_word(s->st, at, crc32c_final(crc)) != RIG_OK ||
	    put_word(s->st, at + 4, COMMITTED) != RIG_OK)
		return RIG_STORAGE;
	if (slot_check_stored(s->st, spare, c->slots, &generation) != RIG_OK ||
	    generation != c->generation)
		return RIG_STORAGE;
	s->in_force = spare;
	return RIG_OK;
}
