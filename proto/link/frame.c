#include "proto/link/frame.h"

#include "proto/link/crc32c.h"
#include "proto/link/wire.h"

static void put_header(uint8_t *p, const struct frame *f)
{
	p[0] = (uint8_t)((uint32_t)f->major << 4 | (f->flags & 15u));
	p[1] = f->channel;
	wire_put16(p + 2, f->session);
	wire_put16(p + 4, f->seq);
	wire_put16(p + 6, f->ack);
}

size_t frame_encode(const struct frame *f, uint8_t *dst, size_t cap)
{
	uint8_t header[FRAME_HEADER_BYTES];
	uint8_t trailer[FRAME_CRC_BYTES];
	struct cobs_encoder e;
	uint32_t crc;
	size_t len;

	if (f->len > FRAME_PAYLOAD_MAX)
		return 0;
	put_header(header, f);
	crc = crc32c_update(CRC32C_INIT, header, sizeof(header));
	crc = crc32c_update(crc, f->payload, f->len);
	wire_put32(trailer, crc32c_final(crc));

	cobs_encode_begin(&e, dst, cap);
	cobs_encode_add(&e, header, sizeof(header));
	cobs_encode_add(&e, f->payload, f->len);
	cobs_encode_add(&e, trailer, sizeof(trailer));
	len = cobs_encode_end(&e);
	if (!len || len >= cap)
		return 0;
	dst[len] = 0;
	return len + 1;
}

enum frame_error frame_decode(uint8_t *buf, size_t len, struct frame *f)
{
	size_t n;

	if (!cobs_decode(buf, len, buf, len, &n))
		return FRAME_BAD_COBS;
	if (n < FRAME_HEADER_BYTES + FRAME_CRC_BYTES || n > FRAME_MAX)
		return FRAME_BAD_LENGTH;
	n -= FRAME_CRC_BYTES;
	if (crc32c(buf, n) != wire_get32(buf + n))
		return FRAME_BAD_CRC;
	*f = (struct frame){
		.major = (uint8_t)(buf[0] >> 4),
		.flags = buf[0] & 15u,
		.channel = buf[1],
		.session = wire_get16(buf + 2),
		.seq = wire_get16(buf + 4),
		.ack = wire_get16(buf + 6),
		.payload = buf + FRAME_HEADER_BYTES,
		.len = n - FRAME_HEADER_BYTES,
	};
	return FRAME_OK;
}

bool frame_split(struct frame_splitter *s, uint8_t byte, bool *dropped)
{
	*dropped = false;
	if (s->whole) {
		s->len = 0;
		s->whole = false;
	}
	if (byte) {
		if (s->len == sizeof(s->buf))
			s->overrun = true;
		else
			s->buf[s->len++] = byte;
		return false;
	}
	if (s->overrun) {
		*dropped = true;
		s->overrun = false;
		s->len = 0;
	}
	s->whole = s->len > 0;
	return s->whole;
}
