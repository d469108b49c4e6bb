/* The client against the firmware itself, as a process.
 * Usage: test-rig-posix FIRMWARE */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/rig/rig.h"
#include "proto/link/tests/cmocka_all.h"

static const char *firmware;

struct fixture {
	uv_loop_t loop;
	uv_process_t process;
	char uart[64];
	bool exited;
	struct rig *rig;
	struct err err;
	char log[4096]; /* all lines, each with its level before it */
};

static void on_line(void *arg, const LogLine *l)
{
	struct fixture *f = arg;
	size_t len = strlen(f->log);

	snprintf(f->log + len, sizeof(f->log) - len, "%s: %s\n",
		 rig_level_name(l->level), l->text);
}

static const struct rig_ops ops = {
	.log = on_line,
};

static void on_process_exit(uv_process_t *p, int64_t status, int signum)
{
	(void)status;
	(void)signum;
	((struct fixture *)p->data)->exited = true;
	uv_close((uv_handle_t *)p, NULL);
}

static void start_firmware(struct fixture *f)
{
	char *argv[] = { (char *)firmware, (char *)"--uart", f->uart, NULL };
	uv_process_options_t o = { .file = firmware,
				   .args = argv,
				   .exit_cb = on_process_exit };

	snprintf(f->uart, sizeof(f->uart), "/tmp/bay-test-rig-%d.sock",
		 (int)getpid());
	unlink(f->uart);
	f->process.data = f;
	assert_int_equal(uv_spawn(&f->loop, &f->process, &o), 0);
}

/* Until its socket is there; the count only bounds a firmware that never
 * starts. */
static int open_when_ready(struct fixture *f)
{
	struct rig_cfg cfg = {
		.loop = &f->loop,
		.address = { .carrier = RIG_SOCKET, .path = f->uart },
		.ops = &ops,
		.arg = f,
		.answer_ms = 20000,
		.open_ms = 20000,
	};
	int rc = -ENOENT;

	for (unsigned i = 0; i < 2000; i++) {
		rc = rig_open(&cfg, &f->rig, &f->err);
		if (rc != -ENOENT && rc != -ECONNREFUSED)
			return rc;
		poll(NULL, 0, 10);
	}
	return rc;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	uv_loop_init(&f->loop);
	start_firmware(f);
	return open_when_ready(f);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_close(f->rig);
	uv_process_kill(&f->process, SIGKILL);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_true(f->exited);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	unlink(f->uart);
	free(f);
	return 0;
}

static void both_ends_compute_the_same_checksum(void **state)
{
	struct fixture *f = *state;
	struct rig_config c;
	uint32_t generation = 99;

	assert_int_equal(rig_config_get(f->rig, &c, &f->err), 0);
	assert_int_equal(rig_config_crc(&c), rig_hello(f->rig)->config_crc);
	assert_int_equal(rig_config_sync(f->rig, &c, &generation, &f->err), 0);
	assert_int_equal(generation, rig_hello(f->rig)->config_generation);
}

static bool all_are_off(struct fixture *f)
{
	struct rig_slot_report rep[RIG_SLOTS_MAX];
	int rc =
		rig_slot_set_and_wait(f->rig, 0xff, false, 20000, rep, &f->err);

	if (rc)
		print_message("%s\n", f->err.text);
	return !rc && rep[7].state == SLOT_STATE__SLOT_OFF;
}

static void a_changed_configuration_is_committed_and_in_force(void **state)
{
	struct fixture *f = *state;
	struct rig_config c;
	uint32_t generation;

	assert_true(all_are_off(f));
	assert_int_equal(rig_config_get(f->rig, &c, &f->err), 0);
	assert_int_equal(rig_config_set_serial(&c, 2, "BAYV0003"), 0);
	c.slot[2].min_off_ms = 6000;
	if (rig_config_sync(f->rig, &c, &generation, &f->err))
		fail_msg("%s", f->err.text);
	assert_int_equal(rig_config_get(f->rig, &c, &f->err), 0);
	assert_string_equal(c.slot[2].serial, "BAYV0003");
	assert_int_equal(c.slot[2].min_off_ms, 6000);
	c.slot[2].trip_ms = 0;
	assert_int_equal(rig_config_sync(f->rig, &c, NULL, &f->err),
			 -EREMOTEIO);
	assert_int_equal(rig_refusal(f->rig, NULL), RIG_STATUS__RIG_RANGE);
}

/* Without a backplane no rail rises. */
static void switching_on_without_voltage_ends_in_a_fault(void **state)
{
	struct fixture *f = *state;

	assert_true(all_are_off(f));
	assert_int_equal(
		rig_slot_set_and_wait(f->rig, 2, true, 60000, NULL, &f->err),
		-EREMOTEIO);
	assert_non_null(strstr(f->err.text, "slot 1 is in FAULT"));
	assert_int_equal(rig_clear_fault(f->rig, 1, NULL, &f->err), 0);
	assert_true(all_are_off(f));
	assert_int_equal(rig_clear_fault(f->rig, 1, NULL, &f->err), -EINVAL);
	assert_string_equal(f->err.text, "slot 1 holds no latched fault");
}

static void events_are_remembered_for_the_next_host(void **state)
{
	struct fixture *f = *state;

	assert_true(all_are_off(f));
	assert_int_equal(
		rig_wait_events(f->rig, rig_hello(f->rig)->last_event, &f->err),
		0);
	assert_true(rig_hello(f->rig)->last_event > 0);
}

static void the_log_says_why(void **state)
{
	struct fixture *f = *state;
	struct rig_config c;

	assert_true(all_are_off(f));
	assert_int_equal(rig_config_get(f->rig, &c, &f->err), 0);
	c.slot[2].trip_ms = 0;
	assert_int_equal(rig_config_sync(f->rig, &c, NULL, &f->err),
			 -EREMOTEIO);
	assert_int_equal(
		rig_slot_set_and_wait(f->rig, 2, true, 60000, NULL, &f->err),
		-EREMOTEIO);
	assert_int_equal(rig_wait_log(f->rig, &f->err), 0);
	print_message("%s", f->log);
	assert_non_null(strstr(f->log, "info: boot 1 of firmware "));
	assert_non_null(strstr(f->log, "warning: configuration refused: "
				       "commit, field (310) out of range\n"));
	assert_non_null(strstr(f->log, "error: slot 1: FAULT, "));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(both_ends_compute_the_same_checksum),
		T(a_changed_configuration_is_committed_and_in_force),
		T(switching_on_without_voltage_ends_in_a_fault),
		T(events_are_remembered_for_the_next_host),
		T(the_log_says_why),
	};

	if (argc != 2)
		return 2;
	firmware = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
