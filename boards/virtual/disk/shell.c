/* boards/virtual/disk/shell.c - lock, clock thread, blocking requests. */
#include "boards/virtual/disk/shell.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

/* How often a waiting request looks after its host. */
#define GONE_CHECK_NS (500 * NS_PER_MS)

struct shell {
	struct shell_cfg cfg;
	pthread_mutex_t lock;
	pthread_cond_t clock;
	pthread_t thread;
	uint64_t zero_ns;  /* real time of virtual time 0 */
	uint64_t armed_ns; /* virtual time at which the clock wakes by itself */
	bool stop;
};

struct waiter {
	struct vdisk_op op;
	pthread_cond_t cond;
};

static uint64_t real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

static uint64_t virtual_now(const struct shell *s)
{
	unsigned __int128 ns = real_now() - s->zero_ns;

	return (uint64_t)(ns * 1000 / s->cfg.ms_per_s);
}

static uint64_t to_real(const struct shell *s, uint64_t virtual_ns)
{
	unsigned __int128 ns = virtual_ns;

	return s->zero_ns + (uint64_t)((ns * s->cfg.ms_per_s + 999) / 1000);
}

/* A pthread condition that waits on the monotonic clock. */
static int cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int err = pthread_condattr_init(&attr);

	if (err != 0)
		return -err;
	err = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (err == 0)
		err = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -err;
}

struct shell *shell_new(const struct shell_cfg *cfg)
{
	struct shell *s = calloc(1, sizeof(*s));
	int err;

	if (s == NULL)
		return NULL;
	s->cfg = *cfg;
	err = pthread_mutex_init(&s->lock, NULL);
	if (err != 0)
		goto err_free;
	err = -cond_init(&s->clock);
	if (err != 0)
		goto err_lock;
	s->armed_ns = VDISK_NEVER_NS;
	s->zero_ns = real_now();
	return s;
err_lock:
	pthread_mutex_destroy(&s->lock);
err_free:
	free(s);
	errno = err;
	return NULL;
}

void shell_free(struct shell *s)
{
	if (s == NULL)
		return;
	pthread_cond_destroy(&s->clock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Without a clock: on to the point where nobody waits for anything. */
static void run_ahead(struct vdisk *d)
{
	struct vdisk_status st;
	uint64_t next = vdisk_next_ns(d);

	while (next != VDISK_NEVER_NS) {
		vdisk_status(d, &st);
		if (st.pending == 0 &&
		    (st.power == VDISK_ON || st.power == VDISK_OFF))
			return;
		vdisk_advance(d, next);
		next = vdisk_next_ns(d);
	}
}

struct vdisk *shell_enter(struct shell *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->cfg.ms_per_s > 0)
		vdisk_advance(s->cfg.disk, virtual_now(s));
	return s->cfg.disk;
}

static void settle(struct shell *s)
{
	if (s->cfg.ms_per_s == 0)
		run_ahead(s->cfg.disk);
	else if (vdisk_next_ns(s->cfg.disk) < s->armed_ns)
		pthread_cond_signal(&s->clock);
}

void shell_leave(struct shell *s)
{
	settle(s);
	pthread_mutex_unlock(&s->lock);
}

static void *clock_main(void *arg)
{
	struct shell *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		struct timespec ts;

		vdisk_advance(s->cfg.disk, virtual_now(s));
		s->armed_ns = vdisk_next_ns(s->cfg.disk);
		if (s->armed_ns == VDISK_NEVER_NS) {
			pthread_cond_wait(&s->clock, &s->lock);
			continue;
		}
		ts = to_timespec(to_real(s, s->armed_ns));
		pthread_cond_timedwait(&s->clock, &s->lock, &ts);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int shell_start(struct shell *s)
{
	s->stop = false;
	if (s->cfg.ms_per_s == 0)
		return 0;
	return -pthread_create(&s->thread, NULL, clock_main, s);
}

void shell_stop(struct shell *s)
{
	if (s->cfg.ms_per_s == 0)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->clock);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
}

static void waiter_done(struct vdisk_op *op)
{
	struct waiter *w =
		(struct waiter *)((char *)op - offsetof(struct waiter, op));

	pthread_cond_signal(&w->cond);
}

static bool host_gone(struct shell *s)
{
	bool gone = false;

	pthread_mutex_unlock(&s->lock);
	if (s->cfg.host_gone != NULL)
		gone = s->cfg.host_gone();
	pthread_mutex_lock(&s->lock);
	return gone;
}

/* Wait, locked, until the request is done or its host is gone. */
static void wait_done(struct shell *s, struct waiter *w)
{
	while (w->op.state != VDISK_OP_DONE) {
		struct timespec ts = to_timespec(real_now() + GONE_CHECK_NS);
		int err = pthread_cond_timedwait(&w->cond, &s->lock, &ts);

		if (err != ETIMEDOUT || !host_gone(s))
			continue;
		if (w->op.state == VDISK_OP_DONE)
			return;
		vdisk_cancel(s->cfg.disk, &w->op);
		w->op.result = -ESHUTDOWN;
	}
}

int shell_request(struct shell *s, struct vdisk_op *op)
{
	struct waiter w = { .op = *op };
	int err = cond_init(&w.cond);

	if (err != 0)
		return err;
	w.op.done = waiter_done;
	vdisk_submit(shell_enter(s), &w.op);
	settle(s);
	wait_done(s, &w);
	pthread_mutex_unlock(&s->lock);
	pthread_cond_destroy(&w.cond);
	return w.op.result;
}
