/* boards/virtual/disk/ctl.h - the control language of a disk: a line of text
 * in, a line of JSON out.
 *
 *   power on | power off        supply of the disk
 *   status                      state, counters, currents
 *   snapshot                    hash of the platters, write cache left out
 *   fault NAME [KEY=NUMBER...]  plant a fault
 *   faults clear | faults list
 *
 * Every answer has "ok"; a false one has "error", one sentence. */
#ifndef BOARDS_VIRTUAL_DISK_CTL_H
#define BOARDS_VIRTUAL_DISK_CTL_H

#include "boards/virtual/disk/vdisk.h"

#define CTL_LINE_MAX   256u
#define CTL_ANSWER_MAX 4096u

enum ctl_verb {
	CTL_POWER_ON,
	CTL_POWER_OFF,
	CTL_STATUS,
	CTL_SNAPSHOT,
	CTL_FAULT,
	CTL_FAULTS_CLEAR,
	CTL_FAULTS_LIST,
};

struct ctl_cmd {
	enum ctl_verb verb;
	char fault[32];
	struct vdisk_fault_arg arg[VDISK_FAULT_ARGS];
	unsigned arg_count;
};

/* Understand a line without its newline; any bytes may be in it. 0, or -EINVAL
 * with one printable sentence in `why` that needs no JSON escapes. */
int ctl_parse(const char *line, size_t n, struct ctl_cmd *cmd, char why[128]);

/* Do it to the disk at its present time. The answer is a terminated string with
 * a newline at its end. */
void ctl_execute(struct vdisk *d, const char *serial, const struct ctl_cmd *cmd,
		 char answer[CTL_ANSWER_MAX]);

void ctl_refuse(const char *why, char answer[CTL_ANSWER_MAX]);

/* The same, with "usage":true: the command itself is wrong. */
void ctl_refuse_usage(const char *why, char answer[CTL_ANSWER_MAX]);

/* Lines out of a stream of bytes. */
struct ctl_lines {
	char line[CTL_LINE_MAX];
	size_t n;
	bool overflow; /* the line so far is too long */
};

/* Take one byte. True: `line` holds n bytes of a whole line (or overflow is
 * set); call ctl_lines_next() before the next byte. */
bool ctl_lines_take(struct ctl_lines *l, char byte);
void ctl_lines_next(struct ctl_lines *l);

#endif
