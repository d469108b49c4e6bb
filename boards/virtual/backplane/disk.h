/* backplane/disk.h - client of one disk model's control socket: keeps its
 * power as wanted and asks how it is. Event loop context. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_DISK_H
#define BOARDS_VIRTUAL_BACKPLANE_DISK_H

#include "boards/virtual/backplane/conn.h"

/* One answer of the disk model, as it came; NULL: the connection is lost. */
typedef void (*bp_disk_fn)(void *arg, const char *answer);

/* Called for each state that is not older than the last power command, and
 * with known = false when the disk model is gone. */
typedef void (*bp_disk_state_fn)(void *arg, unsigned int slot,
				 const struct bp_disk_state *state);

struct bp_disk_request;

struct bp_disk {
	struct bp_conn conn;
	unsigned int slot;
	char serial[64];
	bool power_sent_known;
	bool power_sent;
	unsigned int power_pending;
	bool status_pending;
	uint64_t status_us; /* when the state was asked for last */
	struct bp_disk_request *head;
	struct bp_disk_request **tail;
	bp_disk_state_fn fn;
	void *arg;
};

/* RUN/disk-SERIAL.ctl of a disk in a slot. */
void bp_disk_open(struct bp_disk *d, uv_loop_t *loop, const char *run,
		  unsigned int slot, const char *serial, bp_disk_state_fn fn,
		  void *arg);

/* Once a tick: send the power that is wanted if it is not what was sent
 * last, and ask for the state every 50 ms. */
void bp_disk_tick(struct bp_disk *d, bool power, uint64_t now_us);

/* Send any other command; fn hears of its answer, at once with NULL if the
 * disk model is not there. */
void bp_disk_command(struct bp_disk *d, const char *text, bp_disk_fn fn,
		     void *arg);

void bp_disk_close(struct bp_disk *d);

#endif
