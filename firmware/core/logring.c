#include "firmware/core/logring.h"

#include <stdarg.h>
#include <string.h>

#define DIGITS_MAX 10u /* of 32 bits, in base 10 */

void logring_init(struct logring *r)
{
	memset(r, 0, sizeof(*r));
	r->next = 1;
	r->cursor = 1;
}

static uint32_t oldest(const struct logring *r)
{
	return r->next > LOGRING_ENTRIES ? r->next - LOGRING_ENTRIES : 1;
}

/* An int's bits, or a pointer: what goes into the ring is never printed here,
 * for the caller may be about to close a gate. */
static void take_args(struct logring_entry *e, va_list ap)
{
	unsigned n = 0;

	for (const char *p = strchr(e->format, '%'); p && n < LOGRING_ARGS;
	     p = strchr(p + 2, '%')) {
		if (p[1] == 's')
			e->arg[n++] = (uintptr_t)va_arg(ap, const char *);
		else if (p[1] != '%')
			e->arg[n++] = va_arg(ap, unsigned);
	}
}

void logring_add(struct logring *r, enum logring_level level, uint64_t at_us,
		 const char *format, ...)
{
	struct logring_entry *e = &r->entry[r->next % LOGRING_ENTRIES];
	va_list ap;

	if (r->next > LOGRING_ENTRIES && r->next - LOGRING_ENTRIES > r->sent)
		r->dropped++;
	e->format = format;
	e->level = (uint8_t)level;
	for (unsigned i = 0; i < 3; i++)
		e->at[i] = (uint16_t)(at_us >> (16 * i));
	va_start(ap, format);
	take_args(e, ap);
	va_end(ap);
	r->next++;
	if (r->cursor < oldest(r))
		r->cursor = oldest(r);
}

void logring_skip(struct logring *r)
{
	r->cursor = r->next;
}

void logring_rewind(struct logring *r)
{
	r->cursor = oldest(r);
}

uint32_t logring_waiting(const struct logring *r)
{
	return r->next - r->cursor;
}

/* ---- text ---- */

struct text {
	char *at;
	char *end; /* of the room, where the terminating 0 fits */
};

static void put_char(struct text *t, char c)
{
	if (t->at < t->end)
		*t->at++ = c;
}

static void put_string(struct text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

static void put_number(struct text *t, uint32_t v, unsigned base)
{
	char digits[DIGITS_MAX];
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n)
		put_char(t, digits[--n]);
}

static void put_arg(struct text *t, char conversion, uintptr_t arg)
{
	uint32_t v = (uint32_t)arg;

	if (conversion == 's') {
		put_string(t, (const char *)arg);
		return;
	}
	if (conversion == 'd' && (int32_t)v < 0) {
		put_char(t, '-');
		v = 0u - v;
	}
	put_number(t, v, conversion == 'x' ? 16 : 10);
}

static void put_line(struct text *t, const struct logring_entry *e)
{
	unsigned n = 0;

	for (const char *p = e->format; *p; p++) {
		if (*p != '%') {
			put_char(t, *p);
			continue;
		}
		p++;
		if (*p == '%')
			put_char(t, '%');
		else if (n < LOGRING_ARGS)
			put_arg(t, *p, e->arg[n++]);
	}
	*t->at = '\0';
}

bool logring_peek(const struct logring *r, LogLine *out)
{
	const struct logring_entry *e = &r->entry[r->cursor % LOGRING_ENTRIES];
	struct text t = { out->text, out->text + sizeof(out->text) - 1 };

	if (!logring_waiting(r))
		return false;
	out->sequence = r->cursor;
	out->dropped = r->dropped;
	out->at_us =
		e->at[0] | (uint64_t)e->at[1] << 16 | (uint64_t)e->at[2] << 32;
	out->level = e->level;
	put_line(&t, e);
	return true;
}

void logring_pop(struct logring *r)
{
	if (r->cursor > r->sent)
		r->sent = r->cursor;
	r->cursor++;
}
