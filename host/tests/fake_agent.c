#include "host/tests/fake_agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tests/fake_rig.h"
#include "proto/link/delim.h"

struct fake_agent fake_agent;

/* With --wrap=uv_now the linker gives everyone the second for uv_now(). */
uint64_t real_uv_now(const uv_loop_t *loop) __asm__("__real_uv_now");
uint64_t late_uv_now(const uv_loop_t *loop) __asm__("__wrap_uv_now");

uint64_t late_uv_now(const uv_loop_t *loop)
{
	return real_uv_now(loop) + fake_agent.late_ms;
}

static struct {
	uv_loop_t *loop;
	uv_pipe_t *server, *client;
	uint8_t buf[1 << 20];
	struct delim delim;
	char boot_id[32];
	bool silent;  /* until the next connection */
	bool greeted; /* this process has had its hello */
} fa;

static void on_closed(uv_handle_t *h)
{
	free(h);
}

static void drop_client(void)
{
	if (fa.client)
		uv_close((uv_handle_t *)fa.client, on_closed);
	fa.client = NULL;
}

/* A process dies: what it mounted and set stays. */
static void die(void)
{
	fake_agent.incarnation++;
	fa.greeted = false;
	drop_client();
}

void fake_agent_reboot(const char *release)
{
	fake_agent.release = release;
	fake_agent.boots++;
	fake_agent.array = fake_agent.mounted = fake_agent.knobs = false;
	snprintf(fa.boot_id, sizeof(fa.boot_id), "boot-%u", fake_agent.boots);
	die();
}

/* ---- answers ------------------------------------------------------------ */

struct out {
	uv_write_t req;
	uint8_t data[];
};

static void on_written(uv_write_t *req, int status)
{
	(void)status;
	free(req);
}

static void send_bytes(const void *head, size_t head_len, const void *body,
		       size_t len)
{
	struct out *o = malloc(sizeof(*o) + head_len + len);
	uv_buf_t b = uv_buf_init((char *)o->data, (unsigned)(head_len + len));

	memcpy(o->data, head, head_len);
	memcpy(o->data + head_len, body, len);
	if (!fa.client ||
	    uv_write(&o->req, (uv_stream_t *)fa.client, &b, 1, on_written) < 0)
		free(o);
}

static void send_envelope(const Bay__Envelope *e)
{
	static uint8_t buf[1 << 16];
	uint8_t header[DELIM_HEADER_BYTES];
	size_t len = bay__envelope__get_packed_size(e);

	assert_true(len <= sizeof(buf));
	bay__envelope__pack(e, buf);
	delim_header(header, buf, len);
	send_bytes(header, sizeof(header), buf, len);
}

static void answer(uint32_t id, Bay__Reply *r)
{
	Bay__Envelope e = BAY__ENVELOPE__INIT;

	e.id = id;
	e.body_case = BAY__ENVELOPE__BODY_REPLY;
	e.reply = r;
	send_envelope(&e);
}

static void refuse(uint32_t id, Bay__AgentStatus status, const char *why)
{
	Bay__Reply r = BAY__REPLY__INIT;

	r.status = status;
	r.error_text = (char *)why;
	answer(id, &r);
}

static void ok(uint32_t id)
{
	Bay__Reply r = BAY__REPLY__INIT;

	answer(id, &r);
}

/* On the connection that stands. */
static void restart(void)
{
	Bay__Envelope e = BAY__ENVELOPE__INIT;
	Bay__AgentEvent event = BAY__AGENT_EVENT__INIT;
	Bay__AgentStarted started = BAY__AGENT_STARTED__INIT;

	fake_agent.incarnation++;
	fa.greeted = false;
	started.incarnation = 100 + fake_agent.incarnation;
	event.body_case = BAY__AGENT_EVENT__BODY_STARTED;
	event.started = &started;
	e.body_case = BAY__ENVELOPE__BODY_EVENT;
	e.event = &event;
	send_envelope(&e);
}

static bool has_power(const char *serial)
{
	const struct bench_disk *d = bench_disk_find(fake_agent.bench, serial);

	if (fake_agent.missing && strcmp(serial, fake_agent.missing) == 0)
		return false;
	return d && (!fake_agent.has_rig || d->slot < 0 ||
		     (fake_rig.on >> d->slot & 1));
}

static void do_hello(uint32_t id)
{
	Bay__Reply r = BAY__REPLY__INIT;
	Bay__AgentHelloAck h = BAY__AGENT_HELLO_ACK__INIT;

	fa.greeted = true;
	h.major = 1;
	h.boot_id = fa.boot_id;
	h.incarnation = 100 + fake_agent.incarnation;
	h.kernel_release = (char *)fake_agent.release;
	h.spooled = fake_agent.spooled != NULL;
	r.body_case = BAY__REPLY__BODY_HELLO;
	r.hello = &h;
	answer(id, &r);
}

static void do_inventory(uint32_t id, const Bay__InventoryReq *q)
{
	static Bay__BlockDev dev[8];
	static Bay__Signature sig;
	Bay__Signature *sigs[1] = { &sig };
	Bay__BlockDev *devs[8];
	Bay__Inventory inv = BAY__INVENTORY__INIT;
	Bay__Reply r = BAY__REPLY__INIT;
	size_t i;

	bay__signature__init(&sig);
	sig.type = (char *)"ntfs";
	for (i = 0; i < q->n_serial; i++) {
		if (!has_power(q->serial[i]))
			continue;
		bay__block_dev__init(&dev[i]);
		dev[i].serial = q->serial[i];
		dev[i].allowed = true;
		dev[i].signature = sigs;
		dev[i].n_signature = fake_agent.foreign;
		devs[inv.n_dev++] = &dev[i];
	}
	inv.dev = devs;
	r.body_case = BAY__REPLY__BODY_INVENTORY;
	r.inventory = &inv;
	answer(id, &r);
}

static void do_wait(uint32_t id, const Bay__WaitDisksReq *q)
{
	size_t i;

	for (i = 0; i < q->n_serial; i++)
		if (has_power(q->serial[i]) == q->gone) {
			refuse(id, BAY__AGENT_STATUS__AGENT_TIMEOUT,
			       "a disk did not come");
			return;
		}
	ok(id);
}

static void do_create(uint32_t id)
{
	if (fake_agent.array || fake_agent.mounted) {
		refuse(id, BAY__AGENT_STATUS__AGENT_BUSY, "array is there");
		return;
	}
	fake_agent.array = true;
	fake_agent.fs = false;
	ok(id);
}

/* Whether this workload loses its disk; the next one does not. */
static bool loses_disk(const Bay__Cell *cell)
{
	size_t i;

	for (i = 0; i < cell->array->n_serial; i++)
		if (fake_agent.lose &&
		    strcmp(cell->array->serial[i], fake_agent.lose) == 0)
			return true;
	return false;
}

static void make_result(const Bay__WorkloadReq *q, Bay__CellState state)
{
	char *lost[1] = { (char *)fake_agent.lose };
	Bay__CellResult r = BAY__CELL_RESULT__INIT;
	Bay__Metric m = BAY__METRIC__INIT, *ms[1] = { &m };
	Bay__PhaseTime p = BAY__PHASE_TIME__INIT, *ps[1] = { &p };
	size_t len;
	uint8_t *buf;

	r.key = q->cell->key;
	r.attempt = q->attempt;
	r.state = state;
	r.error_text = state == BAY__CELL_STATE__CELL_DONE
			       ? (char *)""
			       : (char *)"dd failed";
	r.spool_id = (char *)"spool-1";
	r.cell = q->cell;
	r.kernel_release = (char *)fake_agent.release;
	m.name = (char *)"write_bw";
	m.value = 30;
	r.metric = ms;
	r.n_metric = 1;
	p.phase = (char *)"run";
	p.seconds = 1;
	r.phase = ps;
	r.n_phase = 1;
	if (fake_agent.lost) {
		r.error_text = (char *)"array cell lost disk S2";
		r.lost_serial = lost;
		r.n_lost_serial = 1;
	}
	len = bay__cell_result__get_packed_size(&r);
	buf = malloc(len);
	bay__cell_result__pack(&r, buf);
	if (fake_agent.spooled)
		bay__cell_result__free_unpacked(fake_agent.spooled, NULL);
	fake_agent.spooled = bay__cell_result__unpack(NULL, len, buf);
	free(buf);
}

static void do_workload(uint32_t id, const Bay__WorkloadReq *q, bool lost)
{
	Bay__CellState state = BAY__CELL_STATE__CELL_DONE;
	Bay__Reply r = BAY__REPLY__INIT;

	fake_agent.workloads++;
	fake_agent.dirty_start |= !fake_agent.array || !fake_agent.mounted;
	fake_rig_tick();
	fake_rig_tick();
	if (fake_agent.at_workload) {
		fake_agent.at_workload();
		return; /* it is cancelled */
	}
	if (fake_agent.fail_workloads) {
		fake_agent.fail_workloads--;
		state = BAY__CELL_STATE__CELL_FAILED;
	}
	if (loses_disk(q->cell)) {
		fake_agent.lost = true;
		state = BAY__CELL_STATE__CELL_FAILED;
		if (fake_agent.reset_rig)
			fake_rig_boot();
	}
	make_result(q, state);
	if (fake_agent.lost && fake_agent.lose_again)
		fake_agent.lose_again--;
	else if (fake_agent.lost)
		fake_agent.lose = NULL;
	if (lost)
		return;
	r.body_case = BAY__REPLY__BODY_RESULT;
	r.result = fake_agent.spooled;
	answer(id, &r);
}

static void do_show(uint32_t id)
{
	Bay__Reply r = BAY__REPLY__INIT;
	Bay__ArrayStates l = BAY__ARRAY_STATES__INIT;
	Bay__ArrayState a = BAY__ARRAY_STATE__INIT, *as[1] = { &a };
	Bay__ArraySpec spec = BAY__ARRAY_SPEC__INIT;
	char *damaged = (char *)fake_agent.damaged;

	a.name = (char *)"data";
	a.spec = &spec;
	l.array = as;
	l.n_array = fake_agent.other_array;
	l.damaged = &damaged;
	l.n_damaged = fake_agent.damaged != NULL;
	r.body_case = BAY__REPLY__BODY_ARRAYS;
	r.arrays = &l;
	answer(id, &r);
}

static void do_spool_list(uint32_t id)
{
	Bay__Reply r = BAY__REPLY__INIT;
	Bay__SpoolList l = BAY__SPOOL_LIST__INIT;
	Bay__SpoolEntry e = BAY__SPOOL_ENTRY__INIT, *es[1] = { &e };

	e.spool_id = (char *)"spool-1";
	l.entry = es;
	l.n_entry = fake_agent.spooled != NULL;
	r.body_case = BAY__REPLY__BODY_SPOOL;
	r.spool = &l;
	answer(id, &r);
}

static void do_spool_get(uint32_t id)
{
	Bay__Reply r = BAY__REPLY__INIT;

	assert_non_null(fake_agent.spooled);
	r.body_case = BAY__REPLY__BODY_RESULT;
	r.result = fake_agent.spooled;
	answer(id, &r);
}

static void drop_spool(void)
{
	if (fake_agent.spooled)
		bay__cell_result__free_unpacked(fake_agent.spooled, NULL);
	fake_agent.spooled = NULL;
}

static void do_zero(uint32_t id)
{
	if (fake_agent.lost) {
		refuse(id, BAY__AGENT_STATUS__AGENT_MISSING, "a disk is away");
		return;
	}
	fake_agent.array = false;
	ok(id);
}

static void do_reset(uint32_t id)
{
	Bay__Reply r = BAY__REPLY__INIT;
	Bay__ResetState s = BAY__RESET_STATE__INIT;

	fake_agent.array = fake_agent.mounted = fake_agent.knobs = false;
	fake_agent.lost = false;
	r.body_case = BAY__REPLY__BODY_RESET;
	r.reset = &s;
	answer(id, &r);
}

/* ---- requests ------------------------------------------------------------ */

/* true: the request is not answered (any more). */
static bool misbehave(uint32_t id, const Bay__Request *q)
{
	static const char rubbish[] = "Last login: BAYA yesterday\nBAYA";

	if (fake_agent.requests != fake_agent.fault_at)
		return false;
	fake_agent.fired = true;
	/* The work is done, its answer is lost: the worse half. */
	if (q->op_case == BAY__REQUEST__OP_WORKLOAD &&
	    fake_agent.fault <= FAKE_LOSE_ANSWER)
		do_workload(id, q->workload, true);
	switch (fake_agent.fault) {
	case FAKE_HANG_UP:
		die();
		return true;
	case FAKE_REBOOT:
		fake_agent_reboot(fake_agent.release);
		return true;
	case FAKE_SILENT:
		fa.silent = true;
		return true;
	case FAKE_FAIL:
		refuse(id, BAY__AGENT_STATUS__AGENT_FAILED, "a tool failed");
		return true;
	case FAKE_RUBBISH:
		send_bytes(rubbish, sizeof(rubbish), "", 0);
		return false;
	case FAKE_RESTART:
		restart();
		return true;
	case FAKE_STAND_STILL:
		fake_agent.late_ms += 3600000;
		return false;
	default:
		return false;
	}
}

static void perform(uint32_t id, const Bay__Request *q)
{
	switch (q->op_case) {
	case BAY__REQUEST__OP_HELLO:
		do_hello(id);
		break;
	case BAY__REQUEST__OP_INVENTORY:
		do_inventory(id, q->inventory);
		break;
	case BAY__REQUEST__OP_WAIT_DISKS:
		do_wait(id, q->wait_disks);
		break;
	case BAY__REQUEST__OP_ARRAY_CREATE:
		do_create(id);
		break;
	case BAY__REQUEST__OP_MKFS:
		fake_agent.fs = true;
		ok(id);
		break;
	case BAY__REQUEST__OP_MOUNT:
		fake_agent.mounted = fake_agent.fs;
		ok(id);
		break;
	case BAY__REQUEST__OP_UNMOUNT:
		fake_agent.mounted = false;
		ok(id);
		break;
	case BAY__REQUEST__OP_ARRAY_ZERO:
		do_zero(id);
		break;
	case BAY__REQUEST__OP_KNOB_SET:
		fake_agent.knobs = true;
		ok(id);
		break;
	case BAY__REQUEST__OP_KNOB_RESTORE:
		fake_agent.knobs = false;
		ok(id);
		break;
	case BAY__REQUEST__OP_WORKLOAD:
		do_workload(id, q->workload, false);
		break;
	case BAY__REQUEST__OP_ARRAY_SHOW:
		do_show(id);
		break;
	case BAY__REQUEST__OP_SPOOL_LIST:
		do_spool_list(id);
		break;
	case BAY__REQUEST__OP_SPOOL_GET:
		do_spool_get(id);
		break;
	case BAY__REQUEST__OP_SPOOL_ACK:
		drop_spool();
		ok(id);
		break;
	case BAY__REQUEST__OP_RESET:
		do_reset(id);
		break;
	default:
		ok(id);
	}
}

static void serve(uint32_t id, const Bay__Request *q)
{
	if (fa.silent)
		return;
	switch (q->op_case) {
	case BAY__REQUEST__OP_PING:
	case BAY__REQUEST__OP_CANCEL:
		ok(id);
		return;
	default:
		break;
	}
	fake_agent.requests++;
	if (misbehave(id, q))
		return;
	if (fa.greeted || q->op_case == BAY__REQUEST__OP_HELLO)
		perform(id, q);
	else
		refuse(id, BAY__AGENT_STATUS__AGENT_INVALID, "hello first");
	if (fake_agent.fault == FAKE_RESTART_AFTER &&
	    fake_agent.requests == fake_agent.fault_at)
		restart();
}

/* ---- socket -------------------------------------------------------------- */

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *b)
{
	size_t room;

	(void)h;
	(void)hint;
	b->base = (char *)delim_space(&fa.delim, &room);
	b->len = room;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	const uint8_t *payload;
	size_t len;

	(void)b;
	if ((uv_pipe_t *)s != fa.client)
		return;
	if (n < 0) {
		drop_client();
		return;
	}
	delim_fill(&fa.delim, (size_t)n);
	while (fa.client &&
	       delim_next(&fa.delim, &payload, &len) == DELIM_FRAME) {
		Bay__Envelope *e = bay__envelope__unpack(NULL, len, payload);

		assert_non_null(e);
		assert_int_equal(e->body_case, BAY__ENVELOPE__BODY_REQUEST);
		serve(e->id, e->request);
		bay__envelope__free_unpacked(e, NULL);
	}
}

static void on_connection(uv_stream_t *server, int status)
{
	uv_pipe_t *client = malloc(sizeof(*client));

	assert_int_equal(status, 0);
	uv_pipe_init(fa.loop, client, 0);
	assert_int_equal(uv_accept(server, (uv_stream_t *)client), 0);
	drop_client();
	fa.client = client;
	fake_agent.connections++;
	fa.silent = false;
	delim_reset(&fa.delim);
	uv_read_start((uv_stream_t *)client, on_alloc, on_read);
}

void fake_agent_start(uv_loop_t *loop, const char *path,
		      const struct bench *bench)
{
	memset(&fake_agent, 0, sizeof(fake_agent));
	memset(&fa, 0, sizeof(fa));
	fake_agent.bench = bench;
	fake_agent.has_rig = bench->rig.type != BENCH_RIG_NONE;
	fake_agent.release = "6.1.0-31-amd64";
	fa.loop = loop;
	delim_init(&fa.delim, fa.buf, sizeof(fa.buf));
	snprintf(fa.boot_id, sizeof(fa.boot_id), "boot-0");
	fa.server = malloc(sizeof(*fa.server));
	uv_pipe_init(loop, fa.server, 0);
	unlink(path);
	assert_int_equal(uv_pipe_bind(fa.server, path), 0);
	assert_int_equal(uv_listen((uv_stream_t *)fa.server, 8, on_connection),
			 0);
	/* It must not keep a loop of the client's alive. */
	uv_unref((uv_handle_t *)fa.server);
}

void fake_agent_stop(void)
{
	drop_client();
	drop_spool();
	uv_close((uv_handle_t *)fa.server, on_closed);
	uv_run(fa.loop, UV_RUN_DEFAULT);
}
