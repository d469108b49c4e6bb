/* hal/storage.h - bytes that survive loss of power. Task context. */
#ifndef HAL_STORAGE_H
#define HAL_STORAGE_H

#include "firmware/hal/types.h"

struct hal_storage;

struct hal_storage_ops {
	/* Read len bytes at offset. RIG_OK; RIG_RANGE: beyond the end, nothing
	 * done; RIG_HW: buf undefined. */
	rig_status (*read)(const struct hal_storage *st, uint32_t offset,
			   uint8_t *buf, size_t len);
	/* Write len bytes, in ascending order; on return they are safe. After
	 * a loss of power any prefix of them may be there and the byte at the
	 * cut may be anything. RIG_OK; RIG_RANGE: nothing done; RIG_HW: as
	 * after a loss of power. */
	rig_status (*write)(const struct hal_storage *st, uint32_t offset,
			    const uint8_t *buf, size_t len);
};

struct hal_storage {
	const struct hal_storage_ops *ops;
	uint32_t size_bytes;
	void *arg;
};

static inline RIG_MUST_USE rig_status hal_storage_read(
	const struct hal_storage *st, uint32_t offset, uint8_t *buf, size_t len)
{
	return st->ops->read(st, offset, buf, len);
}

static inline RIG_MUST_USE rig_status
hal_storage_write(const struct hal_storage *st, uint32_t offset,
		  const uint8_t *buf, size_t len)
{
	return st->ops->write(st, offset, buf, len);
}

#endif
