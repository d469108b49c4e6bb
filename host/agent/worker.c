#include "host/agent/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "host/util/log.h"

#define WORKER_EVENT_BYTES_MAX (8u * 1024 * 1024)

struct worker_job {
	struct worker_job *next;
	Bay__Envelope *env;
	uint64_t session;
	bool cancelled;
};

void worker_post(struct worker *w, uint64_t session, const Bay__Envelope *env)
{
	size_t len = bay__envelope__get_packed_size(env);
	struct worker_out *o = calloc(1, sizeof(*o));

	if (!o || buf_reserve(&o->payload, len)) {
		free(o);
		return;
	}
	o->session = session;
	o->id = env->id;
	o->payload.len = bay__envelope__pack(env, (uint8_t *)o->payload.data);
	pthread_mutex_lock(&w->lock);
	if (session == 0 && w->out_bytes + len > WORKER_EVENT_BYTES_MAX) {
		pthread_mutex_unlock(&w->lock);
		buf_free(&o->payload);
		free(o);
		return;
	}
	*w->out_tail = o;
	w->out_tail = &o->next;
	w->out_bytes += len;
	pthread_mutex_unlock(&w->lock);
	(void)uv_async_send(w->notify);
}

struct worker_out *worker_take(struct worker *w)
{
	struct worker_out *o;

	pthread_mutex_lock(&w->lock);
	o = w->out;
	if (o) {
		w->out = o->next;
		if (!w->out)
			w->out_tail = &w->out;
		w->out_bytes -= o->payload.len;
	}
	pthread_mutex_unlock(&w->lock);
	return o;
}

/* A cancel of the job before is none of this one, which may have its own. */
static void worker_set_cancel(const struct worker *w, bool cancelled)
{
	eventfd_t ignored;

	(void)eventfd_read(w->agent->cancel_fd, &ignored);
	if (cancelled)
		(void)eventfd_write(w->agent->cancel_fd, 1);
}

static void worker_answer(struct worker *w, const struct worker_job *job)
{
	Bay__Envelope env = BAY__ENVELOPE__INIT;
	Bay__Reply reply = BAY__REPLY__INIT;
	struct arena arena = { 0 };

	agent_answer(w->agent, job->env->request, &reply, &arena);
	w->agent->unrestored = w->agent->knobs.count;
	env.id = job->env->id;
	env.body_case = BAY__ENVELOPE__BODY_REPLY;
	env.reply = &reply;
	worker_post(w, job->session, &env);
	arena_free(&arena);
}

static void worker_free_job(struct worker_job *job)
{
	bay__envelope__free_unpacked(job->env, NULL);
	free(job);
}

/* Next job, or NULL when it is time to end. */
static struct worker_job *worker_next(struct worker *w)
{
	struct worker_job *job;

	pthread_mutex_lock(&w->lock);
	w->busy = false;
	while (!w->head && !w->stop)
		pthread_cond_wait(&w->wake, &w->lock);
	job = w->stop ? NULL : w->head;
	if (job) {
		w->head = job->next;
		if (!w->head)
			w->tail = &w->head;
		w->busy = true;
		worker_set_cancel(w, job->cancelled);
	}
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct worker_job *job;
	struct err err = { 0 };
	unsigned restored;

	while ((job = worker_next(w))) {
		worker_answer(w, job);
		worker_free_job(job);
	}
	if (knob_restore(&w->agent->knobs, &restored, &err))
		log_warnx("%s", err.text);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_mutex_unlock(&w->lock);
	(void)uv_async_send(w->notify);
	return NULL;
}

int worker_start(struct worker *w, struct agent *agent, uv_async_t *notify)
{
	*w = (struct worker){ .agent = agent, .notify = notify };
	w->tail = &w->head;
	w->out_tail = &w->out;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->wake, NULL);
	return -pthread_create(&w->thread, NULL, worker_main, w);
}

int worker_submit(struct worker *w, Bay__Envelope *env, uint64_t session)
{
	struct worker_job *job = calloc(1, sizeof(*job));

	if (!job) {
		bay__envelope__free_unpacked(env, NULL);
		return -ENOMEM;
	}
	job->env = env;
	job->session = session;
	pthread_mutex_lock(&w->lock);
	*w->tail = job;
	w->tail = &job->next;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

bool worker_is_busy(struct worker *w)
{
	bool busy;

	pthread_mutex_lock(&w->lock);
	busy = w->busy || w->head;
	pthread_mutex_unlock(&w->lock);
	return busy;
}

/* What ends at once anyway, and must be whole. */
static bool worker_sees_through(const struct worker_job *job)
{
	Bay__Request__OpCase op = job->env->request->op_case;

	return op == BAY__REQUEST__OP_HELLO || op == BAY__REQUEST__OP_RESET;
}

void worker_cancel(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->busy)
		(void)eventfd_write(w->agent->cancel_fd, 1);
	for (struct worker_job *job = w->head; job; job = job->next)
		job->cancelled = !worker_sees_through(job);
	pthread_mutex_unlock(&w->lock);
}

void worker_stop(struct worker *w)
{
	worker_cancel(w);
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

void worker_join(struct worker *w)
{
	struct worker_out *o;

	(void)pthread_join(w->thread, NULL);
	while (w->head) {
		struct worker_job *job = w->head;

		w->head = job->next;
		worker_free_job(job);
	}
	while ((o = worker_take(w))) {
		buf_free(&o->payload);
		free(o);
	}
}
