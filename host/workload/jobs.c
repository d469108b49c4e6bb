#include "host/workload/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/util/run.h"

#define JOBS_TICK_MS 500
#define JOBS_KILL_MS 5000 /* D state does not end by SIGKILL */

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

int jobs_add(struct workload *w, const char *name,
	     const struct workload_target *target, const char *const *argv,
	     struct err *err)
{
	struct workload_child *c;

	if (w->children == WORKLOAD_CHILDREN_MAX)
		return err_set(err, -E2BIG,
			       "more than %u processes in a workload",
			       WORKLOAD_CHILDREN_MAX);
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
	(void)run_wait(j->list, j->count, JOBS_KILL_MS, -1);
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

static int jobs_wait(struct jobs *j, struct err *err)
{
	struct workload *w = j->w;
	unsigned bad;
	int open;

	while ((open = run_wait(j->list, j->count, jobs_tick(j),
				w->cancel_fd)) > 0) {
		if (jobs_cancelled(w))
			return err_set(err, -ECANCELED, "%s was cancelled",
				       w->kind->name);
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
	return arena_printf(w->arena, "%.*s", (int)strcspn(text, "\n"), text);
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

static int jobs_start(struct jobs *j, int gate, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < j->count; i++) {
		const struct run_spec spec = { .argv = j->w->child[i].argv,
					       .barrier_fd = gate };

		rc = run_start(&j->child[i], &spec, err);
		j->list[i] = rc ? NULL : &j->child[i];
	}
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
	int gate[2];
	int rc = jobs_alloc(&j, w->children);

	if (rc)
		return err_sys(err, rc, "cannot start %s", w->kind->name);
	if (pipe2(gate, O_CLOEXEC) < 0) {
		rc = err_sys(err, -errno, "cannot make a barrier");
		jobs_close(&j);
		return rc;
	}
	rc = jobs_start(&j, gate[0], err);
	j.start_ns = w->start_ns = clock_mono_ns();
	if (stop_after_ms)
		j.stop_at_ns = j.start_ns + stop_after_ms * NS_PER_MS;
	close(gate[1]); /* all wake at once */
	close(gate[0]);
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
