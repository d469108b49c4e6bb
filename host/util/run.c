#include "host/util/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/util/clock.h"

#define RUN_INPUT_MAX  65536u /* a pipe takes this much without a reader */
#define RUN_READ_BYTES 4096u
#define RUN_FDS        3u /* of a child: its end, stdout, stderr */
#define RUN_GRACE_MS   2000u
#define RUN_NO_EXEC    127

/* What the forked child needs; everything is prepared before the fork, since
 * only async-signal-safe calls are allowed after it. */
struct run_plan {
	const struct run_spec *spec;
	char **env;
	int fd[3];
	int report_fd; /* CLOEXEC: closes on exec, or carries errno */
	pid_t parent;
};

static int run_pidfd_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

static void run_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void run_child_init(struct run_child *c, const struct run_spec *spec)
{
	*c = (struct run_child){
		.pidfd = -1,
		.out_fd = -1,
		.err_fd = -1,
		.out_max = spec->out_max ? spec->out_max : RUN_OUT_MAX,
	};
}

static char **run_env(const char *const *extra)
{
	size_t n = 0;
	size_t m = 0;
	char **env;

	while (environ && environ[n])
		n++;
	while (extra && extra[m])
		m++;
	env = calloc(n + m + 1, sizeof(*env));
	if (!env)
		return NULL;
	/* Ours first in the list: getenv takes the first match. */
	for (size_t i = 0; i < m; i++)
		env[i] = (char *)(uintptr_t)extra[i];
	for (size_t i = 0; i < n; i++)
		env[m + i] = environ[i];
	return env;
}

__attribute__((noreturn)) static void run_child_fail(const struct run_plan *p)
{
	int code = errno;
	ssize_t n = write(p->report_fd, &code, sizeof(code));

	(void)n;
	_exit(RUN_NO_EXEC);
}

static void run_child_signals(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		(void)signal(s, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* dup2 to 0..2 without treading on a source that is itself below 3. */
static int run_child_fds(struct run_plan *p)
{
	for (int i = 0; i < 3; i++) {
		if (p->fd[i] >= 3)
			continue;
		p->fd[i] = fcntl(p->fd[i], F_DUPFD, 3);
		if (p->fd[i] < 0)
			return -1;
	}
	for (int i = 0; i < 3; i++) {
		if (dup2(p->fd[i], i) < 0)
			return -1;
	}
	return 0;
}

static void run_child_barrier(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

/* Everything above stderr goes but the two descriptors still needed. */
static void run_child_close_others(int a, int b)
{
	unsigned lo = (unsigned)(a < b ? a : b);
	unsigned hi = (unsigned)(a < b ? b : a);

	if (lo > 3)
		(void)syscall(SYS_close_range, 3u, lo - 1, 0u);
	if (hi > lo + 1)
		(void)syscall(SYS_close_range, lo + 1, hi - 1, 0u);
	(void)syscall(SYS_close_range, hi + 1, ~0u, 0u);
}

__attribute__((noreturn)) static void run_child_main(struct run_plan *p)
{
	const struct run_spec *spec = p->spec;
	bool barrier = spec->barrier_fd > 0;

	(void)setpgid(0, 0);
	run_child_signals();
	if (!spec->outlive) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != p->parent) /* died before the prctl */
			_exit(RUN_NO_EXEC);
	}
	if (run_child_fds(p) < 0 || (spec->cwd && chdir(spec->cwd) < 0))
		run_child_fail(p);
	run_child_close_others(p->report_fd,
			       barrier ? spec->barrier_fd : p->report_fd);
	if (barrier) {
		(void)close(p->report_fd); /* the parent does not wait */
		run_child_barrier(spec->barrier_fd);
		(void)close(spec->barrier_fd);
	}
	environ = p->env;
	(void)execvp(spec->argv[0], (char *const *)(uintptr_t)spec->argv);
	if (barrier)
		_exit(RUN_NO_EXEC);
	run_child_fail(p);
}

/* Input small enough for a pipe needs no writer loop. */
static int run_input_pipe(const struct run_spec *spec)
{
	int fds[2];
	ssize_t n;

	if (spec->input_len > RUN_INPUT_MAX)
		return -E2BIG;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	n = spec->input_len ? write(fds[1], spec->input, spec->input_len) : 0;
	close(fds[1]);
	if (n < 0 || (size_t)n != spec->input_len) {
		close(fds[0]);
		return -EIO;
	}
	return fds[0];
}

static int run_open_stdin(const struct run_spec *spec)
{
	int fd;

	if (spec->in_fd > 0)
		return fcntl(spec->in_fd, F_DUPFD_CLOEXEC, 3);
	if (spec->input)
		return run_input_pipe(spec);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Child's end in *theirs; ours in *ours when the output is captured. */
static int run_open_output(int given, int *theirs, int *ours)
{
	int fds[2];

	if (given > 0) {
		*theirs = fcntl(given, F_DUPFD_CLOEXEC, 3);
		return *theirs < 0 ? -errno : 0;
	}
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*ours = fds[0];
	*theirs = fds[1];
	return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int run_open_fds(struct run_child *c, struct run_plan *p)
{
	int rc;

	p->fd[0] = run_open_stdin(p->spec);
	if (p->fd[0] < 0)
		return p->fd[0];
	rc = run_open_output(p->spec->out_fd, &p->fd[1], &c->out_fd);
	if (!rc)
		rc = run_open_output(p->spec->err_fd, &p->fd[2], &c->err_fd);
	return rc;
}

/* errno of a failed exec, 0 when the exec succeeded. */
static int run_exec_errno(int fd)
{
	int code = 0;
	ssize_t n;

	do {
		n = read(fd, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(code) ? code : 0;
}

static int run_fork(struct run_child *c, struct run_plan *p)
{
	sigset_t all;
	sigset_t old;
	int report[2];
	int code;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	p->report_fd = report[1];
	p->parent = getpid();
	/* No handler of ours may run in the child before its reset. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	c->start_ns = clock_mono_ns();
	c->pid = fork();
	if (c->pid == 0)
		run_child_main(p);
	code = errno;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(report[1]);
	if (c->pid > 0) {
		(void)setpgid(c->pid, c->pid);
		code = run_exec_errno(report[0]);
		if (code)
			(void)waitpid(c->pid, NULL, 0);
	}
	close(report[0]);
	if (c->pid < 0 || code)
		c->pid = 0;
	return code ? -code : 0;
}

int run_start(struct run_child *c, const struct run_spec *spec, struct err *err)
{
	struct run_plan p = { .spec = spec, .fd = { -1, -1, -1 } };
	int rc = -ENOMEM;

	run_child_init(c, spec);
	p.env = run_env(spec->env);
	if (p.env)
		rc = run_open_fds(c, &p);
	if (!rc)
		rc = run_fork(c, &p);
	for (int i = 0; i < 3; i++)
		run_close_fd(&p.fd[i]);
	free(p.env);
	if (!rc) {
		c->pidfd = run_pidfd_open(c->pid);
		if (c->pidfd < 0)
			rc = c->pidfd;
	}
	if (!rc)
		return 0;
	(void)run_close(c, RUN_GRACE_MS);
	return err_sys(err, rc, "cannot start %s", spec->argv[0]);
}

static void run_keep(struct run_child *c, struct buf *b, const char *data,
		     size_t len)
{
	size_t room = b->len < c->out_max ? c->out_max - b->len : 0;

	if (len > room)
		c->out_cut = true;
	if (buf_append(b, data, len < room ? len : room))
		c->out_cut = true;
}

/* Drain one pipe; closes it at its end. */
static void run_read(struct run_child *c, int *fd, struct buf *b)
{
	char part[RUN_READ_BYTES];

	while (*fd >= 0) {
		ssize_t n = read(*fd, part, sizeof(part));

		if (n > 0)
			run_keep(c, b, part, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			run_close_fd(fd);
		else if (errno == EAGAIN)
			return;
	}
}

static void run_reap(struct run_child *c)
{
	siginfo_t si = { 0 };
	int rc;

	if (c->ended || c->pid <= 0)
		return;
	do {
		rc = waitid(P_PID, (id_t)c->pid, &si, WEXITED | WNOHANG);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0 || si.si_pid == 0)
		return;
	c->exit_code = si.si_code == CLD_EXITED ? si.si_status : -si.si_status;
	c->end_ns = clock_mono_ns();
	c->ended = true;
	run_read(c, &c->out_fd, &c->out);
	run_read(c, &c->err_fd, &c->err);
	/* A grandchild may hold the pipes; it does not hold us. */
	run_close_fd(&c->out_fd);
	run_close_fd(&c->err_fd);
	run_close_fd(&c->pidfd);
}

static bool run_is_open(const struct run_child *c)
{
	return c && c->pid > 0 && !c->ended;
}

/* Three entries a child, the wake-up behind them; poll passes over what has no
 * descriptor. Returns how many children have not ended. */
static int run_fill(struct pollfd *fds, struct run_child *const *children,
		    size_t n, int wake_fd)
{
	int open = 0;

	for (size_t i = 0; i < n; i++) {
		const struct run_child *c = children[i];
		bool is_open = run_is_open(c);
		const int part[RUN_FDS] = { is_open ? c->pidfd : -1,
					    is_open ? c->out_fd : -1,
					    is_open ? c->err_fd : -1 };

		for (size_t k = 0; k < RUN_FDS; k++)
			fds[RUN_FDS * i + k] =
				(struct pollfd){ part[k], POLLIN, 0 };
		open += is_open;
	}
	fds[RUN_FDS * n] =
		(struct pollfd){ wake_fd > 0 ? wake_fd : -1, POLLIN, 0 };
	return open;
}

/* What poll has seen, and no system call for the others: of a thousand children
 * few have something at a time. */
static void run_collect(const struct pollfd *fds,
			struct run_child *const *children, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pollfd *p = &fds[RUN_FDS * i];
		struct run_child *c = children[i];

		if (p[1].revents)
			run_read(c, &c->out_fd, &c->out);
		if (p[2].revents)
			run_read(c, &c->err_fd, &c->err);
		if (p[0].revents)
			run_reap(c);
	}
}

/* One poll; true: the wait is over. */
static bool run_wait_once(struct pollfd *fds, struct run_child *const *children,
			  size_t n, int poll_ms, int *rc)
{
	if (poll(fds, RUN_FDS * n + 1, poll_ms) < 0) {
		*rc = errno == EINTR ? 0 : -errno;
		return *rc != 0;
	}
	run_collect(fds, children, n);
	return fds[RUN_FDS * n].revents != 0;
}

int run_wait(struct run_child *const *children, size_t n, int timeout_ms,
	     int wake_fd)
{
	struct deadline d = { 0 };
	struct pollfd *fds;
	bool over = false;
	int open;
	int rc = 0;

	if (n > RUN_WAIT_MAX)
		return -E2BIG;
	if (timeout_ms > 0)
		d = deadline_in_ms((uint64_t)timeout_ms);
	fds = calloc(RUN_FDS * n + 1, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	while ((open = run_fill(fds, children, n, wake_fd)) > 0 && !over) {
		int poll_ms = timeout_ms ? deadline_poll_ms(d) : 0;

		over = run_wait_once(fds, children, n, poll_ms, &rc) ||
		       timeout_ms == 0 || deadline_past(d);
	}
	free(fds);
	return rc < 0 ? rc : open;
}

int run_kill(struct run_child *c, int sig)
{
	if (!run_is_open(c))
		return -ESRCH;
	return kill(-c->pid, sig) < 0 ? -errno : 0;
}

int run_close(struct run_child *c, uint32_t grace_ms)
{
	int rc = 0;

	if (run_is_open(c)) {
		struct run_child *const one[] = { c };

		(void)run_kill(c, SIGKILL);
		if (run_wait(one, 1, (int)grace_ms, -1) > 0)
			rc = -EBUSY;
	}
	run_close_fd(&c->pidfd);
	run_close_fd(&c->out_fd);
	run_close_fd(&c->err_fd);
	buf_free(&c->out);
	buf_free(&c->err);
	c->pid = 0;
	return rc;
}

static int run_end_early(struct run_child *c, const struct run_spec *spec,
			 struct err *err)
{
	struct run_child *const one[] = { c };
	bool timed_out = true;

	if (spec->cancel_fd > 0) {
		struct pollfd p = { spec->cancel_fd, POLLIN, 0 };

		timed_out = poll(&p, 1, 0) <= 0;
	}
	c->timed_out = timed_out;
	(void)run_kill(c, SIGKILL);
	if (run_wait(one, 1, RUN_GRACE_MS, -1) > 0)
		return err_set(err, -EBUSY, "%s was killed but does not end",
			       spec->argv[0]);
	if (!timed_out)
		return err_set(err, -ECANCELED, "%s was cancelled",
			       spec->argv[0]);
	return err_set(err, -ETIMEDOUT, "%s did not end within %u ms",
		       spec->argv[0], spec->deadline_ms);
}

int run(struct run_child *c, const struct run_spec *spec, struct err *err)
{
	struct run_child *const one[] = { c };
	int rc = run_start(c, spec, err);

	if (rc)
		return rc;
	rc = run_wait(one, 1, spec->deadline_ms ? (int)spec->deadline_ms : -1,
		      spec->cancel_fd);
	if (rc < 0)
		return err_sys(err, rc, "cannot wait for %s", spec->argv[0]);
	return rc ? run_end_early(c, spec, err) : 0;
}

void run_exit_text(const struct run_child *c, char *text, size_t size)
{
	if (c->exit_code >= 0)
		(void)snprintf(text, size, "exit status %d", c->exit_code);
	else
		(void)snprintf(text, size, "killed by signal %d (%s)",
			       -c->exit_code, strsignal(-c->exit_code));
}

static bool run_is_help(const char *line)
{
	return strncasecmp(line, "usage:", strlen("usage:")) == 0 ||
	       strncasecmp(line, "try '", strlen("try '")) == 0;
}

/* getopt's users put their usage behind what they have to say. */
static void run_cut_help(struct buf *text)
{
	char *line = text->len ? strchr(text->data, '\n') : NULL;

	while (line && !run_is_help(line + 1))
		line = strchr(line + 1, '\n');
	if (!line)
		return;
	*line = '\0';
	text->len = (size_t)(line - text->data);
}

const char *run_last_line(struct run_child *c)
{
	char *text = c->err.data;
	char *line = text;

	run_cut_help(&c->err);
	while (c->err.len && strchr("\n\r \t", text[c->err.len - 1]))
		text[--c->err.len] = '\0';
	/* mount(8) puts a hint behind what it has to say. */
	while (c->err.len && (line = strrchr(text, '\n')) &&
	       strchr(" \t", line[1]))
		*line = '\0';
	if (!c->err.len)
		return "";
	return line ? line + 1 : text;
}

int run_ok(struct run_child *c, const struct run_spec *spec, struct err *err)
{
	struct run_child local;
	struct run_child *use = c ? c : &local;
	char how[64];
	int rc = run(use, spec, err);

	if (!rc && use->exit_code != 0) {
		run_exit_text(use, how, sizeof(how));
		rc = err_set(err, -EIO, "%s failed (%s): %s", spec->argv[0],
			     how, run_last_line(use));
	}
	if (!c)
		(void)run_close(&local, RUN_GRACE_MS);
	return rc;
}
