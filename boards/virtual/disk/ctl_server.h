/* boards/virtual/disk/ctl_server.h - the control socket: a Unix stream socket
 * served by one thread. */
#ifndef BOARDS_VIRTUAL_DISK_CTL_SERVER_H
#define BOARDS_VIRTUAL_DISK_CTL_SERVER_H

#include "boards/virtual/disk/shell.h"

struct ctl_server;

/* Bind and listen, mode 0600. A socket file that nobody serves is replaced.
 * NULL and errno: EADDRINUSE if somebody does, ENAMETOOLONG, or of the call
 * that failed. `serial` and the path are copied. */
struct ctl_server *ctl_server_new(const char *path, const char *serial);

/* Serve the shell's disk until _free(). 0 or -errno. */
int ctl_server_start(struct ctl_server *srv, struct shell *shell);

/* End the thread, close, remove the socket file. NULL is accepted. */
void ctl_server_free(struct ctl_server *srv);

#endif
