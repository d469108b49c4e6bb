/* host/matrix/pb.h - growing protobuf-c messages on the heap, so that their
 * free_unpacked() with the default allocator frees all of it. */
#ifndef HOST_MATRIX_PB_H
#define HOST_MATRIX_PB_H

#include <stddef.h>

/* Append a message or string to a repeated field; it then owns entry. 0,
 * -ENOMEM (entry stays the caller's). */
int pb_add(void ***list, size_t *n, void *entry);

/* Replace a string field by a copy. 0, -ENOMEM. */
int pb_set_string(char **field, const char *value);

/* Append a copy to a repeated string. 0, -ENOMEM. */
int pb_add_string(char ***list, size_t *n, const char *value);

#endif
