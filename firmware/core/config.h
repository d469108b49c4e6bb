/* core/config.h - the limits in force, and their image.
 *
 * The image is what is stored and what ConfigCommit.crc covers: every field
 * in the order of its proto number as u32 little-endian (bool 0 or 1), a
 * serial as 32 bytes padded with zeros; RigConfig first, then the slots from
 * 0. docs/protocol.md says the same to the host. Pure. */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H

#include "firmware/hal/types.h"

#define CONFIG_RIG_BYTES    20u
#define CONFIG_SLOT_BYTES   104u
#define CONFIG_RECORD_BYTES CONFIG_SLOT_BYTES /* the longest record */

struct config {
	uint32_t generation; /* 0: the defaults */
	uint32_t slots;
	RigConfig rig;
	SlotConfig slot[RIG_SLOTS_MAX];
};

/* One board's defaults: the same for every slot. */
struct config_defaults {
	RigConfig rig;
	SlotConfig slot;
};

/* Generation 0.
 *   slots  1..RIG_SLOTS_MAX */
void config_default(struct config *c, const struct config_defaults *d,
		    uint32_t slots);

/* Check ranges and contradictions.
 *   detail  out: proto field number at fault; + 100 * (slot + 1) in a slot
 * RIG_OK; RIG_RANGE. */
RIG_MUST_USE rig_status config_check(const struct config *c, uint32_t *detail);

/* One message as a record of the image.
 *   out  CONFIG_RIG_BYTES, CONFIG_SLOT_BYTES */
void config_encode_rig(const RigConfig *rig, uint8_t *out);
void config_encode_slot(const SlotConfig *slot, uint8_t *out);

/* The records of the image: 0 is the rig, n is slot n - 1. Encodes one.
 *   out  CONFIG_RECORD_BYTES
 * Returns its length. */
size_t config_encode(const struct config *c, unsigned record, uint8_t *out);

/* The inverse: fill record of *c. */
void config_decode(struct config *c, unsigned record, const uint8_t *in);

size_t config_image_bytes(uint32_t slots);
uint32_t config_image_crc(const struct config *c);

#endif
