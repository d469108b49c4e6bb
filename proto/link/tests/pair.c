#include "proto/link/tests/pair.h"

#include <string.h>

#define STEP_US        1000u
#define BYTES_PER_STEP 256u

uint32_t rng_next(struct rng *r)
{
	r->x ^= r->x << 13;
	r->x ^= r->x >> 7;
	r->x ^= r->x << 17;
	return (uint32_t)(r->x >> 16);
}

static void end_init(struct pair_end *e, enum session_role role,
		     const struct session_ops *ops, void *arg)
{
	struct session_cfg cfg = {
		.role = role,
		.major = SESSION_MAJOR,
		.minor = SESSION_MINOR,
		.lowest_major = SESSION_LOWEST_MAJOR,
		.schema = 0x5eed,
		.ops = ops,
		.arg = arg,
		.packets = e->packets,
		.payloads = e->payloads,
		.payload_max = PAIR_PAYLOAD,
		.window = PAIR_WINDOW,
		.tx = e->tx,
		.tx_size = PAIR_TX,
	};

	session_init(&e->s, &cfg);
}

void pair_init(struct pair *p, uint64_t seed, const struct session_ops *host,
	       void *host_arg, const struct session_ops *rig, void *rig_arg)
{
	memset(p, 0, sizeof(*p));
	p->now_us = 1000000;
	p->rng.x = seed * 0x9e3779b97f4a7c15u + 1;
	end_init(&p->host, SESSION_HOST, host, host_arg);
	end_init(&p->rig, SESSION_RIG, rig, rig_arg);
}

static void damage(struct pair *p, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (rng_next(&p->rng) % 1000000u >= p->error_ppm)
			continue;
		bytes[i] ^= (uint8_t)(1u + rng_next(&p->rng) % 255u);
		p->errors++;
	}
}

static void move(struct pair *p, struct session *from, struct session *to)
{
	uint8_t bytes[BYTES_PER_STEP];
	size_t len;
	const uint8_t *tx = session_tx(from, &len);

	if (!len)
		return;
	len = len < sizeof(bytes) ? len : sizeof(bytes);
	memcpy(bytes, tx, len);
	session_tx_done(from, len, p->now_us);
	p->bytes += len;
	damage(p, bytes, len);
	if (!p->cut)
		session_rx(to, bytes, len, p->now_us);
}

void pair_step(struct pair *p)
{
	session_poll(&p->host.s, p->now_us);
	session_poll(&p->rig.s, p->now_us);
	move(p, &p->host.s, &p->rig.s);
	move(p, &p->rig.s, &p->host.s);
	p->now_us += STEP_US;
}

void pair_run(struct pair *p, uint64_t us)
{
	for (uint64_t end = p->now_us + us; p->now_us < end;)
		pair_step(p);
}
