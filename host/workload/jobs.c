#include "host/workload/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/util/run.h"

#define JOBS_TICK_MS      500
#define JOBS_KILL_MS      5000 /* D state does not end by SIGKILL */
#define JOBS_KILL_EACH_MS 10   /* hundreds on a slow machine die one by one */
#define JOBS_CHILDREN_MIN 16u
#define JOBS_FILES_EACH   2u   /* pidfd, stderr */
#define JOBS_FILES_OTHER  128u /* the agent's own, and of a start */
#define JOBS_ERROR_CHARS  300  /* of each child, in a result */

/* A group of children on their way. */
struct jobs {
	struct workload *w;
	const char *phase;
	struct run_child *child;
	struct run_child **list;
	unsigned count;
	uint64_t start_ns;
	uint64_t stop_at_ns; /* 0: they end by themselves */
	int stop_signal;
	bool stopped;
};

static void jobs_grow(struct workload *w)
{
	unsigned cap =
		w->children_cap ? 2 * w->children_cap : JOBS_CHILDREN_MIN;
	struct workload_child *grown =
		arena_array(w->arena, cap, sizeof(*grown));

	if (w->children)
		memcpy(grown, w->child, w->children * sizeof(*grown));
	w->child = grown;
	w->children_cap = cap;
}

int jobs_add(struct workload *w, const char *name,
	     const struct workload_target *target, const char *const *argv,
	     struct err *err)
{
	struct workload_child *c;

	if (w->children == WORKLOAD_CHILDREN_MAX)
		return err_set(err, -E2BIG,
			       "more than %u processes in a workload",
			       WORKLOAD_CHILDREN_MAX);
	if (w->children == w->children_cap)
		jobs_grow(w);
	c = &w->child[w->children++];
	*c = (struct workload_child){ .name = name,
				      .target = target,
				      .argv = argv,
				      .error_text = "",
				      .output = "" };
	return 0;
}

static int jobs_alloc(struct jobs *j, unsigned count)
{
	j->child = calloc(count, sizeof(*j->child));
	j->list = calloc(count, sizeof(*j->list));
	j->count = count;
	if (j->child && j->list)
		return 0;
	free(j->child);
	free(j->list);
	return -ENOMEM;
}

static void jobs_kill(struct jobs *j, int sig)
{
	for (unsigned i = 0; i < j->count; i++) {
		if (j->list[i])
			(void)run_kill(j->list[i], sig);
	}
}

/* Frees the group. What does not die is left behind. */
static void jobs_close(struct jobs *j)
{
	jobs_kill(j, SIGKILL);
	(void)run_wait(j->list, j->count,
		       JOBS_KILL_MS + JOBS_KILL_EACH_MS * (int)j->count, -1);
	for (unsigned i = 0; i < j->count; i++) {
		if (j->list[i])
			(void)run_close(j->list[i], 0);
	}
	free(j->child);
	free(j->list);
}

static bool jobs_failed(const struct jobs *j, const struct run_child *c)
{
	if (!c || !c->ended || c->exit_code == 0)
		return false;
	return !(j->stopped && c->exit_code == -j->stop_signal);
}

static const struct run_child *jobs_first_failed(const struct jobs *j,
						 unsigned *index)
{
	for (unsigned i = 0; i < j->count; i++) {
		if (jobs_failed(j, j->list[i])) {
			*index = i;
			return j->list[i];
		}
	}
	return NULL;
}

static double jobs_part(const struct jobs *j)
{
	double seconds = j->w->kind->seconds ? j->w->kind->seconds(j->w) : 0.0;
	double part = seconds > 0.0 ? (double)(clock_mono_ns() - j->start_ns) /
					      1e9 / seconds
				    : 0.0;

	return part > 1.0 ? 1.0 : part;
}

/* Next time to look, in ms. */
static int jobs_tick(const struct jobs *j)
{
	struct deadline stop = { j->stopped ? 0 : j->stop_at_ns };
	int tick = JOBS_TICK_MS;
	int left = deadline_poll_ms(stop);

	if (left >= 0 && left < tick)
		tick = left;
	left = deadline_poll_ms(j->w->guard);
	if (left >= 0 && left < tick)
		tick = left;
	return tick > 0 ? tick : 1;
}

static void jobs_stop_if_due(struct jobs *j)
{
	struct deadline stop = { j->stop_at_ns };

	if (j->stopped || !deadline_past(stop))
		return;
	j->stopped = true;
	jobs_kill(j, j->stop_signal);
}

static bool jobs_cancelled(const struct workload *w)
{
	struct pollfd p = { w->cancel_fd, POLLIN, 0 };

	return w->cancel_fd >= 0 && poll(&p, 1, 0) > 0;
}

static int jobs_tell_cancelled(const struct workload *w, struct err *err)
{
	return err_set(err, -ECANCELED, "%s was cancelled", w->kind->name);
}

static int jobs_wait(struct jobs *j, struct err *err)
{
	struct workload *w = j->w;
	unsigned bad;
	int open;

	while ((open = run_wait(j->list, j->count, jobs_tick(j),
				w->cancel_fd)) > 0) {
		if (jobs_cancelled(w))
			return jobs_tell_cancelled(w, err);
		if (deadline_past(w->guard))
			return err_set(err, -ETIMEDOUT,
				       "%s did not end within the time of the "
				       "cell; %d processes hang",
				       w->kind->name, open);
		if (jobs_first_failed(j, &bad))
			return 0; /* told by the caller */
		jobs_stop_if_due(j);
		if (w->progress)
			w->progress(w->progress_arg, j->phase, jobs_part(j));
	}
	return open;
}

static const char *jobs_first_line(struct workload *w, const char *text)
{
	size_t len = strcspn(text, "\n");

	if (len > JOBS_ERROR_CHARS)
		len = JOBS_ERROR_CHARS;
	return arena_printf(w->arena, "%.*s", (int)len, text);
}

static void jobs_record(struct jobs *j)
{
	struct workload *w = j->w;

	w->first_done_ns = w->end_ns = 0;
	for (unsigned i = 0; i < j->count; i++) {
		struct run_child *r = j->list[i];
		struct workload_child *c = &w->child[i];

		c->start_ns = j->start_ns;
		if (!r)
			continue;
		c->end_ns = r->ended ? r->end_ns : clock_mono_ns();
		c->exit_code = r->ended ? r->exit_code : -SIGKILL;
		c->output = arena_strdup(w->arena, buf_str(&r->err));
		if (jobs_failed(j, r))
			c->error_text = jobs_first_line(w, c->output);
		if (!w->first_done_ns || c->end_ns < w->first_done_ns)
			w->first_done_ns = c->end_ns;
		if (c->end_ns > w->end_ns)
			w->end_ns = c->end_ns;
	}
}

/* Each child costs descriptors; the usual soft limit of 1024 holds some 450. */
static int jobs_need_files(const struct jobs *j, struct err *err)
{
	rlim_t need = (rlim_t)j->count * JOBS_FILES_EACH + JOBS_FILES_OTHER;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return err_sys(err, -errno, "cannot start %s",
			       j->w->kind->name);
	if (l.rlim_cur >= need)
		return 0;
	if (l.rlim_max >= need) {
		l.rlim_cur = need;
		if (setrlimit(RLIMIT_NOFILE, &l) == 0)
			return 0;
	}
	return err_set(err, -EMFILE,
		       "%u processes need %llu open files and the limit is "
		       "%llu; raise it for bay-agent (LimitNOFILE=, ulimit -n) "
		       "or ask for fewer",
		       j->count, (unsigned long long)need,
		       (unsigned long long)l.rlim_max);
}

/* Forking hundreds takes seconds: the end may come in the middle. */
static int jobs_start(struct jobs *j, int gate, int null, struct err *err)
{
	struct err why = { 0 };
	unsigned i = 0;
	int rc = 0;

	while (!rc && i < j->count) {
		/* Its stdout says nothing, and would cost a pipe. */
		const struct run_spec spec = { .argv = j->w->child[i].argv,
					       .out_fd = null,
					       .barrier_fd = gate };

		if (jobs_cancelled(j->w))
			return jobs_tell_cancelled(j->w, err);
		rc = run_start(&j->child[i], &spec, &why);
		j->list[i] = rc ? NULL : &j->child[i];
		i += !rc;
	}
	return rc ? err_set(err, rc, "process %u of %u: %s", i + 1, j->count,
			    why.text)
		  : 0;
}

/* All wait at the gate, then it opens; the clock starts there. */
static int jobs_start_together(struct jobs *j, uint64_t stop_after_ms,
			       struct err *err)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int gate[2];
	int rc = 0;

	if (null < 0)
		return err_sys(err, -errno, "cannot open /dev/null");
	if (pipe2(gate, O_CLOEXEC) < 0) {
		rc = err_sys(err, -errno, "cannot make a barrier");
		goto out_close_null;
	}
	rc = jobs_start(j, gate[0], null, err);
	if (rc)
		jobs_kill(j, SIGKILL); /* before any begins to work */
	j->start_ns = j->w->start_ns = clock_mono_ns();
	if (stop_after_ms)
		j->stop_at_ns = j->start_ns + stop_after_ms * NS_PER_MS;
	close(gate[1]); /* all wake at once */
	close(gate[0]);
out_close_null:
	close(null);
	return rc;
}

static int jobs_tell_failed(const struct jobs *j, struct err *err)
{
	unsigned i = 0;
	const struct run_child *r = jobs_first_failed(j, &i);
	const struct workload_child *c = &j->w->child[i];
	char how[64];

	if (!r)
		return 0;
	run_exit_text(r, how, sizeof(how));
	return err_set(err, -EIO, "%s on %s failed (%s): %s", c->name,
		       c->target->path, how, c->error_text);
}

int jobs_run(struct workload *w, uint64_t stop_after_ms, int stop_signal,
	     struct err *err)
{
	struct jobs j = { .w = w, .phase = "run", .stop_signal = stop_signal };
	int rc = jobs_alloc(&j, w->children);

	if (rc)
		return err_sys(err, rc, "cannot start %s", w->kind->name);
	rc = jobs_need_files(&j, err);
	if (!rc)
		rc = jobs_start_together(&j, stop_after_ms, err);
	if (!rc)
		rc = jobs_wait(&j, err);
	jobs_record(&j);
	if (!rc)
		rc = jobs_tell_failed(&j, err);
	jobs_close(&j);
	return rc;
}

int jobs_sync(struct workload *w, struct err *err)
{
	struct jobs j = { .w = w, .phase = "sync" };
	unsigned i = 0;
	int rc = jobs_alloc(&j, w->targets);

	if (rc)
		return err_sys(err, rc, "cannot sync");
	j.start_ns = clock_mono_ns();
	for (unsigned k = 0; !rc && k < w->targets; k++) {
		/* A file system as a whole, or the device's own pages. */
		const char *const fs[] = { "sync", "-f", w->target[k].path,
					   NULL };
		const char *const dev[] = { "sync", w->target[k].path, NULL };
		const struct run_spec spec = {
			.argv = w->target[k].is_device ? dev : fs,
		};

		rc = run_start(&j.child[k], &spec, err);
		j.list[k] = rc ? NULL : &j.child[k];
	}
	if (!rc)
		rc = jobs_wait(&j, err);
	w->sync_ns = clock_mono_ns() - j.start_ns;
	if (!rc && jobs_first_failed(&j, &i))
		rc = err_set(err, -EIO, "the final sync of %s failed: %s",
			     w->target[i].path, run_last_line(j.list[i]));
	jobs_close(&j);
	return rc;
}
