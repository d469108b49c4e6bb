/* host/util/buf.h - growable bytes. A zeroed struct buf is empty and valid. */
#ifndef HOST_UTIL_BUF_H
#define HOST_UTIL_BUF_H

#include <stddef.h>

struct buf {
	char *data; /* len bytes and a terminating 0 once anything was added */
	size_t len;
	size_t cap;
};

/* Room for at least more bytes behind len. 0 or -ENOMEM (buf unchanged). */
int buf_reserve(struct buf *b, size_t more);
int buf_append(struct buf *b, const void *data, size_t len);
__attribute__((format(printf, 2, 3))) int buf_printf(struct buf *b,
						     const char *fmt, ...);
/* Drop the first n bytes (n <= len). */
void buf_consume(struct buf *b, size_t n);
void buf_clear(struct buf *b);
void buf_free(struct buf *b);
/* Content as a string, "" when empty; valid until the next change. */
const char *buf_str(const struct buf *b);

#endif
