#include "proto/link/control.h"

#include <string.h>

#include "proto/link/wire.h"

/* Offsets after the kind. HELLO_ACK = HELLO's body, then the info. */
#define HELLO_BYTES 22u
#define INFO_BYTES  110u
#define PING_BYTES  10u
#define PONG_BYTES  26u

static void put_hello(uint8_t *p, const struct control_hello *h)
{
	p[0] = h->major;
	p[1] = h->minor;
	p[2] = h->lowest_major;
	p[3] = 0;
	wire_put16(p + 4, h->session);
	wire_put64(p + 6, h->schema);
	wire_put64(p + 14, h->time_us);
}

static void get_hello(const uint8_t *p, struct control_hello *h)
{
	h->major = p[0];
	h->minor = p[1];
	h->lowest_major = p[2];
	h->session = wire_get16(p + 4);
	h->schema = wire_get64(p + 6);
	h->time_us = wire_get64(p + 14);
}

static void put_info(uint8_t *p, const struct control_info *i)
{
	memcpy(p, i->firmware, CONTROL_TEXT_BYTES);
	memcpy(p + 32, i->board, CONTROL_TEXT_BYTES);
	memcpy(p + 64, i->unique_id, CONTROL_ID_BYTES);
	wire_put16(p + 80, i->board_revision);
	p[82] = i->slots;
	p[83] = i->window;
	wire_put16(p + 84, i->max_frame);
	p[86] = i->reset_cause;
	p[87] = 0;
	wire_put32(p + 88, i->features);
	wire_put32(p + 92, i->boot_id);
	wire_put32(p + 96, i->config_generation);
	wire_put32(p + 100, i->config_crc);
	wire_put32(p + 104, i->last_event);
	wire_put16(p + 108, (uint16_t)i->fault_mask);
}

static void get_info(const uint8_t *p, struct control_info *i)
{
	memcpy(i->firmware, p, CONTROL_TEXT_BYTES);
	memcpy(i->board, p + 32, CONTROL_TEXT_BYTES);
	memcpy(i->unique_id, p + 64, CONTROL_ID_BYTES);
	i->firmware[CONTROL_TEXT_BYTES - 1] = 0;
	i->board[CONTROL_TEXT_BYTES - 1] = 0;
	i->board_revision = wire_get16(p + 80);
	i->slots = p[82];
	i->window = p[83];
	i->max_frame = wire_get16(p + 84);
	i->reset_cause = p[86];
	i->features = wire_get32(p + 88);
	i->boot_id = wire_get32(p + 92);
	i->config_generation = wire_get32(p + 96);
	i->config_crc = wire_get32(p + 100);
	i->last_event = wire_get32(p + 104);
	i->fault_mask = wire_get16(p + 108);
}

static void put_stamps(uint8_t *p, const struct control_stamps *t, bool pong)
{
	wire_put16(p, t->id);
	wire_put64(p + 2, t->host_sent_us);
	if (!pong)
		return;
	wire_put64(p + 10, t->rig_rx_us);
	wire_put64(p + 18, t->rig_tx_us);
}

static void get_stamps(const uint8_t *p, struct control_stamps *t, bool pong)
{
	t->id = wire_get16(p);
	t->host_sent_us = wire_get64(p + 2);
	if (!pong)
		return;
	t->rig_rx_us = wire_get64(p + 10);
	t->rig_tx_us = wire_get64(p + 18);
}

/* Bytes of a kind's body, kind byte not counted; SIZE_MAX: unknown kind. */
static size_t body_bytes(unsigned kind)
{
	static const uint8_t bytes[] = {
		[CONTROL_HELLO] = HELLO_BYTES,
		[CONTROL_HELLO_ACK] = HELLO_BYTES + INFO_BYTES,
		[CONTROL_PING] = PING_BYTES,
		[CONTROL_PONG] = PONG_BYTES,
		[CONTROL_NO_SESSION] = 2,
		[CONTROL_ALL_OFF] = 4,
		[CONTROL_ALL_OFF_ACK] = 4,
	};

	if (kind < CONTROL_HELLO || kind >= sizeof(bytes))
		return SIZE_MAX;
	return bytes[kind];
}

size_t control_encode(const struct control *c, uint8_t *dst)
{
	uint8_t *p = dst + 1;

	dst[0] = (uint8_t)c->kind;
	switch (c->kind) {
	case CONTROL_HELLO_ACK:
		put_info(p + HELLO_BYTES, &c->info);
		put_hello(p, &c->hello);
		break;
	case CONTROL_HELLO:
		put_hello(p, &c->hello);
		break;
	case CONTROL_PING:
	case CONTROL_PONG:
		put_stamps(p, &c->stamps, c->kind == CONTROL_PONG);
		break;
	case CONTROL_ACK:
		break;
	case CONTROL_NO_SESSION:
		wire_put16(p, c->session);
		break;
	case CONTROL_ALL_OFF:
	case CONTROL_ALL_OFF_ACK:
		wire_put32(p, c->token);
		break;
	}
	return 1 + body_bytes(c->kind);
}

bool control_decode(const uint8_t *src, size_t len, struct control *c)
{
	const uint8_t *p = src + 1;

	if (!len || body_bytes(src[0]) > len - 1)
		return false;
	memset(c, 0, sizeof(*c));
	c->kind = (enum control_kind)src[0];
	switch (c->kind) {
	case CONTROL_HELLO_ACK:
		get_info(p + HELLO_BYTES, &c->info);
		get_hello(p, &c->hello);
		break;
	case CONTROL_HELLO:
		get_hello(p, &c->hello);
		break;
	case CONTROL_PING:
	case CONTROL_PONG:
		get_stamps(p, &c->stamps, c->kind == CONTROL_PONG);
		break;
	case CONTROL_ACK:
		break;
	case CONTROL_NO_SESSION:
		c->session = wire_get16(p);
		break;
	case CONTROL_ALL_OFF:
	case CONTROL_ALL_OFF_ACK:
		c->token = wire_get32(p);
		break;
	}
	return true;
}
