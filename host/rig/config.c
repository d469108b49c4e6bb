/* Configuration: the image both ends agree on, staging and commit. */
#include "host/rig/client.h"

#include <errno.h>
#include <string.h>

#include "proto/link/crc32c.h"
#include "proto/link/wire.h"

#define SERIAL_BYTES 32u

/* The image is every field in the order of its number: a number or a bool as
 * u32, a text as 32 bytes padded with zeros. The descriptors know them all,
 * so a field added to the .proto is in the image on both ends. */
static uint32_t add_field(uint32_t crc, const ProtobufCFieldDescriptor *f,
			  const void *message)
{
	const char *at = (const char *)message + f->offset;
	uint8_t bytes[SERIAL_BYTES] = { 0 };

	if (f->type == PROTOBUF_C_TYPE_STRING) {
		const char *text = *(char *const *)at;
		size_t len = text ? strnlen(text, SERIAL_BYTES - 1) : 0;

		if (len)
			memcpy(bytes, text, len);
		return crc32c_update(crc, bytes, SERIAL_BYTES);
	}
	if (f->type == PROTOBUF_C_TYPE_BOOL)
		wire_put32(bytes, *(const protobuf_c_boolean *)at != 0);
	else
		wire_put32(bytes, *(const uint32_t *)at);
	return crc32c_update(crc, bytes, 4);
}

static uint32_t add_message(uint32_t crc, const ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++)
		crc = add_field(crc, &m->descriptor->fields[i], m);
	return crc;
}

static void init(struct rig_config *c, unsigned slots)
{
	memset(c, 0, sizeof(*c));
	rig_config__init(&c->rig);
	c->slots = slots < RIG_SLOTS_MAX ? slots : RIG_SLOTS_MAX;
	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++) {
		slot_config__init(&c->slot[i]);
		c->slot[i].slot = i;
		c->slot[i].serial = c->serial[i];
	}
}

int rig_config_set_serial(struct rig_config *c, unsigned slot,
			  const char *serial)
{
	if (slot >= c->slots || strlen(serial) >= sizeof(c->serial[slot]))
		return -EINVAL;
	strcpy(c->serial[slot], serial);
	return 0;
}

/* One part of the configuration in force. */
static int get(struct rig *r, const ConfigGet *what, Result__BodyCase want,
	       Result **out, struct err *err)
{
	Command c = COMMAND__INIT;
	int rc;

	c.body_case = COMMAND__BODY_CONFIG_GET;
	c.config_get = (ConfigGet *)what;
	rc = rig_command(r, &c, out, err);
	if (rc < 0 || (*out)->body_case == want)
		return rc;
	result__free_unpacked(*out, NULL);
	return err_set(err, -EPROTO,
		       "the rig answers config_get with something else");
}

static int get_rig(struct rig *r, struct rig_config *c, struct err *err)
{
	ConfigGet what = CONFIG_GET__INIT;
	Result *res;
	int rc;

	what.rig = true;
	rc = get(r, &what, RESULT__BODY_RIG_CONFIG, &res, err);
	if (rc < 0)
		return rc;
	c->rig = *res->rig_config;
	c->rig.base.n_unknown_fields = 0;
	c->rig.base.unknown_fields = NULL;
	result__free_unpacked(res, NULL);
	return 0;
}

static int get_slot(struct rig *r, struct rig_config *c, unsigned slot,
		    struct err *err)
{
	ConfigGet what = CONFIG_GET__INIT;
	Result *res;
	int rc;

	what.slot = slot;
	rc = get(r, &what, RESULT__BODY_SLOT_CONFIG, &res, err);
	if (rc < 0)
		return rc;
	c->slot[slot] = *res->slot_config;
	c->slot[slot].base.n_unknown_fields = 0;
	c->slot[slot].base.unknown_fields = NULL;
	c->slot[slot].serial = c->serial[slot];
	rc = rig_config_set_serial(c, slot, res->slot_config->serial);
	result__free_unpacked(res, NULL);
	if (rc < 0)
		return err_set(err, -EPROTO,
			       "the rig gives slot %u an overlong serial",
			       slot);
	return 0;
}

int rig_config_get(struct rig *r, struct rig_config *c, struct err *err)
{
	int rc;

	init(c, r->info.slots);
	rc = get_rig(r, c, err);
	for (unsigned i = 0; !rc && i < c->slots; i++)
		rc = get_slot(r, c, i, err);
	return rc;
}

uint32_t rig_config_crc(const struct rig_config *c)
{
	uint32_t crc = add_message(CRC32C_INIT, &c->rig.base);

	for (unsigned i = 0; i < c->slots; i++)
		crc = add_message(crc, &c->slot[i].base);
	return crc32c_final(crc);
}

static int begin(struct rig *r, uint32_t generation, unsigned slots,
		 struct err *err)
{
	Command c = COMMAND__INIT;
	ConfigBegin b = CONFIG_BEGIN__INIT;

	b.generation = generation;
	b.slots = slots;
	c.body_case = COMMAND__BODY_CONFIG_BEGIN;
	c.config_begin = &b;
	return rig_command(r, &c, NULL, err);
}

static int stage(struct rig *r, const struct rig_config *cfg, struct err *err)
{
	Command c = COMMAND__INIT;
	int rc;

	c.body_case = COMMAND__BODY_CONFIG_RIG;
	c.config_rig = (RigConfig *)&cfg->rig;
	rc = rig_command(r, &c, NULL, err);
	for (unsigned i = 0; !rc && i < cfg->slots; i++) {
		command__init(&c);
		c.body_case = COMMAND__BODY_CONFIG_SLOT;
		c.config_slot = (SlotConfig *)&cfg->slot[i];
		rc = rig_command(r, &c, NULL, err);
	}
	return rc;
}

static int commit(struct rig *r, uint32_t generation, uint32_t crc,
		  struct err *err)
{
	Command c = COMMAND__INIT;
	ConfigCommit m = CONFIG_COMMIT__INIT;

	m.generation = generation;
	m.crc = crc;
	c.body_case = COMMAND__BODY_CONFIG_COMMIT;
	c.config_commit = &m;
	return rig_command(r, &c, NULL, err);
}

int rig_config_sync(struct rig *r, const struct rig_config *c,
		    uint32_t *generation, struct err *err)
{
	uint32_t crc = rig_config_crc(c);
	uint32_t in_force;
	Result *res;
	int rc = rig_get_info(r, &res, err);

	if (rc < 0)
		return rc;
	if (res->body_case != RESULT__BODY_INFO) {
		result__free_unpacked(res, NULL);
		return err_set(err, -EPROTO,
			       "the rig answers get_info with something else");
	}
	in_force = res->info->config_generation;
	rc = res->info->config_crc == crc;
	result__free_unpacked(res, NULL);
	if (generation)
		*generation = in_force;
	if (rc)
		return 0;
	rc = begin(r, in_force + 1, c->slots, err);
	if (!rc)
		rc = stage(r, c, err);
	if (!rc)
		rc = commit(r, in_force + 1, crc, err);
	if (!rc && generation)
		*generation = in_force + 1;
	return rc;
}
