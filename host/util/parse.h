/* host/util/parse.h - strict numbers and sizes. The whole string must match:
 * no blanks, no sign unless said, no trailing text. 0, -EINVAL (not a number)
 * or -ERANGE (does not fit); out is untouched on failure. */
#ifndef HOST_UTIL_PARSE_H
#define HOST_UTIL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal. */
int parse_u64(const char *text, uint64_t *out);
int parse_u64_range(const char *text, uint64_t min, uint64_t max,
		    uint64_t *out);
int parse_u32_range(const char *text, uint32_t min, uint32_t max,
		    uint32_t *out);
/* Decimal with an optional '-'. */
int parse_i64(const char *text, int64_t *out);
/* As strtod, finite. */
int parse_double(const char *text, double *out);
/* Bytes: digits and an optional k, K, M, G or T (powers of 1024), which may
 * be followed by "iB" or "B": 64k, 100M, 1GiB, 4096. */
int parse_size(const char *text, uint64_t *bytes);
/* true, yes, on, 1 / false, no, off, 0. */
int parse_bool(const char *text, bool *out);

/* Next unsigned decimal in *p after blanks; *p moves behind it. For the
 * kernel's space-separated tables. False at the end or on other text. */
bool parse_next_u64(const char **p, const char *end, uint64_t *out);

/* Strip blanks and newlines at both ends, in place; returns text or a pointer
 * into it. */
char *str_trim(char *text);
bool str_starts(const char *text, const char *prefix);
/* Copy with truncation; false when it did not fit. size >= 1. */
bool str_copy(char *dst, size_t size, const char *src);

#endif
