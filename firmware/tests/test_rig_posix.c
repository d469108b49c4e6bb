/* The firmware as a process: its sockets, its resets, its watchdog. What the
 * rig does is tested in test_app.c; here only what the port adds.
 *
 * Usage: test-rig-posix PROGRAM */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "firmware/tests/peer.h"
#include "firmware/tests/process.h"
#include "firmware/tests/test.h"

static struct process rig;
static struct peer peer;
static int backplane = -1;
static char *program;

/* Gates that the backplane has been told of. */
static bool gate[16];
static bool greeted;
static char line[256];
static size_t line_len;

static void say(const char *text)
{
	assert_int_equal(send(backplane, text, strlen(text), MSG_NOSIGNAL),
			 strlen(text));
}

/* A disk that charges and discharges at once. */
static void take_line(const char *text)
{
	unsigned slot;
	unsigned rail;
	int level;
	char answer[80];

	if (!strncmp(text, "hello 1 8", 9))
		greeted = true;
	if (!strncmp(text, "reset ", 6))
		memset(gate, 0, sizeof(gate));
	if (sscanf(text, "gate %u %u %d", &slot, &rail, &level) != 3)
		return;
	assert_true(slot < 8 && (rail == 5 || rail == 12));
	gate[slot * 2 + (rail == 12)] = level;
	snprintf(answer, sizeof(answer), "rail %u %u %u %d %u\n", slot, rail,
		 level ? rail * 1000 : 0, level ? 350 : 0, rail * 1000);
	say(answer);
}

static void serve_backplane(void *arg)
{
	struct pollfd fd = { .fd = backplane, .events = POLLIN };

	(void)arg;
	while (poll(&fd, 1, 0) > 0) {
		char c;

		if (recv(backplane, &c, 1, 0) != 1)
			return;
		if (c != '\n' && line_len < sizeof(line) - 1) {
			line[line_len++] = c;
			continue;
		}
		line[line_len] = '\0';
		line_len = 0;
		take_line(line);
	}
}

static int start(void **state)
{
	char uart_option[] = "--uart";
	char uart[128];
	char copper_option[] = "--backplane";
	char copper[128];
	char *argv[] = {
		program, uart_option, uart, copper_option, copper, NULL
	};

	(void)state;
	assert_true(process_dir(&rig));
	snprintf(uart, sizeof(uart), "%s/uart", rig.dir);
	snprintf(copper, sizeof(copper), "%s/backplane", rig.dir);
	memset(gate, 0, sizeof(gate));
	greeted = false;
	assert_true(process_start(&rig, argv));
	backplane = process_connect(copper);
	assert_true(backplane >= 0);
	assert_int_equal(peer_open(&peer, uart), 0);
	peer.turn = serve_backplane;
	assert_true(peer_hello(&peer));
	return 0;
}

static int stop(void **state)
{
	(void)state;
	peer_close(&peer);
	close(backplane);
	process_end(&rig);
	return 0;
}

static void switch_on(void)
{
	Command c = Command_init_zero;

	assert_true(peer_set_ramps(&peer, 2000));
	c.which_body = Command_slot_set_tag;
	c.body.slot_set.mask = 1;
	c.body.slot_set.on = true;
	assert_true(peer_command(&peer, &c));
	assert_int_equal(peer.result.status, RIG_OK);
	assert_true(peer_wait_state(&peer, 0, SLOT_ON, 15000));
}

static void a_slot_is_switched_over_both_sockets(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	switch_on();
	assert_true(greeted);
	assert_true(gate[0] && gate[1] && !gate[2]);
	c.which_body = Command_all_off_tag;
	assert_true(peer_command(&peer, &c));
	assert_true(peer_wait_state(&peer, 0, SLOT_OFF, 5000));
	assert_false(gate[0] || gate[1]);
}

static void wait_for_boot(uint32_t boot)
{
	for (unsigned i = 0; i < 1000 && peer.info.boot_id != boot; i++)
		assert_true(peer_wait(&peer, NULL, 10));
	assert_int_equal(peer.info.boot_id, boot);
}

static void a_hanging_loop_is_reset_by_the_watchdog(void **state)
{
	uint32_t last;

	(void)state;
	switch_on();
	last = peer.event[peer.events - 1].number;
	say("hang\n");
	wait_for_boot(2);
	assert_int_equal(peer.info.reset_cause, RESET_WATCHDOG);
	assert_false(gate[0] || gate[1]);
	/* Numbers go on: the ring has survived. */
	assert_true(peer.info.last_event > last);
	assert_true(peer_wait_state(&peer, 0, SLOT_OFF, 5000));
}

static void garbage_on_the_backplane_is_ignored(void **state)
{
	(void)state;
	say("rail\nrail 99 5 1 1 1\nrail 0 5 x\nactivity -1 0\n\n"
	    "temperature 99999999999999999999\npart 300 0\nadvance 5\n"
	    "a line that is much longer than the eighty characters that one "
	    "may have at most, with a reset in it: reset 1\n");
	assert_true(peer_wait_state(&peer, 0, SLOT_OFF, 5000));
	assert_int_equal(peer.info.boot_id, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_slot_is_switched_over_both_sockets, start, stop),
		cmocka_unit_test_setup_teardown(
			a_hanging_loop_is_reset_by_the_watchdog, start, stop),
		cmocka_unit_test_setup_teardown(
			garbage_on_the_backplane_is_ignored, start, stop),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test-rig-posix PROGRAM\n");
		return 2;
	}
	program = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
