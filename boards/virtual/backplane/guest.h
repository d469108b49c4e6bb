/* backplane/guest.h - plugs disks into the guest and pulls them out: keeps
 * what qemu-system-x86 has attached the way the model wants it, across
 * restarts of the guest. Event loop context. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_GUEST_H
#define BOARDS_VIRTUAL_BACKPLANE_GUEST_H

#include "boards/virtual/backplane/qmp.h"

struct bp_guest;

struct bp_guest_disk {
	struct bp_guest *guest;
	unsigned int slot;
	char serial[64]; /* empty: nothing in this slot */
	bool attached;
	bool busy;              /* a request is under way */
	uint64_t not_before_us; /* of the next try */
};

struct bp_guest {
	struct bp_qmp qmp;
	bool known; /* what is attached has been read */
	bool agent; /* the agent has its port open */
	uint64_t now_us;
	struct bp_guest_disk disk[BP_SLOTS];
};

/* RUN/qmp-dut.sock. */
void bp_guest_open(struct bp_guest *g, uv_loop_t *loop, const char *run);

/* A disk that can be plugged, before the loop runs. */
void bp_guest_add(struct bp_guest *g, unsigned int slot, const char *serial);

/* Once a tick: what the guest should see of a slot. */
void bp_guest_tick(struct bp_guest *g, unsigned int slot, bool present,
		   uint64_t now_us);

/* True if the guest has the disk of this slot. */
bool bp_guest_attached(const struct bp_guest *g, unsigned int slot);

bool bp_guest_online(const struct bp_guest *g);

/* True while a program in the guest has the agent's port open. */
bool bp_guest_agent(const struct bp_guest *g);
void bp_guest_close(struct bp_guest *g);

#endif
