/* Words for numbers, taken from the .proto so that there is one list. */
#include "host/rig/rig.h"

#include <string.h>

/* The name without the common prefix of its enum. */
static const char *short_name(const ProtobufCEnumDescriptor *d, int value,
			      const char *prefix)
{
	const ProtobufCEnumValue *v =
		protobuf_c_enum_descriptor_get_value(d, value);
	size_t n = strlen(prefix);

	if (!v)
		return "?";
	return strncmp(v->name, prefix, n) ? v->name : v->name + n;
}

const char *rig_state_name(SlotState s)
{
	return short_name(&slot_state__descriptor, (int)s, "SLOT_");
}

const char *rig_fault_name(SlotFault f)
{
	return short_name(&slot_fault__descriptor, (int)f, "FAULT_");
}

const char *rig_status_name(RigStatus s)
{
	return short_name(&rig_status__descriptor, (int)s, "RIG_");
}

const char *rig_event_name(EventKind k)
{
	return short_name(&event_kind__descriptor, (int)k, "EVENT_");
}

const char *rig_level_name(uint32_t level)
{
	static const char *const names[] = { "error", "warning", "info",
					     "debug" };

	return level < sizeof(names) / sizeof(names[0]) ? names[level] : "?";
}

const char *rig_reset_name(ResetCause c)
{
	return short_name(&reset_cause__descriptor, (int)c, "RESET_");
}
