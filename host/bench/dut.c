#include "host/bench/dut_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Between attempts to connect. */
#define RETRY_MS           200u
#define CHILD_RETRY_MAX_MS 1600u

bool dut_is_unreachable(int rc)
{
	return rc == -ETIMEDOUT || rc == -ENOTCONN || rc == -ECONNRESET ||
	       rc == -EPROTO || rc == -ENOENT || rc == -ECONNREFUSED;
}

/* ---- asking ------------------------------------------------------------- */

struct outgoing {
	uv_write_t req;
	uint8_t data[];
};

static void on_written(uv_write_t *req, int status)
{
	struct dut *d = req->handle->data;

	if (status < 0 && d && !d->fail)
		d->fail = -ENOTCONN;
	free(req);
}

static int send_request(struct dut *d, uint32_t id, Bay__Request *req)
{
	Bay__Envelope e = BAY__ENVELOPE__INIT;
	struct outgoing *o;
	uv_buf_t buf;
	size_t len;
	int ret;

	e.id = id;
	e.body_case = BAY__ENVELOPE__BODY_REQUEST;
	e.request = req;
	len = bay__envelope__get_packed_size(&e);
	if (len > DELIM_PAYLOAD_MAX)
		return -EMSGSIZE;
	o = malloc(sizeof(*o) + DELIM_HEADER_BYTES + len);
	if (!o)
		return -ENOMEM;
	bay__envelope__pack(&e, o->data + DELIM_HEADER_BYTES);
	delim_header(o->data, o->data + DELIM_HEADER_BYTES, len);
	buf = uv_buf_init((char *)o->data,
			  (unsigned)(DELIM_HEADER_BYTES + len));
	ret = uv_write(&o->req, (uv_stream_t *)d->pipe, &buf, 1, on_written);
	if (ret < 0)
		free(o);
	return ret < 0 ? -ENOTCONN : 0;
}

static void on_timer(uv_timer_t *t)
{
	(void)t;
}

static void ping(struct dut *d)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentPing p = BAY__AGENT_PING__INIT;

	req.op_case = BAY__REQUEST__OP_PING;
	req.ping = &p;
	send_request(d, (d->next_id += 2) | 1, &req);
}

/* An agent that died may have taken the hello along, so its successor gets it
 * again; whoever answers a ping has lost no request. */
static void remind(struct dut *d, Bay__Request *req)
{
	if (d->greeting)
		send_request(d, d->wait_id, req);
	else
		ping(d);
}

/* One turn of the loop, of at most ms. The timer repeats because the loop runs
 * what is due before it waits, and nothing else may end that wait. */
static void turn(struct dut *d, uint64_t ms)
{
	uv_timer_start(&d->timer, on_timer, ms, ms);
	uv_run(d->cfg.loop, UV_RUN_ONCE);
}

/* How long a turn that waits for an answer took, with an upper limit: after a
 * longer one it was us who stood still, and the answer may lie unread. */
static uint64_t listen_once(struct dut *d, uint64_t ms)
{
	uint64_t start = uv_now(d->cfg.loop);
	uint64_t took;

	d->heard = false;
	turn(d, ms < d->cfg.ping_ms ? ms : d->cfg.ping_ms);
	took = uv_now(d->cfg.loop) - start;
	return took < d->cfg.ping_ms ? took : d->cfg.ping_ms;
}

/* Run the loop until the reply is there, or something ends the wait. */
static int wait_reply(struct dut *d, Bay__Request *req, uint64_t ms)
{
	uint64_t waited = 0, silent = 0, unasked = 0;
	int ret = 0;

	while (d->wait_id && !d->fail && !d->cancelled) {
		uint64_t took;

		if (waited >= ms || silent >= d->cfg.silence_ms) {
			ret = -ETIMEDOUT;
			break;
		}
		if (unasked >= d->cfg.ping_ms) {
			remind(d, req);
			unasked = 0;
		}
		took = listen_once(d, ms - waited);
		waited += took;
		unasked += took;
		silent = d->heard ? 0 : silent + took;
	}
	uv_timer_stop(&d->timer);
	if (!d->wait_id)
		return 0;
	d->wait_id = 0;
	return ret ? ret : d->fail ? d->fail : -ECANCELED;
}

static int explain(struct dut *d, int rc, struct err *err)
{
	switch (rc) {
	case -ETIMEDOUT:
		return err_set(err, rc, "the agent (%s) does not answer",
			       d->where);
	case -ENOTCONN:
		return err_set(err, rc,
			       "the agent (%s) hung up; is its machine up?",
			       d->where);
	case -ECONNRESET:
		return err_set(err, rc, "the agent (%s) was started anew",
			       d->where);
	case -ECANCELED:
		return err_set(err, rc, "cancelled");
	default:
		return err_sys(err, rc, "agent (%s)", d->where);
	}
}

/* The parts that every user of a reply counts on are there. */
static bool is_whole(const Bay__Reply *r)
{
	size_t i;

	if (r->body_case == BAY__REPLY__BODY_ARRAY)
		return r->array->spec;
	if (r->body_case == BAY__REPLY__BODY_ARRAYS)
		for (i = 0; i < r->arrays->n_array; i++)
			if (!r->arrays->array[i]->spec)
				return false;
	return true;
}

/* Wait for one answer on the connection that stands. */
static int ask(struct dut *d, Bay__Request *req, uint32_t ms, Bay__Reply **out,
	       struct err *err)
{
	Bay__Reply *reply;
	int ret;

	if (!d->pipe || d->fail)
		return explain(d, d->fail ? d->fail : -ENOTCONN, err);
	uv_update_time(d->cfg.loop);
	/* Even: awaited; odd: the answer is dropped. 0 is no id. */
	d->wait_id = (d->next_id += 2) & ~1u;
	if (!d->wait_id)
		d->wait_id = d->next_id += 2;
	ret = send_request(d, d->wait_id, req);
	if (ret == 0)
		ret = wait_reply(d, req, ms);
	reply = d->reply;
	d->reply = NULL;
	if (ret < 0 || !reply)
		return explain(d, ret ? ret : -EPROTO, err);
	if (reply->status != BAY__AGENT_STATUS__AGENT_OK) {
		d->refusal = reply->status;
		ret = err_set(err, -EREMOTEIO, "%s",
			      *reply->error_text ? reply->error_text
						 : "the agent gives no reason");
	} else if (!is_whole(reply)) {
		ret = err_set(err, -EPROTO, "the agent (%s) answers nonsense",
			      d->where);
	}
	if (ret == 0 && out)
		*out = reply;
	else
		bay__reply__free_unpacked(reply, NULL);
	return ret;
}

static int check_hello(struct dut *d, Bay__Reply *reply, struct err *err)
{
	Bay__AgentHelloAck *ack;

	if (!reply || reply->body_case != BAY__REPLY__BODY_HELLO ||
	    !reply->hello)
		return err_set(err, -EPROTO, "the agent (%s) answers nonsense",
			       d->where);
	ack = reply->hello;
	if (ack->major != DUT_MAJOR)
		return err_set(err, -EPROTO,
			       "the agent (%s) speaks version %u.%u, this bay "
			       "%u.%u; update the older one",
			       d->where, ack->major, ack->minor, DUT_MAJOR,
			       DUT_MINOR);
	if (d->hello)
		bay__agent_hello_ack__free_unpacked(d->hello, NULL);
	d->hello = ack;
	d->incarnation = ack->incarnation;
	reply->hello = NULL;
	reply->body_case = BAY__REPLY__BODY__NOT_SET;
	return 0;
}

static int say_hello(struct dut *d, uint32_t ms, struct err *err)
{
	const struct bench *b = d->cfg.bench;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentHello h = BAY__AGENT_HELLO__INIT;
	Bay__Reply *reply = NULL;
	char controller[32];
	unsigned i;
	int ret;

	/* The agent lets a workload of the same controller go on, and ends
	 * that of one that died: each process has a name of its own. */
	snprintf(controller, sizeof(controller), "bay %d", (int)getpid());
	h.allowed_serial = calloc(b->n_disks, sizeof(*h.allowed_serial));
	if (!h.allowed_serial)
		return err_sys(err, -ENOMEM, "hello");
	for (i = 0; i < b->n_disks; i++)
		h.allowed_serial[h.n_allowed_serial++] = b->disks[i].serial;
	h.major = DUT_MAJOR;
	h.minor = DUT_MINOR;
	h.controller = controller;
	req.op_case = BAY__REQUEST__OP_HELLO;
	req.hello = &h;
	d->greeting = true;
	ret = ask(d, &req, ms, &reply, err);
	d->greeting = false;
	free(h.allowed_serial);
	if (ret < 0)
		return ret == -EREMOTEIO ? -EPROTO : ret;
	ret = check_hello(d, reply, err);
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

/* ---- public ------------------------------------------------------------- */

int dut_run(struct dut *d, uint32_t ms)
{
	uint64_t end;

	uv_update_time(d->cfg.loop);
	end = uv_now(d->cfg.loop) + ms;
	while (!d->cancelled && uv_now(d->cfg.loop) < end)
		turn(d, end - uv_now(d->cfg.loop));
	uv_timer_stop(&d->timer);
	return d->cancelled ? -ECANCELED : 0;
}

static bool is_child(const struct dut *d)
{
	enum bench_agent_type type = d->cfg.bench->agent.type;

	return type == BENCH_AGENT_LOCAL || type == BENCH_AGENT_SSH;
}

/* What time does not mend: above all a program that there is not. */
static bool is_final(const struct dut *d, int ret, bool connected)
{
	return ret == -EPROTO || ret == -ECANCELED || ret == -ENOMEM ||
	       ret == -ENAMETOOLONG || (is_child(d) && !connected);
}

int dut_reopen(struct dut *d, uint32_t ms, struct err *err)
{
	uint32_t pause_ms = RETRY_MS;
	uint64_t end, now;
	bool connected;
	int ret;

	uv_update_time(d->cfg.loop);
	end = uv_now(d->cfg.loop) + ms;
	for (;;) {
		ret = dut_connect(d, err);
		connected = ret == 0;
		now = uv_now(d->cfg.loop);
		/* A listener may take the connection long before the agent
		 * behind it is up (a guest that boots). */
		if (ret == 0)
			ret = say_hello(
				d, now < end ? (uint32_t)(end - now) : 1, err);
		if (ret == 0 || is_final(d, ret, connected))
			return ret;
		uv_update_time(d->cfg.loop);
		if (uv_now(d->cfg.loop) + pause_ms >= end)
			return ret;
		if (dut_run(d, pause_ms) < 0)
			return explain(d, -ECANCELED, err);
		/* A child may have to wait until the one before has tidied
		 * up; it says so each time. */
		if (is_child(d) && pause_ms < CHILD_RETRY_MAX_MS)
			pause_ms *= 2;
	}
}

static void describe(struct dut *d)
{
	const struct bench_agent *a = &d->cfg.bench->agent;

	if (a->type == BENCH_AGENT_SSH)
		snprintf(d->where, sizeof(d->where), "ssh %.200s", a->host);
	else if (a->type == BENCH_AGENT_STREAM)
		snprintf(d->where, sizeof(d->where), "socket %.200s", a->path);
	else
		snprintf(d->where, sizeof(d->where), "%s",
			 a->type == BENCH_AGENT_LOCAL ? "local child"
						      : "virtual bench");
}

int dut_open(const struct dut_client_cfg *cfg, struct dut **out,
	     struct err *err)
{
	struct dut *d = calloc(1, sizeof(*d));
	int ret;

	if (!d)
		return err_sys(err, -ENOMEM, "agent");
	d->cfg = *cfg;
	d->cfg.open_ms = cfg->open_ms ? cfg->open_ms : DUT_OPEN_MS;
	d->cfg.ping_ms = cfg->ping_ms ? cfg->ping_ms : DUT_PING_MS;
	d->cfg.silence_ms = cfg->silence_ms ? cfg->silence_ms : DUT_SILENCE_MS;
	d->fail = -ENOTCONN;
	/* Replies to an earlier bay on a stream that outlived it must not look
	 * like ours. */
	d->next_id = (uint32_t)uv_hrtime() & ~1u;
	d->buf = malloc(64 * 1024);
	if (!d->buf) {
		free(d);
		return err_sys(err, -ENOMEM, "agent");
	}
	delim_init(&d->delim, d->buf, 64 * 1024);
	uv_timer_init(cfg->loop, &d->timer);
	describe(d);
	ret = dut_reopen(d, d->cfg.open_ms, err);
	if (ret < 0)
		dut_close(d);
	else
		*out = d;
	return ret;
}

void dut_close(struct dut *d)
{
	if (!d)
		return;
	dut_hang_up(d);
	uv_close((uv_handle_t *)&d->timer, NULL);
	uv_run(d->cfg.loop, UV_RUN_NOWAIT);
	if (d->hello)
		bay__agent_hello_ack__free_unpacked(d->hello, NULL);
	free(d->buf);
	free(d);
}

void dut_cancel(struct dut *d)
{
	d->cancelled = true;
	uv_timer_start(&d->timer, on_timer, 0, 0);
}

void dut_resume(struct dut *d)
{
	d->cancelled = false;
}

bool dut_is_connected(const struct dut *d)
{
	return d->pipe && !d->fail;
}

const Bay__AgentHelloAck *dut_hello(const struct dut *d)
{
	return d->hello;
}

int dut_call(struct dut *d, Bay__Request *req, uint32_t ms, Bay__Reply **out,
	     struct err *err)
{
	return ask(d, req, ms ? ms : DUT_ANSWER_MS, out, err);
}

int dut_tell(struct dut *d, Bay__Request *req, struct err *err)
{
	int ret = d->pipe && !d->fail ? 0 : -ENOTCONN;

	if (ret == 0)
		ret = send_request(d, (d->next_id += 2) | 1, req);
	return ret < 0 ? explain(d, ret, err) : 0;
}

const Bay__BlockDev *dut_find_dev(const Bay__Inventory *inv, const char *id)
{
	size_t i;

	for (i = 0; i < inv->n_dev; i++)
		if (strcmp(inv->dev[i]->serial, id) == 0 ||
		    strcmp(inv->dev[i]->wwn, id) == 0)
			return inv->dev[i];
	return NULL;
}

Bay__AgentStatus dut_refusal(const struct dut *d)
{
	return d->refusal;
}

const char *dut_where(const struct dut *d)
{
	return d->where;
}
