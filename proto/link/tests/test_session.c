#include "proto/link/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/link/tests/cmocka_all.h"
#include "proto/link/tests/pair.h"

/* What one end saw. */
struct seen {
	unsigned ups;
	unsigned losses;
	enum session_loss why;
	unsigned received[CHANNEL_COUNT];
	unsigned dup_results;
	char last[64];
	bool refuse;
	unsigned all_offs;
	unsigned pongs;
	unsigned clock_pongs;
	struct control_stamps stamps;
	struct control_info info;
	struct rng rng;
};

struct fixture {
	struct pair pair;
	struct seen host;
	struct seen rig;
};

static bool receive(void *arg, uint8_t channel, uint8_t flags,
		    const uint8_t *payload, size_t len)
{
	struct seen *s = arg;

	if (s->refuse)
		return false;
	s->received[channel]++;
	s->dup_results += !!(flags & FRAME_DUP_RESULT);
	len = len < sizeof(s->last) - 1 ? len : sizeof(s->last) - 1;
	memcpy(s->last, payload, len);
	s->last[len] = 0;
	return true;
}

static void up(void *arg, const struct control_hello *peer,
	       const struct control_info *info)
{
	struct seen *s = arg;

	(void)peer;
	s->ups++;
	if (info)
		s->info = *info;
}

static void lost(void *arg, enum session_loss why)
{
	struct seen *s = arg;

	s->losses++;
	s->why = why;
}

static void info(void *arg, struct control_info *i)
{
	(void)arg;
	strcpy(i->board, "test");
	i->slots = 8;
}

static void all_off(void *arg)
{
	((struct seen *)arg)->all_offs++;
}

static void pong(void *arg, const struct control_stamps *stamps, bool for_clock)
{
	struct seen *s = arg;

	s->pongs++;
	s->clock_pongs += for_clock;
	s->stamps = *stamps;
}

static uint32_t random_bits(void *arg)
{
	return rng_next(&((struct seen *)arg)->rng);
}

static const struct session_ops ops = {
	.receive = receive,
	.up = up,
	.lost = lost,
	.info = info,
	.all_off = all_off,
	.all_off_done = all_off,
	.pong = pong,
	.random = random_bits,
};

static void init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->host.rng.x = 42;
	pair_init(&f->pair, 1, &ops, &f->host, &ops, &f->rig);
}

static int connected(void **state)
{
	struct fixture *f = malloc(sizeof(*f));

	init(f);
	session_open(&f->pair.host.s, f->pair.now_us);
	pair_run(&f->pair, 20000);
	*state = f;
	return 0;
}

static int fresh(void **state)
{
	struct fixture *f = malloc(sizeof(*f));

	init(f);
	*state = f;
	return 0;
}

static int done(void **state)
{
	free(*state);
	return 0;
}

static void send_text(struct session *s, uint8_t channel, const char *text)
{
	assert_int_equal(session_send(s, channel, 0, (const uint8_t *)text,
				      strlen(text)),
			 SESSION_OK);
}

static void hello_brings_both_ends_up(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->pair.host.s.state, SESSION_UP);
	assert_int_equal(f->pair.rig.s.state, SESSION_UP);
	assert_int_equal(f->host.ups, 1);
	assert_int_equal(f->rig.ups, 1);
	assert_string_equal(f->host.info.board, "test");
	assert_int_equal(f->host.info.slots, 8);
	assert_int_equal(f->host.info.window, PAIR_WINDOW);
	assert_int_equal(f->pair.host.s.id, f->pair.rig.s.id);
}

static void hello_goes_on_until_the_rig_answers(void **state)
{
	struct fixture *f = *state;

	f->pair.cut = true;
	session_open(&f->pair.host.s, f->pair.now_us);
	pair_run(&f->pair, 3000000);
	assert_int_equal(f->pair.host.s.state, SESSION_HELLO);
	assert_int_equal(f->host.losses, 0);
	f->pair.cut = false;
	pair_run(&f->pair, 900000);
	assert_int_equal(f->pair.host.s.state, SESSION_UP);
}

static void payloads_arrive_once_and_in_order_both_ways(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 4; i++) {
		send_text(&f->pair.host.s, CHANNEL_COMMAND, "command");
		send_text(&f->pair.rig.s, CHANNEL_EVENT, "event");
	}
	assert_int_equal(session_window_free(&f->pair.host.s), 0);
	assert_int_equal(session_send(&f->pair.host.s, CHANNEL_COMMAND, 0,
				      (const uint8_t *)"x", 1),
			 SESSION_FULL);
	pair_run(&f->pair, 30000);
	assert_int_equal(f->rig.received[CHANNEL_COMMAND], 4);
	assert_int_equal(f->host.received[CHANNEL_EVENT], 4);
	assert_string_equal(f->rig.last, "command");
	assert_int_equal(session_window_free(&f->pair.host.s), 4);
	assert_int_equal(f->pair.host.s.stats.tx_retransmitted, 0);
}

static void a_lone_payload_is_acknowledged_within_5_ms(void **state)
{
	struct fixture *f = *state;

	pair_run(&f->pair, 300000);
	send_text(&f->pair.rig.s, CHANNEL_EVENT, "event");
	pair_run(&f->pair, 8000);
	assert_int_equal(session_window_free(&f->pair.rig.s), 4);
}

static void the_repeat_flag_reaches_the_other_end(void **state)
{
	struct fixture *f = *state;

	session_send(&f->pair.rig.s, CHANNEL_COMMAND, FRAME_DUP_RESULT, NULL,
		     0);
	pair_run(&f->pair, 30000);
	assert_int_equal(f->host.dup_results, 1);
}

static void a_refused_payload_comes_again(void **state)
{
	struct fixture *f = *state;

	f->rig.refuse = true;
	send_text(&f->pair.host.s, CHANNEL_COMMAND, "one");
	send_text(&f->pair.host.s, CHANNEL_COMMAND, "two");
	pair_run(&f->pair, 20000);
	assert_int_equal(f->rig.received[CHANNEL_COMMAND], 0);
	f->rig.refuse = false;
	pair_run(&f->pair, 200000);
	assert_int_equal(f->rig.received[CHANNEL_COMMAND], 2);
	assert_string_equal(f->rig.last, "two");
	assert_int_equal(f->host.losses, 0);
}

static void
five_unanswered_tries_lose_the_link_and_open_a_new_session(void **state)
{
	struct fixture *f = *state;
	uint16_t id = f->pair.host.s.id;

	f->pair.cut = true;
	send_text(&f->pair.host.s, CHANNEL_COMMAND, "lost");
	pair_run(&f->pair, 2400000);
	assert_int_equal(f->host.losses, 1);
	assert_int_equal(f->host.why, SESSION_LOST_RETRIES);
	f->pair.cut = false;
	pair_run(&f->pair, 900000);
	assert_int_equal(f->pair.host.s.state, SESSION_UP);
	assert_int_not_equal(f->pair.host.s.id, id);
	assert_int_equal(f->rig.why, SESSION_LOST_REPLACED);
	assert_int_equal(f->rig.received[CHANNEL_COMMAND], 0);
	assert_int_equal(session_window_free(&f->pair.host.s), 4);
}

static void a_silent_rig_is_noticed_without_traffic(void **state)
{
	struct fixture *f = *state;

	f->pair.cut = true;
	pair_run(&f->pair, SESSION_SILENT_US + 10000);
	assert_int_equal(f->host.losses, 1);
	assert_int_equal(f->host.why, SESSION_LOST_SILENT);
}

static void a_reset_rig_is_noticed_at_the_next_ping(void **state)
{
	struct fixture *f = *state;
	struct session_cfg cfg = f->pair.rig.s.cfg;

	session_init(&f->pair.rig.s, &cfg);
	pair_run(&f->pair, SESSION_PING_US + 50000);
	assert_int_equal(f->host.why, SESSION_LOST_FORGOTTEN);
	assert_int_equal(f->host.ups, 2);
	assert_int_equal(f->pair.host.s.state, SESSION_UP);
}

static void
telemetry_is_dropped_and_counted_when_the_buffer_is_full(void **state)
{
	struct fixture *f = *state;
	struct session *rig = &f->pair.rig.s;
	uint8_t window[200] = { 1 };
	unsigned sent = 0;

	while (session_send_unreliable(rig, CHANNEL_TELEMETRY, window, 200,
				       f->pair.now_us) == SESSION_OK)
		sent++;
	assert_in_range(sent, 2, 8);
	assert_int_equal(rig->stats.tx_dropped[CHANNEL_TELEMETRY], 1);
	/* A full buffer still has room for what must arrive. */
	send_text(rig, CHANNEL_EVENT, "event");
	session_poll(rig, f->pair.now_us);
	assert_int_equal(rig->unsent, 1);
	pair_run(&f->pair, 30000);
	assert_int_equal(f->host.received[CHANNEL_TELEMETRY], sent);
	assert_int_equal(f->host.received[CHANNEL_EVENT], 1);
	assert_int_equal(f->pair.host.s.stats.rx_gap[CHANNEL_TELEMETRY], 0);
}

/* The smallest buffer that the header allows. */
static void a_small_buffer_holds_one_of_each(void **state)
{
	struct fixture *f = *state;
	struct session *rig = &f->pair.rig.s;
	uint8_t window[200] = { 1 };
	uint8_t result[180] = { 2 };

	rig->cfg.payload_max = sizeof(result);
	rig->cfg.tx_size =
		FRAME_WIRE_BYTES(sizeof(window)) + FRAME_WIRE_BYTES(180);
	assert_int_equal(session_send_unreliable(rig, CHANNEL_TELEMETRY, window,
						 sizeof(window),
						 f->pair.now_us),
			 SESSION_OK);
	assert_int_equal(
		session_send(rig, CHANNEL_COMMAND, 0, result, sizeof(result)),
		SESSION_OK);
	session_poll(rig, f->pair.now_us);
	assert_int_equal(rig->unsent, 1);
	pair_run(&f->pair, 30000);
	assert_int_equal(f->host.received[CHANNEL_TELEMETRY], 1);
	assert_int_equal(f->host.received[CHANNEL_COMMAND], 1);
}

static void a_missed_telemetry_frame_shows_as_a_gap(void **state)
{
	struct fixture *f = *state;
	struct session *rig = &f->pair.rig.s;

	for (unsigned i = 0; i < 5; i++) {
		f->pair.cut = i == 1 || i == 2;
		session_send_unreliable(rig, CHANNEL_TELEMETRY,
					(const uint8_t *)"t", 1,
					f->pair.now_us);
		pair_run(&f->pair, 3000);
	}
	assert_int_equal(f->host.received[CHANNEL_TELEMETRY], 3);
	assert_int_equal(f->pair.host.s.stats.rx_gap[CHANNEL_TELEMETRY], 2);
}

static void pings_carry_four_stamps(void **state)
{
	struct fixture *f = *state;

	pair_run(&f->pair, 5000000);
	assert_in_range(f->host.pongs, 15, 20);
	assert_in_range(f->host.clock_pongs, 11, 14);
	assert_true(f->host.stamps.host_sent_us < f->host.stamps.host_rx_us);
	assert_true(f->host.stamps.rig_rx_us <= f->host.stamps.rig_tx_us);
	assert_true(f->host.stamps.host_sent_us <= f->host.stamps.rig_rx_us);
}

static void another_major_leaves_only_channel_0(void **state)
{
	struct fixture *f = *state;

	f->pair.rig.s.cfg.major = 3;
	f->pair.rig.s.cfg.lowest_major = 2;
	session_open(&f->pair.host.s, f->pair.now_us);
	pair_run(&f->pair, 50000);
	assert_int_equal(f->pair.host.s.state, SESSION_ALIEN);
	assert_int_equal(f->pair.rig.s.state, SESSION_ALIEN);
	assert_int_equal(f->pair.host.s.peer.major, 3);
	assert_int_equal(session_send(&f->pair.host.s, CHANNEL_COMMAND, 0,
				      (const uint8_t *)"x", 1),
			 SESSION_NOT_UP);
	pair_run(&f->pair, 3000000);
	assert_true(f->host.pongs > 8);
	assert_int_equal(f->host.losses, 0);
	session_all_off(&f->pair.host.s, f->pair.now_us);
	pair_run(&f->pair, 20000);
	assert_int_equal(f->rig.all_offs, 1);
	assert_int_equal(f->host.all_offs, 1);
}

static void all_off_works_without_a_session(void **state)
{
	struct fixture *f = *state;

	f->pair.cut = true;
	session_all_off(&f->pair.host.s, f->pair.now_us);
	pair_run(&f->pair, 300000);
	f->pair.cut = false;
	pair_run(&f->pair, 150000);
	assert_int_equal(f->rig.all_offs, 1);
	assert_int_equal(f->host.all_offs, 1);
	assert_int_equal(f->pair.rig.s.state, SESSION_DOWN);
}

static void a_carrier_that_takes_nothing_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct session *rig = &f->pair.rig.s;

	send_text(rig, CHANNEL_EVENT, "stuck");
	session_poll(rig, f->pair.now_us);
	session_poll(rig, f->pair.now_us + SESSION_STALL_US + 100000);
	assert_int_equal(f->rig.losses, 1);
	assert_int_equal(f->rig.why, SESSION_LOST_STALLED);
}

static void the_deadline_never_lies_in_the_past_after_a_poll(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 3000; i++) {
		if (i % 40 == 0)
			session_send(&f->pair.host.s, CHANNEL_COMMAND, 0,
				     (const uint8_t *)"x", 1);
		session_poll(&f->pair.host.s, f->pair.now_us);
		assert_true(
			session_deadline_us(&f->pair.host.s, f->pair.now_us) >
			f->pair.now_us);
		session_poll(&f->pair.rig.s, f->pair.now_us);
		assert_true(
			session_deadline_us(&f->pair.rig.s, f->pair.now_us) >
			f->pair.now_us);
		f->pair.cut = i % 700 > 500;
		pair_step(&f->pair);
	}
}

static void closing_tells_and_stays_closed(void **state)
{
	struct fixture *f = *state;
	size_t len;

	session_close(&f->pair.host.s);
	assert_int_equal(f->host.why, SESSION_LOST_CLOSED);
	session_poll(&f->pair.host.s, f->pair.now_us + 1000000);
	session_tx(&f->pair.host.s, &len);
	assert_int_equal(len, 0);
	session_close(&f->pair.host.s);
	assert_int_equal(f->host.losses, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, connected, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(hello_brings_both_ends_up),
		cmocka_unit_test_setup_teardown(
			hello_goes_on_until_the_rig_answers, fresh, done),
		T(payloads_arrive_once_and_in_order_both_ways),
		T(a_lone_payload_is_acknowledged_within_5_ms),
		T(the_repeat_flag_reaches_the_other_end),
		T(a_refused_payload_comes_again),
		T(five_unanswered_tries_lose_the_link_and_open_a_new_session),
		T(a_silent_rig_is_noticed_without_traffic),
		T(a_reset_rig_is_noticed_at_the_next_ping),
		T(telemetry_is_dropped_and_counted_when_the_buffer_is_full),
		T(a_small_buffer_holds_one_of_each),
		T(a_missed_telemetry_frame_shows_as_a_gap),
		T(pings_carry_four_stamps),
		cmocka_unit_test_setup_teardown(
			another_major_leaves_only_channel_0, fresh, done),
		cmocka_unit_test_setup_teardown(all_off_works_without_a_session,
						fresh, done),
		T(a_carrier_that_takes_nothing_is_noticed),
		T(the_deadline_never_lies_in_the_past_after_a_poll),
		T(closing_tells_and_stays_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
