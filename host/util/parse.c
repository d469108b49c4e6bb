#include "host/util/parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *parse_digits(const char *text, uint64_t *out, int *rc)
{
	uint64_t v = 0;
	const char *p = text;

	*rc = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			*rc = -ERANGE;
	}
	if (p == text)
		*rc = -EINVAL;
	*out = v;
	return p;
}

int parse_u64(const char *text, uint64_t *out)
{
	uint64_t v;
	int rc;
	const char *end = parse_digits(text, &v, &rc);

	if (rc == -EINVAL || *end)
		return -EINVAL;
	if (rc)
		return rc;
	*out = v;
	return 0;
}

int parse_u64_range(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;
	int rc = parse_u64(text, &v);

	if (rc)
		return rc;
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_u32_range(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t v;
	int rc = parse_u64_range(text, min, max, &v);

	if (rc)
		return rc;
	*out = (uint32_t)v;
	return 0;
}

int parse_i64(const char *text, int64_t *out)
{
	bool neg = *text == '-';
	uint64_t v;
	int rc = parse_u64(text + neg, &v);

	if (rc)
		return rc;
	if (v > (uint64_t)INT64_MAX + neg)
		return -ERANGE;
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int parse_double(const char *text, double *out)
{
	char *end;
	double v;

	if (*text == '\0' || isspace((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtod(text, &end);
	if (*end || end == text)
		return -EINVAL;
	if (errno == ERANGE || !isfinite(v))
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kMGT";
	uint64_t v;
	unsigned shift = 0;
	int rc;
	const char *p = parse_digits(text, &v, &rc);

	if (rc == -EINVAL)
		return rc;
	if (*p) {
		char c = *p == 'K' ? 'k' : *p;
		const char *u = c == 'B' ? NULL : strchr(units, c);

		if (u) {
			shift = 10u * (unsigned)(u - units + 1);
			p++;
		}
		if (u && p[0] == 'i' && p[1] == 'B')
			p += 2;
		else if (*p == 'B')
			p++;
	}
	if (*p)
		return -EINVAL;
	if (rc || v > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = v << shift;
	return 0;
}

int parse_bool(const char *text, bool *out)
{
	static const char *const words[2][4] = {
		{ "false", "no", "off", "0" },
		{ "true", "yes", "on", "1" },
	};

	for (unsigned i = 0; i < 8; i++) {
		if (strcmp(text, words[i / 4][i % 4]) == 0) {
			*out = i / 4;
			return 0;
		}
	}
	return -EINVAL;
}

bool parse_next_u64(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s == end || *s < '0' || *s > '9')
		return false;
	for (; s < end && *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	*p = s;
	*out = v;
	return true;
}

char *str_trim(char *text)
{
	size_t n;

	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	return text;
}

bool str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);
	bool fits = n < size;

	if (!fits)
		n = size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
	return fits;
}
