#include "boards/virtual/backplane/qmp.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/util/log.h"

/* Worth a line: the firmware saw old readings meanwhile. */
#define SLOW_MS 100
#define WARN_NS 1000000000ull

struct bp_qmp_request {
	struct bp_qmp_request *next;
	json_int_t id;
	uint64_t sent_ns;
	bp_qmp_fn fn;
	void *arg;
};

static void check_latency(struct bp_qmp *q, const struct bp_qmp_request *r)
{
	uint64_t now_ns = uv_hrtime();
	uint64_t ms = (now_ns - r->sent_ns) / 1000000;

	if (ms < SLOW_MS || now_ns - q->warned_ns < WARN_NS)
		return;
	q->warned_ns = now_ns;
	log_warnx("%s: an answer took %u ms", q->cfg.path, (unsigned int)ms);
}

static void finish(struct bp_qmp *q, const struct bp_qmp_msg *m)
{
	struct bp_qmp_request *r = q->head;

	q->head = r->next;
	if (!q->head)
		q->tail = &q->head;
	q->pending--;
	check_latency(q, r);
	if (r->fn)
		r->fn(r->arg, m);
	free(r);
}

static void fail_all(struct bp_qmp *q)
{
	while (q->head)
		finish(q, NULL);
}

static void on_capabilities(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_qmp *q = arg;

	if (!m)
		return;
	if (m->kind != BP_QMP_RETURN) {
		bp_conn_reset(&q->conn);
		return;
	}
	q->ready = true;
	q->cfg.ready(q->cfg.arg);
}

/* Answers come in the order of the requests; one that does not fit means
 * that the stream is not what we think it is. */
static void on_answer(struct bp_qmp *q, const struct bp_qmp_msg *m)
{
	if (q->head && q->head->id == m->id)
		finish(q, m);
	else
		bp_conn_reset(&q->conn);
}

static void on_line(void *arg, const char *line)
{
	struct bp_qmp *q = arg;
	struct bp_qmp_msg m;

	bp_qmp_msg_parse(&m, line);
	switch (m.kind) {
	case BP_QMP_GREETING:
		bp_qmp_send(q, "qmp_capabilities", NULL, on_capabilities, q);
		break;
	case BP_QMP_RETURN:
	case BP_QMP_ERROR:
		on_answer(q, &m);
		break;
	case BP_QMP_EVENT:
		if (q->cfg.event)
			q->cfg.event(q->cfg.arg, &m);
		break;
	case BP_QMP_OTHER:
		break;
	}
	bp_qmp_msg_free(&m);
}

static void on_down(void *arg)
{
	struct bp_qmp *q = arg;
	bool was_ready = q->ready;

	q->ready = false;
	fail_all(q);
	if (was_ready)
		q->cfg.down(q->cfg.arg);
}

void bp_qmp_open(struct bp_qmp *q, uv_loop_t *loop,
		 const struct bp_qmp_cfg *cfg)
{
	struct bp_conn_cfg conn = { .line = on_line,
				    .down = on_down,
				    .arg = q };

	q->cfg = *cfg;
	q->head = NULL;
	q->tail = &q->head;
	q->pending = 0;
	q->last_id = 0;
	q->ready = false;
	snprintf(conn.path, sizeof(conn.path), "%s", cfg->path);
	bp_conn_open(&q->conn, loop, &conn);
}

static struct bp_qmp_request *request_new(struct bp_qmp *q, bp_qmp_fn fn,
					  void *arg)
{
	struct bp_qmp_request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->id = ++q->last_id;
	r->sent_ns = uv_hrtime();
	r->fn = fn;
	r->arg = arg;
	*q->tail = r;
	q->tail = &r->next;
	q->pending++;
	return r;
}

static char *request_text(const char *command, json_t *args, json_int_t id)
{
	json_t *root = json_pack("{s:s, s:o*, s:I}", "execute", command,
				 "arguments", args, "id", id);
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}

void bp_qmp_send(struct bp_qmp *q, const char *command, json_t *args,
		 bp_qmp_fn fn, void *arg)
{
	struct bp_qmp_request *r = NULL;
	char *text = NULL;

	if (q->conn.up)
		r = request_new(q, fn, arg);
	if (!r) {
		json_decref(args);
		if (fn)
			fn(arg, NULL);
		return;
	}
	text = request_text(command, args, r->id);
	if (text)
		bp_conn_send(&q->conn, text);
	else
		bp_conn_reset(&q->conn);
	free(text);
}

unsigned int bp_qmp_pending(const struct bp_qmp *q)
{
	return q->pending;
}

void bp_qmp_reset(struct bp_qmp *q)
{
	bp_conn_reset(&q->conn);
}

void bp_qmp_close(struct bp_qmp *q)
{
	bp_conn_close(&q->conn);
	fail_all(q);
}
