/* A session fed by a hostile peer. The first byte: bit 0 role, bit 1 raw
 * bytes instead of frames. Frames are { length, header, payload } in the
 * input and get their checksum, and in half of them the session in force,
 * from here: else hardly one would get past the door. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/link/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool receive(void *arg, uint8_t channel, uint8_t flags,
		    const uint8_t *payload, size_t len)
{
	struct session *s = arg;

	(void)flags;
	/* Touch it all, answer it, and refuse some. */
	if (len && payload[len - 1] == 0xee)
		return false;
	session_send(s, channel, FRAME_DUP_RESULT, payload, len);
	session_send_unreliable(s, CHANNEL_LOG, payload, len, 1);
	return true;
}

static void info(void *arg, struct control_info *i)
{
	(void)arg;
	i->slots = 8;
}

static void all_off(void *arg)
{
	(void)arg;
}

static uint32_t random_bits(void *arg)
{
	(void)arg;
	return 4;
}

static const struct session_ops ops = {
	.receive = receive,
	.info = info,
	.all_off = all_off,
	.random = random_bits,
};

struct memory {
	struct session_packet packets[4];
	uint8_t payloads[4 * 256];
	uint8_t tx[1100];
};

static void init(struct session *s, struct memory *m, bool rig)
{
	struct session_cfg cfg = {
		.role = rig ? SESSION_RIG : SESSION_HOST,
		.major = 1,
		.lowest_major = 1,
		.ops = &ops,
		.arg = s,
		.packets = m->packets,
		.payloads = m->payloads,
		.payload_max = 256,
		.window = 4,
		.tx = m->tx,
		.tx_size = sizeof(m->tx),
	};

	session_init(s, &cfg);
	if (!rig)
		session_open(s, 0);
}

static void drain(struct session *s, uint64_t now)
{
	size_t len;

	session_poll(s, now);
	session_tx(s, &len);
	session_tx_done(s, len, now);
	session_deadline_us(s, now);
}

/* Returns the bytes used. */
static size_t feed_frame(struct session *s, const uint8_t *p, size_t n,
			 uint64_t now)
{
	uint8_t wire[FRAME_WIRE_MAX];
	struct frame f;
	size_t len = p[0];

	if (n < 9)
		return n;
	len = len < n - 9 ? len : n - 9;
	f = (struct frame){
		.major = p[1] >> 4,
		.flags = p[1] & 15,
		.channel = p[2],
		.session = p[3] & 1 ? s->id : p[4],
		.seq = p[5],
		.ack = p[7],
		.payload = p + 9,
		.len = len,
	};
	session_rx(s, wire, frame_encode(&f, wire, sizeof(wire)), now);
	return 9 + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory m;
	struct session s;
	uint64_t now = 1000;

	if (!size)
		return 0;
	init(&s, &m, data[0] & 1);
	if (!(data[0] & 1)) {
		/* A host only listens once its HELLO is out. */
		drain(&s, now);
	}
	for (size_t at = 1; at < size; now += 7000) {
		if (data[0] & 2) {
			size_t n = size - at < 64 ? size - at : 64;

			session_rx(&s, data + at, n, now);
			at += n;
		} else {
			at += feed_frame(&s, data + at, size - at, now);
		}
		drain(&s, now);
	}
	return 0;
}
