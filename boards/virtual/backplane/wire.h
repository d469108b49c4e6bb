/* backplane/wire.h - decoders of what emulators and disk models say.
 *
 * Lines in, structs out; every byte may be foreign. Nothing here does I/O.
 */
#ifndef BOARDS_VIRTUAL_BACKPLANE_WIRE_H
#define BOARDS_VIRTUAL_BACKPLANE_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boards/virtual/backplane/model.h"

#define BP_LINE_MAX 65536

/* Splits a byte stream at LF. A line of BP_LINE_MAX bytes or more is thrown
 * away as a whole and counted. */
struct bp_lines {
	char buf[BP_LINE_MAX];
	size_t len;
	bool skipping;
	uint32_t dropped;
};

typedef void (*bp_line_fn)(void *arg, const char *line);

void bp_lines_init(struct bp_lines *l);

/* Calls fn for each line that data completes, without its LF or CR LF and
 * with NUL bytes replaced by '?'. fn must not feed the same splitter. */
void bp_lines_feed(struct bp_lines *l, const char *data, size_t len,
		   bp_line_fn fn, void *arg);

/* A line of QEMU's trace of its PL061 models. */
enum bp_trace_kind {
	BP_TRACE_OTHER,
	BP_TRACE_OUTPUT, /* an output pin changed */
	BP_TRACE_RESET,  /* the port was reset, its outputs float */
};

struct bp_trace {
	enum bp_trace_kind kind;
	unsigned int device; /* N of /machine/unattached/device[N] */
	unsigned int pin;    /* 0..7 */
	bool level;
};

void bp_trace_parse(struct bp_trace *t, const char *line);

/* A line from a qtest server. */
enum bp_qtest_kind {
	BP_QTEST_OTHER,
	BP_QTEST_OK,
	BP_QTEST_FAIL,
	BP_QTEST_IRQ,
};

struct bp_qtest {
	enum bp_qtest_kind kind;
	uint64_t value; /* OK: what was read, 0 if nothing. IRQ: number */
	bool level;     /* IRQ */
};

void bp_qtest_parse(struct bp_qtest *q, const char *line);

/* A line from the firmware of board posix, whose words are documented in
 * firmware/port/posix/backplane_proto.h. */
enum bp_posix_kind {
	BP_POSIX_OTHER,
	BP_POSIX_HELLO, /* of the version we know */
	BP_POSIX_RESET,
	BP_POSIX_GATE,
};

struct bp_posix {
	enum bp_posix_kind kind;
	unsigned int slot; /* GATE: below BP_SLOTS */
	enum bp_rail rail; /* GATE */
	bool level;        /* GATE */
};

void bp_posix_parse(struct bp_posix *p, const char *line);

/* A line from a QMP server. The strings and objects belong to root. */
enum bp_qmp_kind {
	BP_QMP_OTHER,
	BP_QMP_GREETING,
	BP_QMP_RETURN,
	BP_QMP_ERROR,
	BP_QMP_EVENT,
};

struct bp_qmp_msg {
	enum bp_qmp_kind kind;
	json_t *root;       /* caller frees with bp_qmp_msg_free() */
	json_int_t id;      /* RETURN, ERROR: 0 if the server gave none */
	const char *name;   /* EVENT: its name, ERROR: its class */
	const char *detail; /* ERROR: its sentence */
	const json_t *data; /* RETURN: value, EVENT: data or NULL */
};

void bp_qmp_msg_parse(struct bp_qmp_msg *m, const char *line);
void bp_qmp_msg_free(struct bp_qmp_msg *m);

/* Of a qom-list answer: the numbers of the unattached devices of a type, in
 * rising order. Returns how many, at most max. */
size_t bp_qmp_devices(const json_t *list, const char *type,
		      unsigned int *device, size_t max);

/* Answer of a disk model to "status": 0, or -EBADMSG if it is not one, or
 * -EREMOTEIO if it says so itself. d is complete only with 0. */
int bp_disk_parse(struct bp_disk_state *d, const char *line);

/* Answer to any other command: 0, -EREMOTEIO (its sentence in err), or
 * -EBADMSG. */
int bp_disk_parse_ack(const char *line, char *err, size_t err_size);

#endif
