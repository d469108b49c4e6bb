#include "host/bench/vbench_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/util/fs.h"
#include "host/util/log.h"

/* What goes through the pipe: one record a write, all of one size. */
enum record_kind {
	RECORD_PROGRESS,
	RECORD_READY,
	RECORD_FAILED,
};

struct record {
	enum record_kind kind;
	int rc;
	char text[ERR_TEXT_BYTES];
};

/* ---- the supervisor's side ---- */

static void tell(int fd, enum record_kind kind, int rc, const char *text)
{
	struct record r = { .kind = kind, .rc = rc };
	ssize_t n;

	snprintf(r.text, sizeof(r.text), "%s", text);
	n = write(fd, &r, sizeof(r));
	(void)n; /* a starter that died has already had us signalled */
}

static void on_progress(void *arg, const char *text)
{
	tell(*(int *)arg, RECORD_PROGRESS, 0, text);
}

/* From here on the bench lives on its own. */
static void on_ready(void *arg)
{
	int *fd = arg;

	prctl(PR_SET_PDEATHSIG, 0);
	tell(*fd, RECORD_READY, 0, "");
	close(*fd);
	*fd = -1;
}

/* Nothing of the starter's terminal or pipes is kept. */
static void redirect(const char *run)
{
	char path[FS_PATH_BYTES];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = -1;

	if (!fs_path(path, "%s/bench.log", run))
		log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			   0600);
	if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 ||
	    dup2(log, 2) < 0)
		log_warn("cannot write %s", path);
	if (null > 2)
		close(null);
	if (log > 2)
		close(log);
}

/* vbench_run() makes the runtime directory and clears it, so the log is
 * opened when the first message of progress proves it is there. */
struct daemon {
	int fd;
	const char *run;
	bool redirected;
};

static void daemon_progress(void *arg, const char *text)
{
	struct daemon *d = arg;

	if (!d->redirected) {
		d->redirected = true;
		redirect(d->run);
	}
	on_progress(&d->fd, text);
}

static void daemon_ready(void *arg)
{
	struct daemon *d = arg;

	on_ready(&d->fd);
}

__attribute__((noreturn)) static void daemon_main(const struct vbench_cfg *cfg,
						  int fd, pid_t starter)
{
	struct daemon d = { .fd = fd, .run = cfg->run };
	struct vbench_watch watch = { .progress = daemon_progress,
				      .ready = daemon_ready,
				      .arg = &d };
	struct err err = { 0 };
	int rc;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != starter)
		_exit(1);
	log_init("bay-bench", false);
	rc = vbench_run(cfg, &watch, &err);
	if (d.fd >= 0)
		tell(d.fd, RECORD_FAILED, rc, err.text);
	_exit(rc ? 1 : 0);
}

/* ---- the starter's side ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = sig;
}

/* Without SA_RESTART, so that read() returns. */
static void catch_signals(struct sigaction old[3], bool restore)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_interrupt };

	for (unsigned int i = 0; i < 3; i++) {
		if (restore)
			sigaction(signals[i], &old[i], NULL);
		else
			sigaction(signals[i], &sa, &old[i]);
	}
}

/* 1: a record; 0: the supervisor is gone. */
static int next_record(int fd, pid_t pid, struct record *r)
{
	bool told = false;

	for (;;) {
		ssize_t n = read(fd, r, sizeof(*r));

		if (n == (ssize_t)sizeof(*r))
			return 1;
		if (n >= 0 || errno != EINTR)
			return 0;
		if (interrupted && !told) {
			kill(pid, SIGTERM);
			told = true;
		}
	}
}

static int follow(int fd, pid_t pid, vbench_progress_fn fn, void *arg,
		  struct err *err)
{
	struct record r;

	while (next_record(fd, pid, &r)) {
		if (r.kind == RECORD_PROGRESS && fn)
			fn(arg, r.text);
		if (r.kind == RECORD_READY)
			return 0;
		if (r.kind == RECORD_FAILED)
			return err_set(err, r.rc ? r.rc : -EIO, "%s", r.text);
	}
	return err_set(err, -EIO, "the supervisor of the bench died");
}

int vbench_daemon(const struct vbench_cfg *cfg, vbench_progress_fn fn,
		  void *arg, struct err *err)
{
	struct sigaction old[3];
	pid_t starter = getpid();
	int fds[2];
	pid_t pid;
	int rc;

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, -errno, "pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		rc = -errno;
		close(fds[0]);
		close(fds[1]);
		return err_sys(err, rc, "fork");
	}
	if (!pid) {
		close(fds[0]);
		daemon_main(cfg, fds[1], starter);
	}
	close(fds[1]);
	catch_signals(old, false);
	rc = follow(fds[0], pid, fn, arg, err);
	if (rc)
		waitpid(pid, NULL, 0);
	catch_signals(old, true);
	close(fds[0]);
	return rc;
}
