/* What the rig tells the engineer, in virtual time. */
#include "firmware/tests/sim.h"

#include <stdio.h>

#include "firmware/tests/test.h"

/* Enough for a line behind the events that wait, at 115200 baud. */
#define DELIVERED_MS 200u

static int fresh(void **state)
{
	(void)state;
	sim_start();
	sim_connect();
	return 0;
}

static const LogLine *last_line(void)
{
	assert_true(sim.host.lines > 0);
	return &sim.host.line[sim.host.lines - 1];
}

static void the_boot_says_why_and_with_what(void **state)
{
	(void)state;
	sim_ask_log();
	assert_int_equal(sim.host.line[0].sequence, 1);
	assert_int_equal(sim.host.line[0].level, LOG_INFO);
	assert_string_equal(sim.host.line[0].text,
			    "no configuration is stored: defaults are in "
			    "force");
	assert_string_equal(sim.host.line[1].text,
			    "boot 1 of firmware " BAY_VERSION
			    ", reset: power on");
	sim_reset(RESET_WATCHDOG);
	sim_connect();
	sim_ask_log();
	assert_int_equal(sim_count_lines("reset: watchdog"), 1);
	assert_int_equal(sim.host.line[1].level, LOG_WARNING);
}

/* A reader of old events and lines gets them in the order of time. */
static void lines_wait_for_the_events_that_were_asked_for(void **state)
{
	(void)state;
	sim_run_ms(1000);
	sim_ask_log();
	assert_int_equal(sim.host.events, events_last(sim.app.events));
	assert_true(sim.host.lines >= 2);
}

static void a_line_is_sent_once_unless_asked_for_again(void **state)
{
	uint32_t lines;

	(void)state;
	sim_ask_log();
	lines = sim.host.lines;
	sim_run_ms(2000);
	assert_int_equal(sim.host.lines, lines);
	sim_ask_log();
	assert_int_equal(sim.host.lines, lines);
	assert_int_equal(sim.host.line[0].sequence, 1);
}

static void a_host_that_does_not_ask_gets_new_lines_only(void **state)
{
	(void)state;
	sim_run_ms(1000);
	assert_int_equal(sim.host.lines, 0);
	LOG(&sim.app, LOG_INFO, "new");
	sim_run_ms(DELIVERED_MS);
	assert_int_equal(sim.host.lines, 1);
	assert_string_equal(last_line()->text, "new");
}

static void lines_that_nobody_got_are_counted(void **state)
{
	uint32_t before = sim.app.log.next - 1;

	(void)state;
	sim.host.deaf = true;
	sim.host.silent = true;
	session_close(&sim.app.link.session);
	for (unsigned i = 0; i < 40; i++)
		LOG(&sim.app, LOG_DEBUG, "line %u", i);
	sim.host.deaf = false;
	sim.host.silent = false;
	sim_connect();
	sim_ask_log();
	assert_int_equal(sim.host.lines, LOGRING_ENTRIES);
	/* Closing the session said a line too. */
	assert_int_equal(last_line()->dropped,
			 before + 1 + 40 - LOGRING_ENTRIES);
	assert_string_equal(last_line()->text, "line 39");
}

static void a_refused_configuration_says_why(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	sim_ask_log();
	c.which_body = Command_config_begin_tag;
	c.body.config_begin.generation = 0;
	assert_int_equal(sim_command(&c)->status, RIG_STALE);
	sim_run_ms(DELIVERED_MS);
	assert_int_equal(last_line()->level, LOG_WARNING);
	assert_string_equal(last_line()->text,
			    "configuration refused: generation (0) of an old "
			    "generation");
	c = (Command)Command_init_zero;
	c.which_body = Command_config_slot_tag;
	c.body.config_slot.slot = 3;
	assert_int_equal(sim_command(&c)->status, RIG_STATE);
	sim_run_ms(DELIVERED_MS);
	assert_int_equal(sim_count_lines("slot (3) out of turn"), 1);
}

static void a_monitor_that_does_not_answer_is_named_once(void **state)
{
	(void)state;
	sim_until(2, SLOT_OFF, 1000);
	sim_ask_log();
	sim.parts.rail[5].present = false;
	sim_run_ms(3000);
	assert_int_equal(sim_count_lines("monitor"), 1);
	assert_int_equal(last_line()->level, LOG_ERROR);
	assert_string_equal(last_line()->text,
			    "slot 2: monitor 0x15 does not answer");
	sim.parts.rail[5].present = true;
	sim_run_ms(1000);
	assert_int_equal(sim_count_lines("monitor"), 2);
	assert_string_equal(last_line()->text,
			    "slot 2: monitor 0x15 answers again");
}

static void a_missing_eeprom_is_said_at_the_boot(void **state)
{
	(void)state;
	sim.parts.eeprom.present = false;
	sim_reset(RESET_POWER);
	sim_connect();
	sim_ask_log();
	assert_int_equal(sim_count_lines("memory 0x50 does not answer"), 1);
}

static void a_missing_thermometer_is_said_once(void **state)
{
	(void)state;
	sim_ask_log();
	sim.parts.thermometer.present = false;
	sim_run_ms(10000);
	assert_int_equal(sim_count_lines("thermometer 0x48 does not answer"),
			 1);
	sim.parts.thermometer.present = true;
	sim_run_ms(1000);
	assert_int_equal(sim_count_lines("thermometer 0x48 answers again"), 1);
}

static void a_fault_says_what_and_which_event_has_the_rest(void **state)
{
	char want[80];

	(void)state;
	sim_until(0, SLOT_OFF, 1000);
	sim_ask_log();
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 10000);
	sim.disk[0].ma[RAIL_5V] = 2700;
	sim_until(0, SLOT_FAULT, 200);
	sim_run_ms(DELIVERED_MS);
	snprintf(want, sizeof(want),
		 "slot 0: FAULT, over-current on 5 V (event %u)",
		 (unsigned)sim_last_event(EVENT_FAULT)->number);
	assert_string_equal(last_line()->text, want);
	assert_int_equal(last_line()->level, LOG_ERROR);
}

static void fall_silent_for_20_s(void)
{
	sim.host.silent = true;
	sim_run_ms(20000);
	sim.host.silent = false;
	sim_connect();
	sim_ask_log();
}

static void a_host_that_ends_is_no_news(void **state)
{
	(void)state;
	sim_until(0, SLOT_OFF, 1000);
	fall_silent_for_20_s();
	assert_int_equal(sim_count_lines("host"), 0);
	assert_int_equal(sim_count_lines("link"), 0);
}

static void a_silent_host_is_said_while_slots_have_power(void **state)
{
	(void)state;
	sim_until(0, SLOT_OFF, 1000);
	assert_int_equal(sim_set(1, true), RIG_OK);
	sim_until(0, SLOT_ON, 10000);
	fall_silent_for_20_s();
	assert_int_equal(sim_count_lines("the host is silent for 5"), 1);
}

static void a_host_that_is_heard_but_hears_nothing_is_said(void **state)
{
	(void)state;
	sim_until(0, SLOT_OFF, 1000);
	sim_run_ms(DELIVERED_MS);
	sim.host.deaf = true;
	sim.parts.thermometer.mdegc = 72000; /* an event */
	sim_run_ms(2400);
	sim.host.deaf = false;
	sim_connect();
	sim_ask_log();
	assert_int_equal(sim_count_lines("the link is lost: no acknowledgement "
					 "after 5 tries"),
			 1);
}

static void a_burst_of_lines_delays_no_command(void **state)
{
	(void)state;
	sim_run_ms(1000);
	for (unsigned i = 0; i < LOGRING_ENTRIES; i++)
		LOG(&sim.app, LOG_INFO, "a line of a usual length %u", i);
	assert_int_equal(sim_simple(Command_get_info_tag), RIG_OK);
	assert_true(sim.host.result.body.info.log_waiting > 0);
	sim_run_ms(300);
	assert_int_equal(sim.host.lines, LOGRING_ENTRIES);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_boot_says_why_and_with_what),
		TEST(lines_wait_for_the_events_that_were_asked_for),
		TEST(a_line_is_sent_once_unless_asked_for_again),
		TEST(a_host_that_does_not_ask_gets_new_lines_only),
		TEST(lines_that_nobody_got_are_counted),
		TEST(a_refused_configuration_says_why),
		TEST(a_monitor_that_does_not_answer_is_named_once),
		TEST(a_missing_eeprom_is_said_at_the_boot),
		TEST(a_missing_thermometer_is_said_once),
		TEST(a_fault_says_what_and_which_event_has_the_rest),
		TEST(a_host_that_ends_is_no_news),
		TEST(a_silent_host_is_said_while_slots_have_power),
		TEST(a_host_that_is_heard_but_hears_nothing_is_said),
		TEST(a_burst_of_lines_delays_no_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
