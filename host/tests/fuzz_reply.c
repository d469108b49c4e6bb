/* Answers and events of a hostile agent, at the controller's client. An input
 * is a list of messages, each behind a byte of kind and its length in two
 * bytes, least significant first. Kind 0: a Reply to the request at hand, the
 * first of which is the hello. Kind 1: a whole Envelope. Kind 2: bytes outside
 * of any frame. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/bench/dut.h"
#include "host/util/fs.h"
#include "host/util/log.h"
#include "proto/link/delim.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENVELOPE_HEAD 16u /* of the id, and of the reply's tag and length */
#define OPEN_MS       50u

static char dir[] = "/tmp/bay-fuzz-reply-XXXXXX";
static char path[64];

static struct {
	uv_loop_t loop;
	uv_pipe_t *server, *client;
	uint8_t in[1 << 16];
	struct delim delim;
	const uint8_t *data; /* what is left of the input */
	size_t size;
} hostile;

static void remove_all(void)
{
	(void)fs_remove_tree(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		fatal(1, "%s", dir);
	(void)atexit(remove_all);
	(void)snprintf(path, sizeof(path), "%s/agent.sock", dir);
	log_set_level(LOG_LEVEL_ERROR);
	return 0;
}

static void on_closed(uv_handle_t *h)
{
	free(h);
}

static void hang_up(void)
{
	if (hostile.client)
		uv_close((uv_handle_t *)hostile.client, on_closed);
	hostile.client = NULL;
}

/* The other end is in this process and takes all that a socket holds. */
static void send_bytes(const void *bytes, size_t len)
{
	uv_buf_t b = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)len);

	(void)uv_try_write((uv_stream_t *)hostile.client, &b, 1);
}

static void send_frame(const uint8_t *payload, size_t len)
{
	uint8_t header[DELIM_HEADER_BYTES];

	delim_header(header, payload, len);
	send_bytes(header, sizeof(header));
	send_bytes(payload, len);
}

static size_t put_varint(uint8_t *p, uint32_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

/* Envelope of id (field 1) and reply (field 3), whose bytes stay as they are.
 */
static void send_reply(uint32_t id, const uint8_t *reply, size_t len)
{
	uint8_t *p = malloc(ENVELOPE_HEAD + len);
	size_t n = 0;

	if (!p)
		return;
	p[n++] = 1 << 3;
	n += put_varint(p + n, id);
	p[n++] = 3 << 3 | 2;
	n += put_varint(p + n, (uint32_t)len);
	memcpy(p + n, reply, len);
	send_frame(p, n + len);
	free(p);
}

/* What the client would pass over and wait for another. */
static bool is_reply(const uint8_t *body, size_t len)
{
	Bay__Reply *r = bay__reply__unpack(NULL, len, body);

	if (r)
		bay__reply__free_unpacked(r, NULL);
	return r != NULL;
}

/* Everything up to the next Reply; the end of the input is the end of the
 * connection. */
static void respond(uint32_t id)
{
	while (hostile.size >= 3) {
		unsigned kind = hostile.data[0] % 3;
		size_t len = hostile.data[1] | (size_t)hostile.data[2] << 8;
		const uint8_t *body = hostile.data + 3;

		hostile.size -= 3;
		if (len > hostile.size)
			len = hostile.size;
		hostile.data = body + len;
		hostile.size -= len;
		if (kind == 0) {
			send_reply(id, body, len);
			if (is_reply(body, len))
				return;
			hostile.size = 0;
		} else if (kind == 1) {
			send_frame(body, len);
		} else {
			send_bytes(body, len);
		}
	}
	hang_up();
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *b)
{
	size_t room;

	(void)h;
	(void)hint;
	b->base = (char *)delim_space(&hostile.delim, &room);
	b->len = room;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	const uint8_t *payload;
	size_t len;

	(void)b;
	if ((uv_pipe_t *)s != hostile.client)
		return;
	if (n < 0) {
		hang_up();
		return;
	}
	delim_fill(&hostile.delim, (size_t)n);
	while (hostile.client &&
	       delim_next(&hostile.delim, &payload, &len) == DELIM_FRAME) {
		Bay__Envelope *e = bay__envelope__unpack(NULL, len, payload);

		if (!e || e->body_case != BAY__ENVELOPE__BODY_REQUEST)
			abort();
		respond(e->id);
		bay__envelope__free_unpacked(e, NULL);
	}
}

static void on_connection(uv_stream_t *server, int status)
{
	uv_pipe_t *client = malloc(sizeof(*client));

	if (status || !client)
		abort();
	(void)uv_pipe_init(&hostile.loop, client, 0);
	if (uv_accept(server, (uv_stream_t *)client))
		abort();
	hang_up();
	hostile.client = client;
	delim_reset(&hostile.delim);
	(void)uv_read_start((uv_stream_t *)client, on_alloc, on_read);
}

static void serve(void)
{
	(void)uv_loop_init(&hostile.loop);
	delim_init(&hostile.delim, hostile.in, sizeof(hostile.in));
	hostile.server = malloc(sizeof(*hostile.server));
	if (!hostile.server)
		abort();
	(void)uv_pipe_init(&hostile.loop, hostile.server, 0);
	(void)unlink(path);
	if (uv_pipe_bind(hostile.server, path) ||
	    uv_listen((uv_stream_t *)hostile.server, 8, on_connection))
		abort();
}

static void end(void)
{
	hang_up();
	uv_close((uv_handle_t *)hostile.server, on_closed);
	(void)uv_run(&hostile.loop, UV_RUN_DEFAULT);
	if (uv_loop_close(&hostile.loop))
		abort();
}

static void on_event(void *arg, const Bay__AgentEvent *event)
{
	(void)arg;
	if (event->body_case == BAY__AGENT_EVENT__BODY_LOG && event->log &&
	    !event->log->text)
		abort();
}

/* What the client lets through is what its users rely on. */
static void check_reply(const Bay__Reply *r)
{
	if (r->status != BAY__AGENT_STATUS__AGENT_OK)
		abort();
	if (r->body_case == BAY__REPLY__BODY_ARRAY && !r->array->spec)
		abort();
	if (r->body_case != BAY__REPLY__BODY_ARRAYS)
		return;
	for (size_t i = 0; i < r->arrays->n_array; i++) {
		if (!r->arrays->array[i]->spec)
			abort();
	}
}

/* Until the agent has nothing more to say. */
static void ask(struct dut *d)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayShowReq show = BAY__ARRAY_SHOW_REQ__INIT;
	Bay__Reply *reply = NULL;
	struct err err = { 0 };
	int rc;

	req.op_case = BAY__REQUEST__OP_ARRAY_SHOW;
	req.array_show = &show;
	do {
		rc = dut_call(d, &req, OPEN_MS, &reply, &err);
		if (rc == 0) {
			check_reply(reply);
			bay__reply__free_unpacked(reply, NULL);
		} else if (!err.text[0]) {
			abort(); /* a failure says why */
		}
	} while (rc == 0 || rc == -EREMOTEIO || rc == -EPROTO);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench_disk disk = { .serial = (char *)"A", .slot = -1 };
	struct bench bench = {
		.agent = { .type = BENCH_AGENT_STREAM, .path = path },
		.disks = &disk,
		.n_disks = 1,
	};
	const struct dut_client_cfg cfg = { .loop = &hostile.loop,
					    .bench = &bench,
					    .event = on_event,
					    .open_ms = OPEN_MS };
	struct err err = { 0 };
	struct dut *d = NULL;

	hostile.data = data;
	hostile.size = size;
	serve();
	if (dut_open(&cfg, &d, &err) == 0)
		ask(d);
	dut_close(d);
	end();
	return 0;
}
