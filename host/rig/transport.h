/* host/rig/transport.h - the byte stream to a rig: a file descriptor that
 * does not block, whatever is behind it. */
#ifndef HOST_RIG_TRANSPORT_H
#define HOST_RIG_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/rig/rig.h"
#include "host/util/err.h"

struct sp_port;

struct transport {
	int fd; /* -1: closed */
	struct sp_port *port;
};

/* What to call an address in messages before it was ever opened. */
void transport_name(const struct rig_address *a, char *text, size_t size);

/* Open. For a serial port found by USB id the search is made anew each time:
 * after being plugged in again it may have another name.
 *   where  out, size bytes: what was opened; untouched on failure
 * 0 or -errno. */
int transport_open(struct transport *t, const struct rig_address *a,
		   char *where, size_t size, struct err *err);
void transport_close(struct transport *t);

/* Bytes read, -EAGAIN, or another -errno; end of file is -EPIPE. */
ssize_t transport_read(struct transport *t, void *buf, size_t size);
/* Bytes written or -errno. */
ssize_t transport_write(struct transport *t, const void *buf, size_t len);

/* Find the tty of a USB device (discover.c).
 *   path  out, size bytes
 * 0; -ENODEV: none; -EEXIST: several match; -ENXIO: the device is there but
 * has no serial port. */
int discover_tty(const struct rig_address *a, char *path, size_t size,
		 struct err *err);

#endif
