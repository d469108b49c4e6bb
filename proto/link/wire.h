/* proto/link/wire.h - little-endian numbers in byte buffers. */
#ifndef PROTO_LINK_WIRE_H
#define PROTO_LINK_WIRE_H

#include <stdint.h>

static inline void wire_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v & 0xffu);
	p[1] = (uint8_t)(v >> 8);
}

static inline void wire_put32(uint8_t *p, uint32_t v)
{
	wire_put16(p, (uint16_t)(v & 0xffffu));
	wire_put16(p + 2, (uint16_t)(v >> 16));
}

static inline void wire_put64(uint8_t *p, uint64_t v)
{
	wire_put32(p, (uint32_t)(v & 0xffffffffu));
	wire_put32(p + 4, (uint32_t)(v >> 32));
}

static inline uint16_t wire_get16(const uint8_t *p)
{
	return (uint16_t)((uint32_t)p[0] | (uint32_t)p[1] << 8);
}

static inline uint32_t wire_get32(const uint8_t *p)
{
	return (uint32_t)wire_get16(p) | (uint32_t)wire_get16(p + 2) << 16;
}

static inline uint64_t wire_get64(const uint8_t *p)
{
	return (uint64_t)wire_get32(p) | (uint64_t)wire_get32(p + 4) << 32;
}

#endif
