/* boards/virtual/disk/tests/nbd_disk.h - nbdkit with the plugin as a child, its
 * control socket and an NBD connection to it. For tests and the rate
 * measurement. Every function ends the program with a message on failure,
 * unless it says otherwise. */
#ifndef BOARDS_VIRTUAL_DISK_TESTS_NBD_DISK_H
#define BOARDS_VIRTUAL_DISK_TESTS_NBD_DISK_H

#include <stddef.h>
#include <sys/types.h>

#include <libnbd.h>

struct nbd_disk {
	char dir[64];
	char nbd[96];
	char ctl[96];
	char image[96];
	pid_t pid;
	int ctl_fd;
	struct nbd_handle *h;
};

/* A private directory. */
void nbd_disk_init(struct nbd_disk *d);

/* Start nbdkit with `plugin` and up to 8 KEY=VALUE parameters, NULL at the end,
 * in addition to serial and ctl, and connect. Ends with this process. */
void nbd_disk_start(struct nbd_disk *d, const char *plugin,
		    const char *const *params);

/* SIGTERM, or SIGKILL; wait for its end; close the connections. The exit
 * status of wait(2). */
int nbd_disk_stop(struct nbd_disk *d, int signal);

/* Remove the directory. */
void nbd_disk_fini(struct nbd_disk *d);

/* One control line; the answer without its newline. */
void nbd_disk_ask(struct nbd_disk *d, const char *line, char *answer,
		  size_t size);

#endif
