#include "proto/golden/codec.h"

#include <string.h>

#include "proto/rig.pb-c.h"

static const struct {
	const char *type;
	const ProtobufCMessageDescriptor *desc;
} types[] = {
	{ "command", &command__descriptor },
	{ "result", &result__descriptor },
	{ "event", &event__descriptor },
	{ "eventack", &event_ack__descriptor },
	{ "telemetry", &telemetry__descriptor },
	{ "diagdata", &diag_data__descriptor },
	{ "logline", &log_line__descriptor },
};

static const ProtobufCMessageDescriptor *find(const char *type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].type, type))
			return types[i].desc;
	return NULL;
}

/* What a sender of a newer version adds is kept in the message; leave it out
 * when writing, as nanopb does. */
static size_t pack_known(ProtobufCMessage *m, uint8_t *out)
{
	unsigned unknown = m->n_unknown_fields;
	size_t len;

	m->n_unknown_fields = 0;
	len = protobuf_c_message_get_packed_size(m);
	if (len > CODEC_BYTES)
		len = CODEC_BAD;
	else
		protobuf_c_message_pack(m, out);
	m->n_unknown_fields = unknown;
	return len;
}

size_t codec_protobuf_c(const char *type, const uint8_t *in, size_t len,
			uint8_t *out)
{
	const ProtobufCMessageDescriptor *desc = find(type);
	ProtobufCMessage *m;

	m = desc ? protobuf_c_message_unpack(desc, NULL, len, in) : NULL;
	if (!m)
		return CODEC_BAD;
	len = pack_known(m, out);
	protobuf_c_message_free_unpacked(m, NULL);
	return len;
}
