#include "firmware/drivers/at24.h"

#include <string.h>

#define ADDRESS_BYTES 2u

static void put_address(uint8_t *out, uint32_t offset)
{
	out[0] = (uint8_t)(offset >> 8);
	out[1] = (uint8_t)(offset & 0xffu);
}

/* While it writes a page the part does not acknowledge its address. */
static rig_status wait_ready(const struct at24 *a, uint32_t offset)
{
	uint8_t wr[ADDRESS_BYTES];
	rig_status rc = RIG_BUSY;

	put_address(wr, offset);
	for (unsigned i = 0; i < AT24_POLLS_MAX && rc == RIG_BUSY; i++)
		rc = hal_i2c_transfer(a->bus, a->cfg->address, wr, sizeof(wr),
				      NULL, 0);
	return rc == RIG_BUSY ? RIG_HW : rc;
}

static bool is_inside(const struct hal_storage *st, uint32_t offset, size_t len)
{
	return offset <= st->size_bytes && len <= st->size_bytes - offset;
}

static rig_status at24_read(const struct hal_storage *st, uint32_t offset,
			    uint8_t *buf, size_t len)
{
	const struct at24 *a = st->arg;
	uint8_t wr[ADDRESS_BYTES];
	rig_status rc;

	if (!is_inside(st, offset, len))
		return RIG_RANGE;
	put_address(wr, offset);
	rc = hal_i2c_transfer(a->bus, a->cfg->address, wr, sizeof(wr), buf,
			      len);
	return rc == RIG_BUSY ? RIG_HW : rc;
}

/* Within one page; the part would wrap around at its end. */
static rig_status write_page(const struct at24 *a, uint32_t offset,
			     const uint8_t *buf, size_t len)
{
	uint8_t wr[ADDRESS_BYTES + AT24_PAGE_BYTES];
	rig_status rc;

	put_address(wr, offset);
	memcpy(wr + ADDRESS_BYTES, buf, len);
	rc = hal_i2c_transfer(a->bus, a->cfg->address, wr, ADDRESS_BYTES + len,
			      NULL, 0);
	if (rc != RIG_OK)
		return RIG_HW;
	return wait_ready(a, offset);
}

static rig_status at24_write(const struct hal_storage *st, uint32_t offset,
			     const uint8_t *buf, size_t len)
{
	const struct at24 *a = st->arg;

	if (!is_inside(st, offset, len))
		return RIG_RANGE;
	while (len) {
		size_t room = AT24_PAGE_BYTES - offset % AT24_PAGE_BYTES;
		size_t n = len < room ? len : room;
		rig_status rc = write_page(a, offset, buf, n);

		if (rc != RIG_OK)
			return rc;
		offset += (uint32_t)n;
		buf += n;
		len -= n;
	}
	return RIG_OK;
}

static const struct hal_storage_ops at24_ops = {
	.read = at24_read,
	.write = at24_write,
};

void at24_init(struct at24 *a, const struct at24_cfg *cfg,
	       const struct hal_i2c *bus)
{
	a->cfg = cfg;
	a->bus = bus;
	a->storage.ops = &at24_ops;
	a->storage.size_bytes = cfg->size_bytes;
	a->storage.arg = a;
}
