#include "host/util/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/util/log.h"

#define ARENA_BLOCK_BYTES 8192u
#define ARENA_ALIGN       alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	alignas(max_align_t) char data[];
};

static struct arena_block *arena_block_or_die(size_t bytes)
{
	size_t size = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
	struct arena_block *b = calloc(1, sizeof(*b) + size);

	if (!b)
		fatalx(1, "out of memory for %zu bytes", bytes);
	b->size = size;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	size_t need = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	struct arena_block *b = a->head;
	void *p;

	if (!b || b->size - b->used < need) {
		b = arena_block_or_die(need);
		b->next = a->head;
		a->head = b;
	}
	p = b->data + b->used;
	b->used += need;
	return p;
}

void *arena_array(struct arena *a, size_t count, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, each, &bytes))
		fatalx(1, "out of memory for %zu items", count);
	return arena_alloc(a, bytes);
}

char *arena_strdup(struct arena *a, const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(arena_alloc(a, n), text, n);
}

__attribute__((format(printf, 2, 0))) static char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	char *heap = NULL;
	char *text;

	if (vasprintf(&heap, fmt, ap) < 0)
		fatalx(1, "out of memory for a text");
	text = arena_strdup(a, heap);
	free(heap);
	return text;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return text;
}

void arena_free(struct arena *a)
{
	struct arena_block *b = a->head;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	a->head = NULL;
}

void argv_add(struct argv *v, const char *arg)
{
	if (v->count + 2 > v->cap) {
		size_t cap = v->cap ? 2 * v->cap : 32;
		const char **grown = arena_array(v->arena, cap, sizeof(*grown));

		if (v->count)
			memcpy(grown, v->arg, v->count * sizeof(*grown));
		v->arg = grown;
		v->cap = cap;
	}
	v->arg[v->count++] = arena_strdup(v->arena, arg);
	v->arg[v->count] = NULL;
}

void argv_addf(struct argv *v, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(v->arena, fmt, ap);
	va_end(ap);
	argv_add(v, text);
}
