/* Any content of the EEPROM: what is loaded was committed with its checksum,
 * and what passes the check comes back from its own image. */
#include "firmware/core/config_store.h"
#include "firmware/tests/test_limits.h"

#include <assert.h>
#include <string.h>

#define BYTES 0x2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t bytes[BYTES];

static rig_status mem_read(const struct hal_storage *st, uint32_t offset,
			   uint8_t *buf, size_t len)
{
	(void)st;
	assert(offset + len <= BYTES);
	memcpy(buf, bytes + offset, len);
	return RIG_OK;
}

static rig_status mem_write(const struct hal_storage *st, uint32_t offset,
			    const uint8_t *buf, size_t len)
{
	(void)st;
	assert(offset + len <= BYTES);
	memcpy(bytes + offset, buf, len);
	return RIG_OK;
}

static const struct hal_storage_ops ops = { mem_read, mem_write };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hal_storage st = { .ops = &ops, .size_bytes = BYTES };
	struct config_store store;
	struct config c;
	struct config d;
	uint32_t detail;

	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, data, size < BYTES / 2 ? size : BYTES / 2);
	config_default(&c, &test_defaults, 1);
	if (config_store_open(&store, &st, &c) != RIG_OK ||
	    config_check(&c, &detail) != RIG_OK)
		return 0;
	c.generation++;
	d = c;
	assert(config_store_stage(&store, &c) == RIG_OK);
	assert(config_store_staged(&store, &d) == RIG_OK);
	assert(config_image_crc(&c) == config_image_crc(&d));
	assert(config_store_commit(&store, &d) == RIG_OK);
	return 0;
}
