/* core/config_store.h - the configuration in storage that keeps it.
 *
 * Two slots; a write goes to the one not in force, its commit word last, so
 * that a cut at any byte leaves the old or the new configuration, whole.
 *
 *   slot = magic 4 | schema 4 | generation 4 | length 4 | image | crc 4 |
 *          commit 4                                              (LE)
 * The CRC-32C covers everything before it. */
#ifndef CORE_CONFIG_STORE_H
#define CORE_CONFIG_STORE_H

#include "firmware/core/config.h"
#include "firmware/hal/storage.h"

#define CONFIG_STORE_SLOT_BYTES 0x1000u /* the second one starts here */
#define CONFIG_STORE_SCHEMA     1u

struct config_store {
	const struct hal_storage *st;
	unsigned in_force; /* 0, 1; 2: none valid yet */
};

/* Find and load the newest valid configuration.
 *   c  in: the defaults, with the board's number of slots; out: replaced
 *      if RIG_OK, else as it was
 * RIG_OK; RIG_CRC: none is valid (also a fresh part); RIG_HW. */
RIG_MUST_USE rig_status config_store_open(struct config_store *s,
					  const struct hal_storage *st,
					  struct config *c);

/* Write *c to the slot not in force, without the commit word: it is staged.
 * What was staged before is gone.
 * RIG_OK; RIG_STORAGE: nothing is staged. Blocks while the storage does: about
 * 0.1 s on a 24C256. */
RIG_MUST_USE rig_status config_store_stage(struct config_store *s,
					   const struct config *c);

/* Replace one record of what is staged.
 *   record  0: the rig, n: slot n - 1
 *   bytes   config_encode_rig() or config_encode_slot() made them
 * RIG_OK; RIG_STORAGE: stage anew. */
RIG_MUST_USE rig_status config_store_put(struct config_store *s,
					 unsigned record, const uint8_t *bytes);

/* Read back what is staged.
 *   c  in: the number of slots; out: the configuration
 * RIG_OK; RIG_STORAGE: it is not what was written, or not readable. */
RIG_MUST_USE rig_status config_store_staged(struct config_store *s,
					    struct config *c);

/* Put what is staged in force. The caller has checked *c, which
 * config_store_staged() has read.
 * RIG_OK; RIG_STORAGE: the one before is still in force. */
RIG_MUST_USE rig_status config_store_commit(struct config_store *s,
					    const struct config *c);

#endif
