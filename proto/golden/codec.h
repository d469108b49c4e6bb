/* proto/golden/codec.h - read a golden message with one implementation and
 * write it again. The two cannot share a source file: their types have the
 * same names. */
#ifndef PROTO_GOLDEN_CODEC_H
#define PROTO_GOLDEN_CODEC_H

#include <stddef.h>
#include <stdint.h>

#define CODEC_BYTES 1024
#define CODEC_BAD   SIZE_MAX

/* type: lower case, as in the file names.
 * Returns the bytes written to out[CODEC_BYTES]; CODEC_BAD: unknown type, or
 * the message cannot be read or written. Unknown fields are left out. */
size_t codec_nanopb(const char *type, const uint8_t *in, size_t len,
		    uint8_t *out);
size_t codec_protobuf_c(const char *type, const uint8_t *in, size_t len,
			uint8_t *out);

#endif
