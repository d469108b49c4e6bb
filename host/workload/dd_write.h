/* host/workload/dd_write.h - the parser of dd's own count, for tests. */
#ifndef HOST_WORKLOAD_DD_WRITE_H
#define HOST_WORKLOAD_DD_WRITE_H

#include <stdint.h>

/* Bytes of the last "N bytes (...) copied, T s, R" in dd's stderr, as GNU dd
 * prints it at its end and after SIGINT. -EBADMSG: no such line. */
int dd_parse_bytes(const char *text, uint64_t *bytes);

#endif
