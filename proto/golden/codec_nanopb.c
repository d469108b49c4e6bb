#include "proto/golden/codec.h"

#include <string.h>
#include <pb_decode.h>
#include <pb_encode.h>

#include "proto/rig.pb.h"

static const struct {
	const char *type;
	const pb_msgdesc_t *fields;
} types[] = {
	{ "command", Command_fields },     { "result", Result_fields },
	{ "event", Event_fields },         { "eventack", EventAck_fields },
	{ "telemetry", Telemetry_fields }, { "diagdata", DiagData_fields },
	{ "logline", LogLine_fields },
};

union any {
	Command command;
	Result result;
	Event event;
	EventAck eventack;
	Telemetry telemetry;
	DiagData diagdata;
	LogLine logline;
};

static const pb_msgdesc_t *find(const char *type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].type, type))
			return types[i].fields;
	return NULL;
}

size_t codec_nanopb(const char *type, const uint8_t *in, size_t len,
		    uint8_t *out)
{
	const pb_msgdesc_t *fields = find(type);
	pb_istream_t is = pb_istream_from_buffer(in, len);
	pb_ostream_t os = pb_ostream_from_buffer(out, CODEC_BYTES);
	union any m;

	memset(&m, 0, sizeof(m));
	if (!fields || !pb_decode(&is, fields, &m) ||
	    !pb_encode(&os, fields, &m))
		return CODEC_BAD;
	return os.bytes_written;
}
