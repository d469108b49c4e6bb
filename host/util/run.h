/* host/util/run.h - children by argument vector: the only exec in the tree.
 *
 * A child is the leader of its own process group; killing it kills the group.
 * It gets default signal handling, an empty signal mask, no descriptor but
 * 0, 1, 2 (and barrier_fd until exec), and SIGKILL when the thread that
 * started it dies, unless outlive is set. Needs Linux 5.3 (pidfd_open). */
#ifndef HOST_UTIL_RUN_H
#define HOST_UTIL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/util/buf.h"
#include "host/util/err.h"

#define RUN_OUT_MAX  (64u * 1024) /* default bound of captured output, bytes */
#define RUN_WAIT_MAX 4096u        /* children of one run_wait */

struct run_spec {
	const char *const *argv; /* NULL-ended; argv[0] is searched in PATH */
	const char *const *env;  /* NULL-ended NAME=value, added; may be NULL */
	const char *cwd;         /* NULL: ours */
	const void *input;       /* for its stdin, at most 64 KiB; NULL: none */
	size_t input_len;
	uint32_t deadline_ms; /* SIGKILL to the group then; 0 = never */
	size_t out_max;       /* of stdout and of stderr; 0 = RUN_OUT_MAX */
	/* > 0: this descriptor becomes the child's 0, 1, 2 instead of
	 * /dev/null and the two captured pipes. Stays the caller's. */
	int in_fd, out_fd, err_fd;
	/* > 0: the child waits after fork until this descriptor reads or is
	 * at its end, then execs. The start barrier: make a pipe, start all,
	 * close the write end. */
	int barrier_fd;
	/* > 0: ends the wait of run() with -ECANCELED when readable. */
	int cancel_fd;
	bool outlive; /* survives us (daemons) */
};

struct run_child {
	pid_t pid;  /* 0: not started or reaped */
	int pidfd;  /* readable when it has ended; -1 */
	int out_fd; /* our ends of the captured pipes, non-blocking; -1 */
	int err_fd;
	struct buf out; /* what it wrote so far, terminated */
	struct buf err;
	bool out_cut; /* more came than out_max and was dropped */
	size_t out_max;
	int exit_code;     /* >= 0 exit status; < 0 minus the signal */
	bool ended;        /* exit_code is valid */
	bool timed_out;    /* killed by the deadline of run() */
	uint64_t start_ns; /* CLOCK_MONOTONIC: fork, and the moment at which */
	uint64_t end_ns;   /* its end was seen */
};

/* Start and return at once. -errno with err set: nothing runs (ENOENT: no such
 * program). With barrier_fd, failure to exec shows as exit code 127. */
int run_start(struct run_child *c, const struct run_spec *spec,
	      struct err *err);

/* Collect output and ends of n children for at most timeout_ms (-1: until all
 * have ended; 0: only what is there). wake_fd > 0 also ends the wait when
 * readable. Returns the number of children that have not ended, or -errno
 * (-E2BIG: n is more than RUN_WAIT_MAX).
 * NULL entries and children that were not started are skipped. */
int run_wait(struct run_child *const *children, size_t n, int timeout_ms,
	     int wake_fd);

/* Signal to its whole group. 0, or -ESRCH when it has ended. */
int run_kill(struct run_child *c, int sig);

/* Kill if still running, reap for at most grace_ms, free what it holds.
 * -EBUSY: it does not die (D state); it is left behind, memory is freed. */
int run_close(struct run_child *c, uint32_t grace_ms);

/* Start, wait to the end, and leave the outcome in c; run_close is due in
 * each case. 0: it ended, look at exit_code. -ETIMEDOUT, -ECANCELED: killed.
 * -EBUSY: killed but does not die. */
int run(struct run_child *c, const struct run_spec *spec, struct err *err);

/* As run, and any exit but 0 is an error: -EIO and a sentence of the program's
 * name, its exit and run_last_line(). c may be NULL. */
int run_ok(struct run_child *c, const struct run_spec *spec, struct err *err);

/* Last line of its stderr that is neither empty nor, behind another one,
 * indented or part of a usage text, which begins at a line of "usage:" or
 * "try '"; or "". Cuts c->err there; valid until run_close. */
const char *run_last_line(struct run_child *c);

/* "exit status 2", "killed by signal 9 (Killed)". */
void run_exit_text(const struct run_child *c, char *text, size_t size);

#endif
