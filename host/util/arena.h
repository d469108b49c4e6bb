/* host/util/arena.h - memory that is freed all at once, for building messages
 * and argument vectors. A zeroed struct arena is empty and valid. Running out
 * of memory ends the process: a request is small, so there is nothing left to
 * unwind to. */
#ifndef HOST_UTIL_ARENA_H
#define HOST_UTIL_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
};

/* Zeroed and aligned for any type; valid until arena_free. */
void *arena_alloc(struct arena *a, size_t bytes);
void *arena_array(struct arena *a, size_t count, size_t each);
char *arena_strdup(struct arena *a, const char *text);
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *a,
							 const char *fmt, ...);
void arena_free(struct arena *a);

/* A NULL-ended argument vector that grows. Zero-initialise with its arena. */
struct argv {
	struct arena *arena;
	const char **arg;
	size_t count;
	size_t cap;
};

void argv_add(struct argv *v, const char *arg);
__attribute__((format(printf, 2, 3))) void argv_addf(struct argv *v,
						     const char *fmt, ...);

#endif
