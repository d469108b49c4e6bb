#include "host/agent/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/agent/stream.h"
#include "host/agent/worker.h"
#include "host/util/clock.h"
#include "host/util/log.h"
#include "host/util/parse.h"

#define SERVER_PORT_POLL_MS                                                    \
	100 /* a character device tells nobody that a                          \
	     * host has come */
#define SERVER_FLUSH_MS      2000
#define SERVER_BACKLOG_BYTES (16u * 1024 * 1024)

struct server {
	struct agent *agent;
	struct server_cfg cfg;
	uv_loop_t loop;
	uv_async_t notify;
	uv_signal_t sigterm, sigint;
	uv_timer_t retry; /* SERVER_PORT */
	uv_poll_t accept; /* SERVER_LISTEN */
	int listen_fd;
	struct stream stream;
	struct worker worker;
	uint64_t session;     /* changes with each controller */
	char controller[128]; /* of the last hello */
	uint32_t hello_id;    /* of this session; 0: none yet */
	bool hello_due;       /* it is not answered yet */
	struct buf hello;     /* the last one that the worker got, packed */
	struct buf greeting;  /* the envelope of its answer; empty: none yet */
	bool stopping;
};

static void server_send(struct server *v, const Bay__Envelope *env)
{
	size_t len = bay__envelope__get_packed_size(env);
	uint8_t *data = malloc(len + 1);

	if (!data)
		return;
	stream_send(&v->stream, data, bay__envelope__pack(env, data));
	free(data);
}

static void server_send_started(struct server *v)
{
	Bay__Envelope env = BAY__ENVELOPE__INIT;
	Bay__AgentEvent event = BAY__AGENT_EVENT__INIT;
	Bay__AgentStarted started = BAY__AGENT_STARTED__INIT;

	started.incarnation = v->agent->incarnation;
	event.body_case = BAY__AGENT_EVENT__BODY_STARTED;
	event.started = &started;
	env.body_case = BAY__ENVELOPE__BODY_EVENT;
	env.event = &event;
	server_send(v, &env);
}

/* Any thread: progress of a workload. */
static void server_event(void *arg, const Bay__AgentEvent *event)
{
	struct server *v = arg;
	Bay__Envelope env = BAY__ENVELOPE__INIT;

	env.body_case = BAY__ENVELOPE__BODY_EVENT;
	env.event = (Bay__AgentEvent *)(uintptr_t)event;
	worker_post(&v->worker, 0, &env);
}

/* Any thread: the controller sees our log. */
static void server_log(void *arg, enum log_level level, const char *text)
{
	Bay__AgentEvent event = BAY__AGENT_EVENT__INIT;
	Bay__AgentLog line = BAY__AGENT_LOG__INIT;

	line.level = (uint32_t)level;
	line.text = (char *)(uintptr_t)text;
	event.body_case = BAY__AGENT_EVENT__BODY_LOG;
	event.log = &line;
	server_event(arg, &event);
}

/* The oldest result that no controller has acknowledged, as an event. One at a
 * time: the next follows its acknowledgement. */
static void server_push_result(struct server *v)
{
	struct arena arena = { 0 };
	Bay__Envelope env = BAY__ENVELOPE__INIT;
	Bay__AgentEvent event = BAY__AGENT_EVENT__INIT;
	struct spool_item *item;
	size_t count = 0;
	int rc;

	(void)spool_list(&v->agent->spool, &arena, &item, &count);
	for (size_t i = 0; !event.result && i < count; i++)
		event.result = agent_spooled(v->agent, item[i].id, &arena, &rc);
	if (event.result) {
		event.body_case = BAY__AGENT_EVENT__BODY_RESULT;
		env.body_case = BAY__ENVELOPE__BODY_EVENT;
		env.event = &event;
		server_send(v, &env);
	}
	arena_free(&arena);
}

static void server_reply_now(struct server *v, const Bay__Envelope *in)
{
	Bay__Envelope env = BAY__ENVELOPE__INIT;
	Bay__Reply reply = BAY__REPLY__INIT;
	struct arena arena = { 0 };

	if (in->request->op_case == BAY__REQUEST__OP_SPOOL_ACK)
		agent_answer(v->agent, in->request, &reply, &arena);
	env.id = in->id;
	env.body_case = BAY__ENVELOPE__BODY_REPLY;
	env.reply = &reply;
	server_send(v, &env);
	arena_free(&arena);
	if (in->request->op_case == BAY__REQUEST__OP_SPOOL_ACK)
		server_push_result(v);
}

/* Keep a hello to know it again. Without memory for it nothing is known. */
static void server_note_hello(struct server *v, const Bay__AgentHello *h)
{
	size_t len = bay__agent_hello__get_packed_size(h);

	buf_clear(&v->hello);
	buf_clear(&v->greeting);
	if (buf_reserve(&v->hello, len) == 0)
		v->hello.len =
			bay__agent_hello__pack(h, (uint8_t *)v->hello.data);
}

/* Word by word the one that is in force. */
static bool server_knows_hello(const struct server *v, const Bay__AgentHello *h)
{
	size_t len = bay__agent_hello__get_packed_size(h);
	uint8_t *data = malloc(len + 1);
	bool known = data && v->greeting.len && len == v->hello.len;

	if (known) {
		(void)bay__agent_hello__pack(h, data);
		known = memcmp(data, v->hello.data, len) == 0;
	}
	free(data);
	return known;
}

/* The worker is at work for this very controller, which has come back: nothing
 * changes by its hello, so the answer it had is given again, and not behind
 * hours of a workload. */
static bool server_greet_again(struct server *v, uint32_t id,
			       const Bay__AgentHello *h)
{
	Bay__Envelope *env;
	Bay__AgentHelloAck *ack;

	if (!worker_is_busy(&v->worker) || !server_knows_hello(v, h))
		return false;
	env = bay__envelope__unpack(NULL, v->greeting.len,
				    (const uint8_t *)v->greeting.data);
	if (!env)
		return false;
	ack = env->reply->hello;
	ack->spooled = spool_count(&v->agent->spool);
	ack->unrestored = v->agent->unrestored;
	ack->monotonic_ns = clock_mono_ns();
	env->id = id;
	server_send(v, env);
	bay__envelope__free_unpacked(env, NULL);
	log_info("controller %s is back", h->controller);
	server_push_result(v);
	return true;
}

/* A hello starts a session: replies to earlier requests are nobody's now. A
 * workload of the same controller goes on, one of another is ended. false: it
 * is answered, or is said again because its answer is late, and nothing is to
 * be done. */
static bool server_hello(struct server *v, uint32_t id,
			 const Bay__AgentHello *h)
{
	bool same = strcmp(v->controller, h->controller) == 0;

	if (same && id == v->hello_id && v->hello_due)
		return false;
	if (!same)
		worker_cancel(&v->worker);
	if (!same || id != v->hello_id)
		v->session++;
	(void)str_copy(v->controller, sizeof(v->controller), h->controller);
	v->hello_id = id;
	v->hello_due = !server_greet_again(v, id, h);
	if (v->hello_due)
		server_note_hello(v, h);
	return v->hello_due;
}

static void server_request(struct server *v, Bay__Envelope *env)
{
	switch (env->request->op_case) {
	case BAY__REQUEST__OP_CANCEL:
		worker_cancel(&v->worker);
		/* fall through */
	case BAY__REQUEST__OP_PING:
	case BAY__REQUEST__OP_SPOOL_ACK:
		server_reply_now(v, env);
		bay__envelope__free_unpacked(env, NULL);
		return;
	case BAY__REQUEST__OP_HELLO:
		if (server_hello(v, env->id, env->request->hello))
			break;
		bay__envelope__free_unpacked(env, NULL);
		return;
	case BAY__REQUEST__OP_RESET:
		worker_cancel(&v->worker);
		break;
	default:
		break;
	}
	if (worker_submit(&v->worker, env, v->session))
		log_warnx("out of memory for a request");
}

static void server_frame(void *arg, const uint8_t *payload, size_t len)
{
	struct server *v = arg;
	Bay__Envelope *env = bay__envelope__unpack(NULL, len, payload);

	if (!env) {
		log_warnx("a frame of %zu bytes is no message; ignored", len);
		return;
	}
	if (env->body_case != BAY__ENVELOPE__BODY_REQUEST || env->id == 0) {
		log_warnx("a message that is no request; ignored");
		bay__envelope__free_unpacked(env, NULL);
		return;
	}
	server_request(v, env);
}

static void server_stop(struct server *v)
{
	if (v->stopping)
		return;
	v->stopping = true;
	worker_stop(&v->worker);
}

static void server_close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

/* The worker has ended: send what it said last and let the loop run out. */
static void server_finish(struct server *v)
{
	log_set_sink(NULL, NULL);
	stream_close(&v->stream, SERVER_FLUSH_MS);
	uv_walk(&v->loop, server_close_handle, NULL);
}

static bool server_worker_ended(struct server *v)
{
	bool ended;

	pthread_mutex_lock(&v->worker.lock);
	ended = v->worker.ended;
	pthread_mutex_unlock(&v->worker.lock);
	return ended;
}

static bool server_is_hello_ack(const struct worker_out *o)
{
	Bay__Envelope *env;
	bool yes;

	if (o->session == 0 || o->payload.len > 65536)
		return false;
	env = bay__envelope__unpack(NULL, o->payload.len,
				    (const uint8_t *)o->payload.data);
	yes = env && env->reply &&
	      env->reply->body_case == BAY__REPLY__BODY_HELLO;
	if (env)
		bay__envelope__free_unpacked(env, NULL);
	return yes;
}

/* Events are for a controller that is there and reads. */
static bool server_takes_events(const struct server *v)
{
	return !stream_is_away(&v->stream) &&
	       stream_backlog(&v->stream) < SERVER_BACKLOG_BYTES;
}

static void server_notified(uv_async_t *h)
{
	struct server *v = h->data;
	struct worker_out *o;
	bool orphans = false;

	while ((o = worker_take(&v->worker))) {
		bool reply = o->session == v->session;

		/* Nobody waits for it any more; what it was about may. */
		orphans |= o->session != 0 && !reply;
		if (reply || (o->session == 0 && server_takes_events(v)))
			stream_send(&v->stream,
				    (const uint8_t *)o->payload.data,
				    o->payload.len);
		if (reply && o->id == v->hello_id)
			v->hello_due = false;
		if (reply && server_is_hello_ack(o)) {
			buf_clear(&v->greeting);
			(void)buf_append(&v->greeting, o->payload.data,
					 o->payload.len);
			server_push_result(v);
		}
		buf_free(&o->payload);
		free(o);
	}
	if (orphans && v->greeting.len)
		server_push_result(v);
	if (server_worker_ended(v))
		server_finish(v);
}

static void server_signal(uv_signal_t *h, int signum)
{
	struct server *v = h->data;

	log_info("ending on signal %d", signum);
	server_stop(v);
}

static void server_connected(struct server *v, int in_fd, int out_fd)
{
	int rc = stream_open(&v->stream, in_fd, out_fd);

	if (rc) {
		errno = -rc;
		log_warn("cannot use the connection");
		return;
	}
	v->session++;
	v->hello_id = 0;
	server_send_started(v);
}

static void server_accept(uv_poll_t *h, int status, int events)
{
	struct server *v = h->data;
	int fd;

	(void)events;
	if (status < 0 || v->stopping)
		return;
	fd = accept4(v->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	if (stream_is_open(&v->stream)) {
		log_warnx("a second controller was turned away");
		close(fd);
		return;
	}
	server_connected(v, fd, fd);
}

/* The session goes on: a hello of the host that has come may already have been
 * read, before the port told that the one before had left. */
static void server_try_port(uv_timer_t *t)
{
	struct server *v = t->data;

	if (!stream_try_resume(&v->stream))
		return;
	(void)uv_timer_stop(t);
	server_send_started(v);
}

static void server_closed(void *arg)
{
	struct server *v = arg;

	if (v->stopping || v->cfg.mode == SERVER_LISTEN)
		return;
	if (stream_is_away(&v->stream)) {
		(void)uv_timer_start(&v->retry, server_try_port,
				     SERVER_PORT_POLL_MS, SERVER_PORT_POLL_MS);
		return;
	}
	if (v->cfg.mode == SERVER_PORT)
		log_warnx("%s is gone", v->cfg.path);
	server_stop(v);
}

static int server_listen(struct server *v, struct err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t old;
	int rc;

	if (!str_copy(addr.sun_path, sizeof(addr.sun_path), v->cfg.path))
		return err_set(err, -ENAMETOOLONG, "%s: path too long",
			       v->cfg.path);
	v->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (v->listen_fd < 0)
		return err_sys(err, -errno, "cannot make a socket");
	/* The state folder's lock says that no other agent has it. */
	(void)unlink(v->cfg.path);
	old = umask(0177);
	rc = bind(v->listen_fd, (struct sockaddr *)&addr, sizeof(addr));
	(void)umask(old);
	if (rc < 0 || listen(v->listen_fd, 4) < 0)
		return err_sys(err, -errno, "cannot listen on %s", v->cfg.path);
	rc = uv_poll_init(&v->loop, &v->accept, v->listen_fd);
	v->accept.data = v;
	return rc ? rc : uv_poll_start(&v->accept, UV_READABLE, server_accept);
}

/* Frames own the real stdout; whatever else prints goes to stderr. */
static int server_stdio(struct server *v, struct err *err)
{
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (in < 0 || out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return err_sys(err, -errno, "cannot use stdin and stdout");
	close(null);
	server_connected(v, in, out);
	if (!stream_is_open(&v->stream))
		return err_set(err, -EINVAL,
			       "stdin and stdout must be pipes or sockets");
	return 0;
}

static int server_port(struct server *v, struct err *err)
{
	int fd = open(v->cfg.path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int rc = fd < 0 ? -errno : stream_open_port(&v->stream, fd, fd);

	if (rc)
		return err_sys(err, rc, "cannot use %s", v->cfg.path);
	v->session++;
	return uv_timer_start(&v->retry, server_try_port, 0,
			      SERVER_PORT_POLL_MS);
}

static int server_open(struct server *v, struct err *err)
{
	switch (v->cfg.mode) {
	case SERVER_LISTEN:
		return server_listen(v, err);
	case SERVER_PORT:
		return server_port(v, err);
	case SERVER_STDIO:
		break;
	}
	return server_stdio(v, err);
}

static int server_init(struct server *v, struct err *err)
{
	const struct stream_cbs cbs = { server_frame, server_closed, v };
	int rc = uv_loop_init(&v->loop);

	if (rc)
		return err_sys(err, rc, "cannot make an event loop");
	(void)uv_async_init(&v->loop, &v->notify, server_notified);
	(void)uv_signal_init(&v->loop, &v->sigterm);
	(void)uv_signal_init(&v->loop, &v->sigint);
	(void)uv_timer_init(&v->loop, &v->retry);
	v->notify.data = v->sigterm.data = v->sigint.data = v->retry.data = v;
	(void)uv_signal_start(&v->sigterm, server_signal, SIGTERM);
	(void)uv_signal_start(&v->sigint, server_signal, SIGINT);
	rc = stream_init(&v->stream, &v->loop, &cbs);
	if (!rc)
		rc = worker_start(&v->worker, v->agent, &v->notify);
	if (rc)
		return err_sys(err, rc, "cannot start");
	v->agent->port = (struct agent_port){ v, server_event };
	log_set_sink(server_log, v);
	return 0;
}

int server_run(struct agent *agent, const struct server_cfg *cfg,
	       struct err *err)
{
	struct server v = { .agent = agent, .cfg = *cfg, .listen_fd = -1 };
	int rc;

	(void)signal(SIGPIPE, SIG_IGN);
	rc = server_init(&v, err);
	if (rc)
		return rc;
	rc = server_open(&v, err);
	if (rc)
		server_stop(&v);
	(void)uv_run(&v.loop, UV_RUN_DEFAULT);
	worker_join(&v.worker);
	stream_free(&v.stream);
	buf_free(&v.hello);
	buf_free(&v.greeting);
	(void)uv_loop_close(&v.loop);
	if (v.listen_fd >= 0) {
		close(v.listen_fd);
		(void)unlink(cfg->path);
	}
	return rc;
}
