/* proto/link/crc32c.h - CRC-32C (Castagnoli), reflected 0x82F63B78. No state.
 */
#ifndef PROTO_LINK_CRC32C_H
#define PROTO_LINK_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define CRC32C_INIT 0xffffffffu

/* Feed len bytes; start with CRC32C_INIT, finish with crc32c_final(). */
uint32_t crc32c_update(uint32_t crc, const void *data, size_t len);

static inline uint32_t crc32c_final(uint32_t crc)
{
	return crc ^ 0xffffffffu;
}

/* Checksum of one buffer; "123456789" gives 0xe3069283. */
uint32_t crc32c(const void *data, size_t len);

#endif
