#include "host/rig/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/rig/tests/fake_rig.h"
#include "proto/link/tests/cmocka_all.h"

/* More than a busy machine takes for an answer, and how long a test waits for
 * one that does not come. */
#define PATIENT_MS 10000u
#define SOON_MS    400u

struct fixture {
	uv_loop_t loop;
	struct fake_rig fake;
	struct rig *rig;
	struct err err;
	/* what the callbacks saw */
	unsigned events;
	uint32_t last_event;
	unsigned lines;
	char line[64]; /* the last */
	unsigned connected;
	unsigned lost;
};

static void on_event(void *arg, const Event *ev)
{
	struct fixture *f = arg;

	f->events++;
	assert_true(ev->number > f->last_event);
	f->last_event = ev->number;
}

static void on_line(void *arg, const LogLine *l)
{
	struct fixture *f = arg;

	f->lines++;
	snprintf(f->line, sizeof(f->line), "%u %s %s", l->sequence,
		 rig_level_name(l->level), l->text);
}

static void on_connected(void *arg, const struct control_info *info)
{
	struct fixture *f = arg;

	assert_string_equal(info->board, "fake");
	f->connected++;
}

static void on_lost(void *arg, const char *why)
{
	struct fixture *f = arg;

	assert_true(strlen(why) > 0);
	f->lost++;
}

static const struct rig_ops ops = {
	.event = on_event,
	.log = on_line,
	.connected = on_connected,
	.lost = on_lost,
};

static int open_rig_within(struct fixture *f, uint32_t open_ms)
{
	struct rig_cfg cfg = {
		.loop = &f->loop,
		.address = { .carrier = RIG_SOCKET, .path = f->fake.path },
		.ops = &ops,
		.arg = f,
		.answer_ms = PATIENT_MS,
		.open_ms = open_ms,
	};

	return rig_open(&cfg, &f->rig, &f->err);
}

static int open_rig(struct fixture *f)
{
	return open_rig_within(f, PATIENT_MS);
}

static struct fixture *start(uint8_t major)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	uv_loop_init(&f->loop);
	fake_rig_start(&f->fake, &f->loop, major);
	return f;
}

static int setup(void **state)
{
	*state = start(SESSION_MAJOR);
	return 0;
}

static int setup_open(void **state)
{
	struct fixture *f = start(SESSION_MAJOR);

	*state = f;
	return open_rig(f);
}

static int setup_stranger(void **state)
{
	*state = start(9);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_close(f->rig);
	fake_rig_stop(&f->fake);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	free(f);
	return 0;
}

/* The client with a short patience, for those that must wait it out. */
static void reopen_impatient(struct fixture *f)
{
	struct rig_cfg cfg = {
		.loop = &f->loop,
		.address = { .carrier = RIG_SOCKET, .path = f->fake.path },
		.answer_ms = SOON_MS,
		.open_ms = PATIENT_MS,
	};

	rig_close(f->rig);
	f->rig = NULL;
	assert_int_equal(rig_open(&cfg, &f->rig, &f->err), 0);
}

static void opening_tells_what_the_rig_is(void **state)
{
	struct fixture *f = *state;

	assert_true(rig_is_connected(f->rig));
	assert_string_equal(rig_hello(f->rig)->board, "fake");
	assert_int_equal(rig_hello(f->rig)->slots, FAKE_SLOTS);
	assert_int_equal(rig_peer(f->rig)->major, SESSION_MAJOR);
	assert_int_equal(f->connected, 1);
}

static void a_missing_socket_is_named(void **state)
{
	struct fixture *f = *state;

	strcpy(f->fake.path + strlen(f->fake.path) - 5, ".none");
	assert_int_equal(open_rig(f), -ENOENT);
	assert_true(rig_is_unreachable(-ENOENT));
	assert_non_null(strstr(f->err.text, ".none"));
	strcpy(f->fake.path + strlen(f->fake.path) - 5, ".sock");
}

static void a_deaf_rig_is_given_up_with_one_sentence(void **state)
{
	struct fixture *f = *state;

	f->fake.deaf = true;
	assert_int_equal(open_rig_within(f, SOON_MS), -ETIMEDOUT);
	assert_non_null(strstr(f->err.text, "silent"));
	assert_null(strchr(f->err.text, '\n'));
	assert_null(f->rig);
}

static void another_major_is_refused_and_both_are_named(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_rig(f), -EPROTO);
	assert_true(rig_is_unreachable(-EPROTO));
	assert_non_null(strstr(f->err.text, "protocol 9 to 9"));
	assert_non_null(strstr(f->err.text, "speaks 1 to 1"));
}

static void a_command_is_done_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rig_slot_set(f->rig, 3, true, 0, &f->err), 0);
	assert_int_equal(f->fake.slot_sets, 1);
	assert_int_equal(f->fake.slot[1], SLOT_STATE__SLOT_ON);
}

static void a_refusal_is_told_with_its_reason(void **state)
{
	struct fixture *f = *state;

	f->fake.refuse = RIG_STATUS__RIG_LOCKED;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), -EREMOTEIO);
	assert_int_equal(rig_refusal(f->rig, NULL), RIG_STATUS__RIG_LOCKED);
	assert_false(rig_is_unreachable(-EREMOTEIO));
	assert_non_null(strstr(f->err.text, "slot_set"));
	assert_non_null(strstr(f->err.text, "LOCKED"));
}

static void silence_in_the_middle_of_a_command_is_a_timeout(void **state)
{
	struct fixture *f = *state;
	int rc = -ETIMEDOUT;

	reopen_impatient(f);
	f->fake.dumb_to_slot_set = true;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), -ETIMEDOUT);
	assert_non_null(strstr(f->err.text, "may or may not"));
	assert_non_null(strstr(f->err.text, "slot_set"));
	/* The next command is not confused by it. */
	f->fake.dumb_to_slot_set = false;
	for (unsigned ms = 0; ms < PATIENT_MS && rc == -ETIMEDOUT;
	     ms += SOON_MS)
		rc = rig_slot_set(f->rig, 2, true, 0, &f->err);
	assert_int_equal(rc, 0);
}

static void a_rig_that_stops_in_the_middle_is_a_timeout(void **state)
{
	struct fixture *f = *state;

	reopen_impatient(f);
	f->fake.deaf = true;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), -ETIMEDOUT);
	assert_true(rig_is_unreachable(-ETIMEDOUT));
	assert_int_equal(f->fake.slot_sets, 0);
}

static void a_lost_result_is_asked_for(void **state)
{
	struct fixture *f = *state;

	f->fake.drop_after_slot_set = true;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), 0);
	assert_int_equal(f->fake.slot_sets, 1);
	assert_int_equal(f->fake.hellos, 2);
	assert_int_equal(f->lost, 1);
	assert_int_equal(f->connected, 2);
}

static void a_lost_command_is_sent_again(void **state)
{
	struct fixture *f = *state;

	f->fake.drop_before_slot_set = true;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), 0);
	assert_int_equal(f->fake.slot_sets, 1);
	assert_int_equal(f->fake.hellos, 2);
}

static void a_reset_in_the_middle_leaves_the_outcome_unknown(void **state)
{
	struct fixture *f = *state;

	f->fake.reset_after_slot_set = true;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), -ETIMEDOUT);
	assert_non_null(strstr(f->err.text, "was reset"));
	assert_int_equal(f->fake.slot_sets, 1);
}

/* The line breaks at the first, second, ... frame: whenever it does, the
 * slots are set once. */
static void wherever_the_line_breaks_a_command_is_done_once(void **state)
{
	struct fixture *f = *state;

	for (unsigned n = 1; n <= 12; n++) {
		f->fake.slot_sets = 0;
		f->fake.frames = 0;
		f->fake.drop_at_frame = n;
		assert_int_equal(rig_slot_set(f->rig, 1, n % 2, 0, &f->err), 0);
		assert_int_equal(f->fake.slot_sets, 1);
	}
}

static void events_come_once_also_those_of_an_interruption(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 10; i++)
		fake_rig_event(&f->fake, 0, SLOT_STATE__SLOT_ON);
	assert_int_equal(rig_wait_events(f->rig, 10, &f->err), 0);
	fake_rig_hang_up(&f->fake);
	for (unsigned i = 0; i < 10; i++)
		fake_rig_event(&f->fake, 0, SLOT_STATE__SLOT_OFF);
	assert_int_equal(rig_wait_events(f->rig, 20, &f->err), 0);
	assert_int_equal(f->events, 20);
	/* A command after them: acknowledgements are in order before it. */
	assert_int_equal(rig_slot_set(f->rig, 1, false, 0, &f->err), 0);
	assert_true(f->fake.event_acked >= 20);
}

static void only_new_events_when_so_asked(void **state)
{
	struct fixture *f = *state;
	struct rig_cfg cfg = {
		.loop = &f->loop,
		.address = { .carrier = RIG_SOCKET, .path = f->fake.path },
		.ops = &ops,
		.arg = f,
		.events_since = RIG_EVENTS_NEW,
	};

	for (unsigned i = 0; i < 5; i++)
		fake_rig_event(&f->fake, 0, SLOT_STATE__SLOT_ON);
	assert_int_equal(rig_open(&cfg, &f->rig, &f->err), 0);
	fake_rig_event(&f->fake, 1, SLOT_STATE__SLOT_ON);
	assert_int_equal(rig_wait_events(f->rig, 6, &f->err), 0);
	assert_int_equal(f->events, 1);
}

static void log_lines_come_once_also_those_of_an_interruption(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 5; i++)
		fake_rig_line(&f->fake, "before");
	assert_int_equal(rig_wait_log(f->rig, &f->err), 0);
	assert_int_equal(f->lines, 5);
	fake_rig_hang_up(&f->fake);
	fake_rig_line(&f->fake, "between");
	assert_int_equal(rig_wait_log(f->rig, &f->err), 0);
	assert_int_equal(f->lines, 6);
	assert_string_equal(f->line, "6 warning between");
}

static void a_reset_begins_the_log_anew(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 3; i++)
		fake_rig_line(&f->fake, "before");
	assert_int_equal(rig_wait_log(f->rig, &f->err), 0);
	fake_rig_reset(&f->fake);
	fake_rig_hang_up(&f->fake);
	fake_rig_line(&f->fake, "boot");
	assert_int_equal(rig_wait_log(f->rig, &f->err), 0);
	assert_int_equal(f->lines, 4);
	assert_string_equal(f->line, "1 warning boot");
}

static void a_log_line_moves_no_cursor(void **state)
{
	struct fixture *f = *state;

	fake_rig_line(&f->fake, "a\033[2J\n\xff%s");
	assert_int_equal(rig_wait_log(f->rig, &f->err), 0);
	assert_string_equal(f->line, "1 warning a?[2J??%s");
}

static void slots_are_seen_through_to_their_state(void **state)
{
	struct rig_slot_report rep[RIG_SLOTS_MAX];
	struct fixture *f = *state;

	assert_int_equal(
		rig_slot_set_and_wait(f->rig, 0x81, true, 5000, rep, &f->err),
		0);
	assert_int_equal(rep[7].state, SLOT_STATE__SLOT_ON);
	assert_int_equal(rig_slot_cycle(f->rig, 0x81, 5000, rep, &f->err), 0);
	assert_int_equal(rep[0].state, SLOT_STATE__SLOT_ON);
	assert_int_equal(rep[0].fall_us, 88000);
	assert_int_equal(rep[0].residual_12v_mv, 310);
	assert_int_equal(f->fake.slot_sets, 3);
}

static void a_fault_ends_the_wait_and_is_named(void **state)
{
	struct fixture *f = *state;

	f->fake.fault = SLOT_FAULT__FAULT_OC_FAST_12V;
	f->fake.fault_slots = 4;
	assert_int_equal(
		rig_slot_set_and_wait(f->rig, 4, true, 5000, NULL, &f->err),
		-EREMOTEIO);
	assert_non_null(strstr(f->err.text, "slot 2"));
	assert_non_null(strstr(f->err.text, "OC_FAST_12V"));
	assert_non_null(strstr(f->err.text, "'bay rig clear 2'"));
}

static void a_fault_of_one_slot_leaves_no_other_unseen(void **state)
{
	struct fixture *f = *state;
	struct rig_slot_report rep[RIG_SLOTS_MAX] = { { 0 } };

	f->fake.fault = SLOT_FAULT__FAULT_OC_FAST_12V;
	f->fake.fault_slots = 1;
	assert_int_equal(
		rig_slot_set_and_wait(f->rig, 0x81, true, 5000, rep, &f->err),
		-EREMOTEIO);
	assert_int_equal(rep[0].state, SLOT_STATE__SLOT_FAULT);
	assert_int_equal(rep[7].state, SLOT_STATE__SLOT_ON);
	assert_int_equal(rig_refusal(f->rig, NULL), RIG_STATUS__RIG_FAULT);
}

static void a_slot_that_never_arrives_is_named_with_its_state(void **state)
{
	struct fixture *f = *state;

	f->fake.stuck = true;
	assert_int_equal(
		rig_slot_set_and_wait(f->rig, 4, true, 50, NULL, &f->err),
		-ETIME);
	assert_non_null(strstr(f->err.text, "slot 2 is QUEUED"));
}

static void power_is_held_for_the_slots_of_the_mask(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rig_arm_silence(f->rig, 0x0f,
					 SILENCE_POLICY__SILENCE_SAFE_OFF,
					 &f->err),
			 0);
	assert_int_equal(rig_hold_power(f->rig, 0x05, &f->err), 0);
	assert_int_equal(f->fake.armed[0], SILENCE_POLICY__SILENCE_HOLD);
	assert_int_equal(f->fake.armed[1], SILENCE_POLICY__SILENCE_SAFE_OFF);
	assert_int_equal(f->fake.armed[2], SILENCE_POLICY__SILENCE_HOLD);
}

static void all_off_needs_no_protobuf(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rig_all_off(f->rig, &f->err), 0);
	assert_true(f->fake.all_off_done);
}

static void a_configuration_is_sent_when_it_differs(void **state)
{
	struct fixture *f = *state;
	struct rig_config c;
	uint32_t generation = 99;

	assert_int_equal(rig_config_get(f->rig, &c, &f->err), 0);
	assert_int_equal(c.rig.budget_12v_ma, 14000);
	assert_string_equal(c.slot[3].serial, "OLD");
	assert_int_equal(rig_config_set_serial(&c, 3, "BAYV0001"), 0);
	assert_int_equal(rig_config_set_serial(&c, 8, "X"), -EINVAL);
	assert_int_equal(rig_config_sync(f->rig, &c, &generation, &f->err), 0);
	assert_int_equal(generation, 1);
	assert_int_equal(f->fake.commits, 1);
	assert_int_equal(f->fake.crc, rig_config_crc(&c));
	assert_int_equal(rig_config_sync(f->rig, &c, &generation, &f->err), 0);
	assert_int_equal(generation, 1);
	assert_int_equal(f->fake.commits, 1);
}

static void cancelled_waits_end_at_once(void **state)
{
	struct fixture *f = *state;

	rig_cancel(f->rig);
	assert_int_equal(rig_run(f->rig, 0, &f->err), -ECANCELED);
	f->fake.dumb_to_slot_set = true;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), -ECANCELED);
	rig_resume(f->rig);
	f->fake.dumb_to_slot_set = false;
	assert_int_equal(rig_slot_set(f->rig, 1, true, 0, &f->err), 0);
}

static void usb_ids_are_hexadecimal_pairs(void **state)
{
	uint16_t vid, pid;

	(void)state;
	assert_int_equal(rig_parse_usb_id("0403:6001", &vid, &pid), 0);
	assert_int_equal(vid, 0x0403);
	assert_int_equal(pid, 0x6001);
	assert_int_equal(rig_parse_usb_id("0403", &vid, &pid), -EINVAL);
	assert_int_equal(rig_parse_usb_id("0403:6001x", &vid, &pid), -EINVAL);
	assert_int_equal(rig_parse_usb_id("-403:6001", &vid, &pid), -EINVAL);
	assert_int_equal(rig_parse_usb_id("0000:6001", &vid, &pid), -EINVAL);
	assert_int_equal(rig_parse_usb_id("", &vid, &pid), -EINVAL);
}

#define CLOSED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define OPEN(name)   cmocka_unit_test_setup_teardown(name, setup_open, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPEN(opening_tells_what_the_rig_is),
		CLOSED(a_missing_socket_is_named),
		CLOSED(a_deaf_rig_is_given_up_with_one_sentence),
		cmocka_unit_test_setup_teardown(
			another_major_is_refused_and_both_are_named,
			setup_stranger, teardown),
		OPEN(a_command_is_done_once),
		OPEN(a_refusal_is_told_with_its_reason),
		OPEN(silence_in_the_middle_of_a_command_is_a_timeout),
		OPEN(a_rig_that_stops_in_the_middle_is_a_timeout),
		OPEN(a_lost_result_is_asked_for),
		OPEN(a_lost_command_is_sent_again),
		OPEN(a_reset_in_the_middle_leaves_the_outcome_unknown),
		OPEN(wherever_the_line_breaks_a_command_is_done_once),
		OPEN(events_come_once_also_those_of_an_interruption),
		CLOSED(only_new_events_when_so_asked),
		OPEN(log_lines_come_once_also_those_of_an_interruption),
		OPEN(a_reset_begins_the_log_anew),
		OPEN(a_log_line_moves_no_cursor),
		OPEN(slots_are_seen_through_to_their_state),
		OPEN(a_fault_ends_the_wait_and_is_named),
		OPEN(a_fault_of_one_slot_leaves_no_other_unseen),
		OPEN(a_slot_that_never_arrives_is_named_with_its_state),
		OPEN(power_is_held_for_the_slots_of_the_mask),
		OPEN(all_off_needs_no_protobuf),
		OPEN(a_configuration_is_sent_when_it_differs),
		OPEN(cancelled_waits_end_at_once),
		cmocka_unit_test(usb_ids_are_hexadecimal_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
