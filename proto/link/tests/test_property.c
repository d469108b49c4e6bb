/* Commands one way and events the other through both ends of a session over
 * wires that damage one byte in a thousand and fail altogether now and then.
 * Whatever happens: nothing is executed twice, nothing is lost silently.
 *
 * Usage: test-link-property [MESSAGES [SEED]] */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/link/opcache.h"
#include "proto/link/tests/cmocka_all.h"
#include "proto/link/tests/pair.h"
#include "proto/link/wire.h"

#define ERROR_PPM    1000u
#define IN_FLIGHT    8u
#define TEXT_MAX     480u
#define OUTAGE_EVERY 5000u /* messages */
#define OUTAGE_US    5000000u

enum kind {
	KIND_EXECUTE = 1, /* channel 1, host: op, filler */
	KIND_GET_OP,      /* channel 1, host: op */
	KIND_RESULT,      /* channel 1, rig: op, known */
	KIND_EVENT,       /* channel 2, rig: number, filler */
	KIND_EVENT_ACK,   /* channel 2, host: number */
};

enum op_state {
	OP_NEW,     /* to be sent */
	OP_SENT,    /* waits for its result */
	OP_UNKNOWN, /* the link was lost: ask before doing anything */
	OP_ASKED,
	OP_DONE,
};

struct op {
	uint32_t id;
	enum op_state state;
};

struct host_app {
	struct op op[IN_FLIGHT];
	uint32_t next_op;
	uint32_t done;
	uint32_t event; /* last one received */
	uint32_t event_repeats;
	uint32_t acked_event;
	uint32_t asked;
	uint32_t losses;
	struct rng rng;
};

struct rig_app {
	struct opcache cache;
	uint8_t *executed; /* times, by op */
	uint32_t dup_results;
	uint32_t next_event;
	uint32_t acked_event;
	uint32_t losses;
	struct rng rng;
};

struct world {
	struct pair pair;
	struct host_app host;
	struct rig_app rig;
	uint32_t messages; /* in each direction */
	uint32_t outages;
	bool failed;
	const char *why;
};

static struct world w;
static uint32_t messages = 50000;
static uint64_t seed = 1;

static void fail_with(const char *why)
{
	if (!w.failed)
		w.why = why;
	w.failed = true;
}

/* Content that the receiver can check: a function of kind and number. */
static size_t make(uint8_t *p, enum kind kind, uint32_t n, struct rng *rng)
{
	size_t len = 5 + rng_next(rng) % 60;

	if (rng_next(rng) % 64 == 0)
		len = 5 + rng_next(rng) % (TEXT_MAX - 5);
	p[0] = (uint8_t)kind;
	wire_put32(p + 1, n);
	for (size_t i = 5; i < len; i++)
		p[i] = (uint8_t)(n >> i % 24);
	return len;
}

static bool is_intact(const uint8_t *p, size_t len)
{
	uint32_t n = wire_get32(p + 1);

	for (size_t i = 5; i < len; i++)
		if (p[i] != (uint8_t)(n >> i % 24))
			return false;
	return true;
}

/* ---- rig ---- */

static bool rig_answer(uint32_t op, bool known, uint8_t flags)
{
	uint8_t p[6] = { KIND_RESULT };

	wire_put32(p + 1, op);
	p[5] = known;
	return session_send(&w.pair.rig.s, CHANNEL_COMMAND, flags, p, 6) ==
	       SESSION_OK;
}

static bool rig_execute(uint32_t op)
{
	if (opcache_find(&w.rig.cache, op)) {
		w.rig.dup_results++;
		return rig_answer(op, true, FRAME_DUP_RESULT);
	}
	if (!rig_answer(op, true, 0))
		return false;
	if (w.rig.executed[op]++)
		fail_with("a command was executed twice");
	opcache_store(&w.rig.cache, &(struct opcache_entry){ .op_id = op });
	return true;
}

static bool rig_receive(void *arg, uint8_t channel, uint8_t flags,
			const uint8_t *p, size_t len)
{
	uint32_t n = wire_get32(p + 1);

	(void)arg;
	(void)channel;
	(void)flags;
	switch (p[0]) {
	case KIND_EXECUTE:
		if (!is_intact(p, len))
			fail_with("a damaged command was delivered");
		return rig_execute(n);
	case KIND_GET_OP:
		return rig_answer(n, opcache_find(&w.rig.cache, n) != NULL, 0);
	case KIND_EVENT_ACK:
		w.rig.acked_event = n;
		return true;
	default:
		fail_with("the rig got an unknown message");
		return true;
	}
}

/* Room is left for results: commands must not wait for events. */
static void rig_run(void)
{
	uint8_t p[TEXT_MAX];

	while (session_window_free(&w.pair.rig.s) > 1 &&
	       w.rig.next_event <= w.messages) {
		size_t len = make(p, KIND_EVENT, w.rig.next_event, &w.rig.rng);

		session_send(&w.pair.rig.s, CHANNEL_EVENT, 0, p, len);
		w.rig.next_event++;
	}
	session_send_unreliable(&w.pair.rig.s, CHANNEL_TELEMETRY, p, 5,
				w.pair.now_us);
}

static void rig_up(void *arg, const struct control_hello *peer,
		   const struct control_info *info)
{
	(void)arg;
	(void)peer;
	(void)info;
	w.rig.next_event = w.rig.acked_event + 1;
}

static void rig_lost(void *arg, enum session_loss why)
{
	(void)arg;
	(void)why;
	w.rig.losses++;
}

static void rig_info(void *arg, struct control_info *info)
{
	(void)arg;
	info->slots = 1;
}

static void rig_all_off(void *arg)
{
	(void)arg;
	fail_with("ALL_OFF came from nowhere");
}

/* ---- host ---- */

static void host_result(uint32_t id, bool known)
{
	for (unsigned i = 0; i < IN_FLIGHT; i++) {
		struct op *op = &w.host.op[i];

		if (op->id != id || op->state == OP_DONE)
			continue;
		/* Not known: it never arrived, so it is sent again. */
		op->state = known ? OP_DONE : OP_NEW;
		w.host.done += known;
	}
}

static void host_event(const uint8_t *p, size_t len)
{
	uint32_t n = wire_get32(p + 1);

	if (!is_intact(p, len))
		fail_with("a damaged event was delivered");
	if (n <= w.host.event) {
		w.host.event_repeats++;
		return;
	}
	if (n != w.host.event + 1)
		fail_with("an event was lost silently");
	w.host.event = n;
}

static bool host_receive(void *arg, uint8_t channel, uint8_t flags,
			 const uint8_t *p, size_t len)
{
	(void)arg;
	(void)flags;
	if (channel == CHANNEL_TELEMETRY)
		return true;
	if (p[0] == KIND_RESULT)
		host_result(wire_get32(p + 1), p[5]);
	else if (p[0] == KIND_EVENT)
		host_event(p, len);
	else
		fail_with("the host got an unknown message");
	return true;
}

static void host_lost(void *arg, enum session_loss why)
{
	(void)arg;
	(void)why;
	w.host.losses++;
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		if (w.host.op[i].state == OP_SENT ||
		    w.host.op[i].state == OP_ASKED)
			w.host.op[i].state = OP_UNKNOWN;
}

static void host_renew(struct op *op)
{
	if (op->state != OP_DONE || w.host.next_op > w.messages)
		return;
	op->id = w.host.next_op++;
	op->state = OP_NEW;
}

/* An unknown outcome may be asked for, or the command repeated: both must be
 * safe. */
static bool host_push(struct op *op)
{
	uint8_t p[TEXT_MAX];
	bool ask = op->state == OP_UNKNOWN && rng_next(&w.host.rng) % 2;
	size_t len =
		make(p, ask ? KIND_GET_OP : KIND_EXECUTE, op->id, &w.host.rng);

	if (session_send(&w.pair.host.s, CHANNEL_COMMAND, 0, p, len))
		return false;
	w.host.asked += ask;
	op->state = ask ? OP_ASKED : OP_SENT;
	return true;
}

static bool host_push_all(enum op_state state)
{
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		if (w.host.op[i].state == state && !host_push(&w.host.op[i]))
			return false;
	return true;
}

static void host_run(void)
{
	uint8_t p[5] = { KIND_EVENT_ACK };

	wire_put32(p + 1, w.host.event);
	if (w.host.event > w.host.acked_event &&
	    !session_send(&w.pair.host.s, CHANNEL_EVENT, 0, p, 5))
		w.host.acked_event = w.host.event;
	/* Unknown outcomes first: the rig remembers only so many. */
	if (!host_push_all(OP_UNKNOWN))
		return;
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		host_renew(&w.host.op[i]);
	host_push_all(OP_NEW);
}

static uint32_t host_random(void *arg)
{
	(void)arg;
	return rng_next(&w.host.rng);
}

static const struct session_ops host_ops = {
	.receive = host_receive,
	.lost = host_lost,
	.random = host_random,
};

static const struct session_ops rig_ops = {
	.receive = rig_receive,
	.up = rig_up,
	.lost = rig_lost,
	.info = rig_info,
	.all_off = rig_all_off,
};

/* ---- the test ---- */

static void world_init(void)
{
	memset(&w, 0, sizeof(w));
	w.messages = messages / 2;
	w.rig.executed = calloc(w.messages + 1, 1);
	assert_non_null(w.rig.executed);
	opcache_init(&w.rig.cache);
	w.rig.next_event = 1;
	w.rig.rng.x = seed + 7;
	w.host.rng.x = seed + 11;
	w.host.next_op = 1;
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		w.host.op[i].state = OP_DONE;
	pair_init(&w.pair, seed, &host_ops, NULL, &rig_ops, NULL);
	w.pair.error_ppm = ERROR_PPM;
	session_open(&w.pair.host.s, w.pair.now_us);
}

static bool is_finished(void)
{
	return w.failed ||
	       (w.host.done == w.messages && w.host.event == w.messages);
}

static void maybe_fail_the_wire(void)
{
	if (w.host.done < (w.outages + 1) * (uint64_t)OUTAGE_EVERY / 2)
		return;
	w.outages++;
	w.pair.cut = true;
	pair_run(&w.pair, OUTAGE_US);
	w.pair.cut = false;
}

static void report(void)
{
	const struct session_stats *h = &w.pair.host.s.stats;
	const struct session_stats *r = &w.pair.rig.s.stats;

	printf("%u messages, %u frames, %u bytes damaged of %llu, "
	       "%u bad frames, %u sent again\n",
	       2 * w.messages, h->tx_frames + r->tx_frames,
	       (unsigned)w.pair.errors, (unsigned long long)w.pair.bytes,
	       h->rx_bad_crc + r->rx_bad_crc + h->rx_bad_cobs + r->rx_bad_cobs +
		       h->rx_bad_length + r->rx_bad_length,
	       h->tx_retransmitted + r->tx_retransmitted);
	printf("%u outages, links lost: host %u rig %u, %u outcomes asked for, "
	       "%u stored results, %u events repeated\n",
	       w.outages, w.host.losses, w.rig.losses, w.host.asked,
	       w.rig.dup_results, w.host.event_repeats);
}

static void nothing_is_executed_twice_or_lost_silently(void **state)
{
	uint64_t limit_us;

	(void)state;
	world_init();
	/* Generous: it only stops a session that makes no progress. */
	limit_us = w.pair.now_us + 60000000u + (uint64_t)messages * 20000u;
	while (!is_finished() && w.pair.now_us < limit_us) {
		maybe_fail_the_wire();
		host_run();
		rig_run();
		pair_step(&w.pair);
	}
	report();
	if (w.failed)
		fail_msg("%s", w.why);
	assert_int_equal(w.host.done, w.messages);
	assert_int_equal(w.host.event, w.messages);
	for (uint32_t op = 1; op <= w.messages; op++)
		assert_int_equal(w.rig.executed[op], 1);
	/* Every outage was noticed, at either end. */
	assert_true(w.host.losses >= w.outages);
	assert_true(w.rig.losses >= w.outages);
	free(w.rig.executed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_executed_twice_or_lost_silently),
	};

	if (argc > 1)
		messages = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
