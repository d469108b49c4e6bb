#include "host/sample/text.h"

#include <string.h>

#include "host/util/parse.h"

static const char *text_line_end(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl : end;
}

/* Behind "MAJOR MINOR NAME", if the line is that device's; else NULL. */
static const char *text_match_device(const char *p, const char *end,
				     const char *device, size_t device_len)
{
	uint64_t number;

	if (!parse_next_u64(&p, end, &number) ||
	    !parse_next_u64(&p, end, &number))
		return NULL;
	while (p < end && *p == ' ')
		p++;
	if ((size_t)(end - p) <= device_len || p[device_len] != ' ' ||
	    memcmp(p, device, device_len) != 0)
		return NULL;
	return p + device_len;
}

static unsigned text_known_count(unsigned n)
{
	if (n >= DISK_COUNTERS)
		return DISK_COUNTERS;
	if (n >= 15)
		return 15;
	return n >= 11 ? 11 : 0;
}

unsigned text_diskstats(const char *text, size_t len, const char *device,
			uint64_t counter[DISK_COUNTERS])
{
	const char *end = text + len;
	size_t device_len = strlen(device);

	for (const char *p = text; p < end;) {
		const char *line_end = text_line_end(p, end);
		const char *q =
			text_match_device(p, line_end, device, device_len);
		unsigned n = 0;

		p = line_end + 1;
		if (!q)
			continue;
		memset(counter, 0, DISK_COUNTERS * sizeof(*counter));
		while (n < DISK_COUNTERS &&
		       parse_next_u64(&q, line_end, &counter[n]))
			n++;
		return text_known_count(n);
	}
	return 0;
}

unsigned text_stat(const char *text, size_t len, uint64_t cpu[CPU_FIELDS])
{
	const char *p = text + 4;
	const char *end;
	unsigned n = 0;

	if (len < 5 || memcmp(text, "cpu ", 4) != 0)
		return 0;
	end = text_line_end(text, text + len);
	memset(cpu, 0, CPU_FIELDS * sizeof(*cpu));
	while (n < CPU_FIELDS && parse_next_u64(&p, end, &cpu[n]))
		n++;
	return n >= 4 ? n : 0;
}

static int text_key_index(const char *p, const char *end,
			  const char *const *names, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(end - p) > n && memcmp(p, names[i], n) == 0 &&
		    (p[n] == ' ' || p[n] == ':'))
			return (int)i;
	}
	return -1;
}

void text_keys_find(struct text_keys *k, const char *text, size_t len,
		    const char *const *names, unsigned count)
{
	const char *end = text + len;
	unsigned line = 0;

	k->count = 0;
	for (const char *p = text; p < end && k->count < TEXT_KEYS_MAX;
	     line++) {
		const char *line_end = text_line_end(p, end);
		int i = text_key_index(p, line_end, names, count);

		if (i >= 0) {
			k->key[k->count].line = line;
			k->key[k->count++].out = (unsigned)i;
		}
		p = line_end + 1;
	}
}

size_t text_keys_end(const struct text_keys *k, const char *text, size_t len)
{
	const char *end = text + len;
	const char *p = text;
	unsigned last = k->count ? k->key[k->count - 1].line : 0;

	for (unsigned line = 0; line <= last && p < end; line++)
		p = text_line_end(p, end) + 1;
	return p < end ? (size_t)(p - text) : len;
}

bool text_keys_read(const struct text_keys *k, const char *text, size_t len,
		    uint64_t *out)
{
	const char *end = text + len;
	const char *p = text;
	unsigned line = 0;

	for (unsigned i = 0; i < k->count; i++) {
		const char *line_end;

		for (; line < k->key[i].line && p < end; line++)
			p = text_line_end(p, end) + 1;
		if (p >= end)
			return false;
		line_end = text_line_end(p, end);
		if (line_end == end) /* its number may be cut off */
			return false;
		while (p < line_end && *p != ' ')
			p++;
		if (!parse_next_u64(&p, line_end, &out[k->key[i].out]))
			return false;
	}
	return true;
}
