#include "firmware/tests/peer.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "firmware/core/config.h"
#include "firmware/tests/process.h"
#include "proto/schema.h"

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void take_result(struct peer *p, uint8_t flags, pb_istream_t *in)
{
	Result r = Result_init_zero;

	if (!pb_decode(in, Result_fields, &r) || r.op_id != p->waits_for)
		return;
	p->result = r;
	p->result_flags = flags;
	p->answered = true;
}

static bool on_receive(void *arg, uint8_t channel, uint8_t flags,
		       const uint8_t *payload, size_t len)
{
	struct peer *p = arg;
	pb_istream_t in = pb_istream_from_buffer(payload, len);

	if (channel == CHANNEL_COMMAND)
		take_result(p, flags, &in);
	if (channel == CHANNEL_EVENT && p->events < PEER_EVENTS &&
	    pb_decode(&in, Event_fields, &p->event[p->events]))
		p->events++;
	if (channel == CHANNEL_LOG &&
	    pb_decode(&in, LogLine_fields, &p->last_line))
		p->lines++;
	if (channel == CHANNEL_TELEMETRY &&
	    pb_decode(&in, Telemetry_fields, &p->last_telemetry))
		p->telemetry++;
	return true;
}

static void on_up(void *arg, const struct control_hello *peer,
		  const struct control_info *info)
{
	struct peer *p = arg;

	(void)peer;
	p->info = *info;
	p->up = true;
}

static void on_lost(void *arg, enum session_loss why)
{
	struct peer *p = arg;

	(void)why;
	p->up = false;
}

static uint32_t on_random(void *arg)
{
	(void)arg;
	return (uint32_t)now_us() ^ (uint32_t)getpid() << 8;
}

static const struct session_ops ops = {
	.receive = on_receive,
	.up = on_up,
	.lost = on_lost,
	.random = on_random,
};

int peer_open(struct peer *p, const char *path)
{
	struct session_cfg cfg = {
		.role = SESSION_HOST,
		.major = SESSION_MAJOR,
		.minor = SESSION_MINOR,
		.lowest_major = SESSION_LOWEST_MAJOR,
		.schema = SCHEMA_HASH,
		.ops = &ops,
		.arg = p,
		.packets = p->packets,
		.payloads = p->payloads,
		.payload_max = FRAME_PAYLOAD_MAX,
		.window = 4,
		.tx = p->tx,
		.tx_size = sizeof(p->tx),
	};

	memset(p, 0, sizeof(*p));
	p->next_op = now_us();
	session_init(&p->session, &cfg);
	p->fd = process_connect(path);
	return p->fd < 0 ? p->fd : 0;
}

void peer_close(struct peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static bool move_bytes(struct peer *p)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	uint8_t buf[512];
	const uint8_t *out;
	size_t len;

	session_poll(&p->session, now_us());
	out = session_tx(&p->session, &len);
	if (len) {
		ssize_t n = send(p->fd, out, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			session_tx_done(&p->session, (size_t)n, now_us());
	}
	if (poll(&fd, 1, 1) > 0) {
		ssize_t n = recv(p->fd, buf, sizeof(buf), 0);

		if (n <= 0)
			return false;
		session_rx(&p->session, buf, (size_t)n, now_us());
	}
	return true;
}

bool peer_wait(struct peer *p, const bool *flag, unsigned timeout_ms)
{
	uint64_t end = now_us() + timeout_ms * 1000u;

	while (!flag || !*flag) {
		if (now_us() >= end)
			return !flag;
		if (!move_bytes(p))
			return false;
		if (p->turn)
			p->turn(p->arg);
	}
	return true;
}

bool peer_hello(struct peer *p)
{
	session_open(&p->session, now_us());
	return peer_wait(p, &p->up, 10000);
}

bool peer_command(struct peer *p, const Command *cmd)
{
	Command c = *cmd;
	uint8_t buf[Command_size];
	pb_ostream_t out = pb_ostream_from_buffer(buf, sizeof(buf));

	if (!c.op_id)
		c.op_id = p->next_op++;
	p->waits_for = c.op_id;
	p->answered = false;
	if (!pb_encode(&out, Command_fields, &c))
		return false;
	while (session_send(&p->session, CHANNEL_COMMAND, 0, buf,
			    out.bytes_written) != SESSION_OK) {
		if (!p->up || !peer_wait(p, NULL, 2))
			return false;
	}
	return peer_wait(p, &p->answered, 15000);
}

bool peer_wait_state(struct peer *p, unsigned slot, slot_state state,
		     unsigned timeout_ms)
{
	Command cmd = Command_init_zero;
	uint64_t end = now_us() + timeout_ms * 1000ull;

	cmd.which_body = Command_get_status_tag;
	cmd.body.get_status.slot = slot;
	do {
		if (!peer_command(p, &cmd))
			return false;
		if (p->result.body.slot_status.state == state)
			return true;
		peer_wait(p, NULL, 20);
	} while (now_us() < end);
	return false;
}

bool peer_wait_all_off(struct peer *p)
{
	for (unsigned i = 0; i < p->info.slots; i++) {
		if (!peer_wait_state(p, i, SLOT_OFF, 10000))
			return false;
	}
	return true;
}

static bool done(struct peer *p, const Command *cmd)
{
	return peer_command(p, cmd) && p->result.status == RIG_OK;
}

static bool get_config(struct peer *p, struct config *config)
{
	Command get = Command_init_zero;

	memset(config, 0, sizeof(*config));
	config->slots = p->info.slots;
	get.which_body = Command_config_get_tag;
	get.body.config_get.rig = true;
	if (!done(p, &get))
		return false;
	config->rig = p->result.body.rig_config;
	get.body.config_get.rig = false;
	for (unsigned i = 0; i < config->slots; i++) {
		get.body.config_get.slot = i;
		if (!done(p, &get))
			return false;
		config->slot[i] = p->result.body.slot_config;
	}
	return true;
}

static bool put_config(struct peer *p, const struct config *config)
{
	Command put = Command_init_zero;

	put.which_body = Command_config_begin_tag;
	put.body.config_begin.generation = p->info.config_generation + 1;
	put.body.config_begin.slots = config->slots;
	if (!done(p, &put))
		return false;
	for (unsigned i = 0; i < config->slots; i++) {
		put = (Command)Command_init_zero;
		put.which_body = Command_config_slot_tag;
		put.body.config_slot = config->slot[i];
		if (!done(p, &put))
			return false;
	}
	put = (Command)Command_init_zero;
	put.which_body = Command_config_commit_tag;
	put.body.config_commit.generation = p->info.config_generation + 1;
	put.body.config_commit.crc = config_image_crc(config);
	return done(p, &put);
}

bool peer_set_ramps(struct peer *p, unsigned ms)
{
	struct config config;

	if (!peer_wait_all_off(p) || !get_config(p, &config))
		return false;
	for (unsigned i = 0; i < config.slots; i++)
		config.slot[i].ramp_timeout_ms = ms;
	return put_config(p, &config);
}
