/* host/bench/lock.h - one user of a bench at a time. */
#ifndef HOST_BENCH_LOCK_H
#define HOST_BENCH_LOCK_H

#include "host/bench/bench.h"
#include "host/util/err.h"

/* Take the bench until the descriptor is closed or the process dies. The lock
 * lies beside the bench's run directory, so that it outlives a virtual bench.
 *   what  the command, for the message that others get
 * Returns a descriptor, or -EBUSY with a sentence that names the holder, or
 * why the lock cannot be taken. */
int bench_lock(const struct bench *b, const char *what, struct err *err);

/* Whether another process holds the bench, without taking it: nobody who
 * takes it at the same moment is refused.
 * 0: nobody does, or -EBUSY with the sentence of bench_lock(), or why that
 * cannot be told. */
int bench_lock_look(const struct bench *b, struct err *err);

/* fd < 0 is accepted. */
void bench_unlock(int fd);

#endif
