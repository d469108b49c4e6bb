/* port/posix/posix.h - what the files of this port share. One process, one
 * thread; the state is one struct, as a chip has one set of registers. */
#ifndef PORT_POSIX_POSIX_H
#define PORT_POSIX_POSIX_H

#include "firmware/app/board.h"
#include "firmware/port/posix/backplane_proto.h"
#include "firmware/port/posix/parts.h"

#define POSIX_RETAINED_BYTES 8192u

/* A listening Unix socket and at most one client. */
struct posix_socket {
	const char *path; /* NULL: not wanted */
	int listener;     /* -1: none */
	int client;       /* -1: none */
};

/* Memory that a reset of the MCU does not touch: it lies in a file without a
 * name, which the process keeps open when it executes itself anew. */
struct posix_lasting {
	uint64_t retained[POSIX_RETAINED_BYTES / 8];
	uint8_t eeprom[PARTS_EEPROM_BYTES]; /* unless it has a file */
};

struct posix {
	char **argv; /* to start again with */
	struct posix_socket uart;
	struct posix_socket backplane;
	const char *eeprom_path; /* NULL: in memory only */
	bool stepped;
	uint64_t now_us; /* stepped time */
	uint64_t start_us;
	struct parts parts;
	int lasting_fd;
	struct posix_lasting *lasting;
	bool gate[RIG_SLOTS_MAX * RIG_RAILS];
	bool active[RIG_SLOTS_MAX];
	uint32_t edges[RIG_SLOTS_MAX];
	char line[BACKPLANE_PROTO_LINE];
	size_t line_len;
	reset_cause cause;
	uint32_t watchdog_ms;
	bool hang;
};

extern struct posix posix;

/* main.c of the firmware, which this port starts. */
int firmware_main(void);

/* hal.c: memory, parts and time as after reset. 0 or -errno. */
int posix_hal_start(void);

/* sockets.c. 0 or -errno. */
int posix_listen(struct posix_socket *s);
/* Take a waiting client; it replaces the one before. */
bool posix_accept(struct posix_socket *s);
void posix_close_client(struct posix_socket *s);

/* backplane.c: tell the client, if there is one. */
void posix_backplane_say(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* What a new client is told first. */
void posix_backplane_hello(void);
/* Take what the client has sent. */
void posix_backplane_read(void);
/* One line from the backplane, without its newline. */
void posix_backplane_line(const char *line);

/* reset.c: take over what the process before this reset has left.
 * Returns false if this is a first start. */
bool posix_inherit(void);

#endif
