/* host/agent/worker.h - one thread that answers requests in order, so that the
 * event loop never waits. It lives as long as the process: its children get
 * SIGKILL when it ends. */
#ifndef HOST_AGENT_WORKER_H
#define HOST_AGENT_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/agent/agent.h"
#include "host/util/buf.h"

struct worker_job;

/* A packed Envelope on its way to the controller. */
struct worker_out {
	struct worker_out *next;
	uint64_t session; /* 0: any (events) */
	uint32_t id;      /* of the request that it answers */
	struct buf payload;
};

struct worker {
	struct agent *agent;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct worker_job *head, **tail;
	struct worker_out *out, **out_tail;
	size_t out_bytes;
	bool busy;
	bool stop;
	uv_async_t *notify; /* something is in out, or the thread ended */
	bool ended;
};

/* notify is initialised and stays the caller's. */
int worker_start(struct worker *w, struct agent *agent, uv_async_t *notify);

/* Take env over (freed by the worker) for a peer's session, not 0. */
int worker_submit(struct worker *w, Bay__Envelope *env, uint64_t session);

/* Whether a request runs or waits. */
bool worker_is_busy(struct worker *w);

/* End the running request, if there is one, and each that waits as soon as it
 * is its turn, but for hello and reset. */
void worker_cancel(struct worker *w);

/* Cancel, drop what is queued, and let the thread put settings back and end;
 * notify is called then and ended is true. */
void worker_stop(struct worker *w);
void worker_join(struct worker *w);

/* Queue a packed envelope for the loop. Any thread. Events are dropped while
 * the controller does not read. */
void worker_post(struct worker *w, uint64_t session, const Bay__Envelope *env);

/* Next one to send, or NULL. Caller frees payload and it. */
struct worker_out *worker_take(struct worker *w);

#endif
