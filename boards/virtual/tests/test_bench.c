/* The whole virtual bench at work: real firmware, disk models, a real guest,
 * and bay in front. test-bench BAY. Skips (77) where a part is not built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boards/virtual/dut/tests/guest.h"
#include "host/bench/vbench_priv.h"
#include "host/util/clock.h"

#define EXIT_SKIPPED 77
#define WAIT_MS      60000

static const char *bay;
static char dir[64];
static char yaml[96];
static struct guest shell; /* only its shell is used */

/* Run bay; its output is in c until run_close. Returns the exit code. */
static int bay_run(struct run_child *c, const char *const *args)
{
	const char *argv[16] = { bay };
	struct run_spec spec = { .argv = argv, .deadline_ms = 300000 };
	struct err err = { 0 };
	size_t n = 1;

	for (; *args && n < 15; args++)
		argv[n++] = *args;
	if (run(c, &spec, &err))
		fail_msg("%s", err.text);
	return c->exit_code;
}

static int bay_exit(const char *const *args)
{
	struct run_child c;
	int code = bay_run(&c, args);

	if (code)
		print_message("%s", buf_str(&c.err));
	run_close(&c, 0);
	return code;
}

#define BAY(...) bay_exit((const char *const[]){ __VA_ARGS__, NULL })

/* The caller frees it. */
static json_t *bench_status(void)
{
	static const char *const args[] = { "bench", "status", "--json",
					    "-f",    yaml,     NULL };
	struct run_child c;
	json_t *root;

	if (bay_run(&c, args))
		fail_msg("%s", buf_str(&c.err));
	root = json_loads(buf_str(&c.out), 0, NULL);
	run_close(&c, 0);
	return root;
}

/* The caller frees it. A backplane that is busy with an emulator may not
 * answer, which says nothing of its slots. */
static json_t *backplane_status(void)
{
	struct deadline d = deadline_in_ms(WAIT_MS);
	json_t *root = bench_status();

	while (!json_is_object(json_object_get(root, "backplane"))) {
		if (deadline_past(d))
			fail_msg("the backplane does not answer");
		json_decref(root);
		root = bench_status();
	}
	return root;
}

/* A value of one disk's slot out of bench status. */
static bool slot_says(const char *serial, const char *key)
{
	json_t *root = backplane_status();
	bool yes = false;
	json_t *slot;
	size_t i;

	json_array_foreach(
		json_object_get(json_object_get(root, "backplane"), "slots"), i,
		slot)
	{
		const char *s =
			json_string_value(json_object_get(slot, "serial"));

		if (s && !strcmp(s, serial))
			yes = json_is_true(json_object_get(slot, key));
	}
	json_decref(root);
	return yes;
}

/* A rig that was reset is there again once it answers. */
static void wait_rig(void)
{
	struct deadline d = deadline_in_ms(WAIT_MS);

	while (BAY("rig", "info", "-f", yaml)) {
		if (deadline_past(d))
			fail_msg("the rig does not come back");
	}
}

static void wait_attached(const char *serial, bool attached)
{
	struct deadline d = deadline_in_ms(WAIT_MS);

	while (slot_says(serial, "attached") != attached) {
		if (deadline_past(d))
			fail_msg("%s is %s the guest", serial,
				 attached ? "not in" : "still in");
	}
}

static void shell_connect(void)
{
	char path[VBENCH_PATH_MAX];
	struct err err = { 0 };

	if (shell.shell >= 0)
		close(shell.shell);
	snprintf(path, sizeof(path), "%s/run/shell.sock", dir);
	shell.shell = vbench_connect(path);
	assert_true(shell.shell >= 0);
	buf_clear(&shell.from_shell);
	if (guest_run(&shell, "true", &err))
		fail_msg("%s", err.text);
}

static int in_guest(const char *command)
{
	struct err err = { 0 };
	int rc = guest_run(&shell, command, &err);

	if (rc < 0)
		fail_msg("%s: %s", command, err.text);
	return rc;
}

/* The kernel's name of a disk appears, or is gone, some time after QEMU has
 * plugged or pulled it. */
static void wait_in_guest(const char *serial, bool there)
{
	struct deadline d = deadline_in_ms(WAIT_MS);
	char command[128];

	snprintf(command, sizeof(command),
		 "grep -qs %s /sys/block/sd*/device/vpd_pg80", serial);
	while ((in_guest(command) == 0) != there) {
		if (deadline_past(d))
			fail_msg("%s %s in the guest", serial,
				 there ? "does not appear" : "stays");
	}
}

static void power(const char *verb, const char *what)
{
	assert_int_equal(BAY("rig", "power", verb, "-f", yaml, what), 0);
}

static void no_disk_is_there_before_power(void **state)
{
	(void)state;
	wait_in_guest("CHAIN", false);
	assert_int_equal(in_guest("ls /sys/block | grep -q '^sd'"), 1);
}

static void power_on_brings_disks_by_serial(void **state)
{
	(void)state;
	power("on", "all");
	wait_in_guest("CHAIN01", true);
	wait_in_guest("CHAIN02", true);
}

static void power_off_takes_a_disk_from_under_a_writer(void **state)
{
	(void)state;
	assert_int_equal(
		in_guest("d=$(grep -ls CHAIN01 "
			 "/sys/block/sd*/device/vpd_pg80 | cut -d/ -f4); "
			 "(dd if=/dev/zero of=/dev/$d bs=64k oflag=direct "
			 ">/tmp/dd 2>&1; echo $? >/tmp/dd.exit) &"),
		0);
	power("off", "CHAIN01");
	wait_attached("CHAIN01", false);
	wait_in_guest("CHAIN01", false);
	assert_int_equal(in_guest("until [ -s /tmp/dd.exit ]; do :; done; "
				  "[ $(cat /tmp/dd.exit) != 0 ]"),
			 0);
	wait_in_guest("CHAIN02", true);
}

static void power_on_brings_it_back(void **state)
{
	(void)state;
	power("on", "CHAIN01");
	wait_in_guest("CHAIN01", true);
}

static void a_stopped_firmware_switches_nothing(void **state)
{
	(void)state;
	assert_int_equal(BAY("bench", "rig", "-f", yaml, "stop"), 0);
	assert_int_equal(BAY("rig", "power", "off", "-f", yaml, "all"), 5);
	assert_true(slot_says("CHAIN01", "power"));
	assert_int_equal(BAY("bench", "rig", "-f", yaml, "cont"), 0);
}

static void reset_of_the_rig_takes_all_power(void **state)
{
	(void)state;
	power("on", "all");
	assert_int_equal(BAY("bench", "rig", "-f", yaml, "reset"), 0);
	wait_attached("CHAIN01", false);
	wait_attached("CHAIN02", false);
	wait_rig();
	power("on", "all");
	wait_in_guest("CHAIN01", true);
	wait_in_guest("CHAIN02", true);
}

static void a_disk_that_does_not_come_back_is_seen(void **state)
{
	(void)state;
	assert_int_equal(BAY("bench", "plant", "-f", yaml, "--disk", "CHAIN02",
			     "no-return"),
			 0);
	power("cycle", "CHAIN02");
	assert_false(slot_says("CHAIN02", "attached"));
	assert_int_equal(BAY("bench", "clear", "-f", yaml), 0);
	wait_in_guest("CHAIN02", true);
}

static void a_guest_that_boots_again_finds_its_disks(void **state)
{
	(void)state;
	assert_int_equal(BAY("bench", "boot", "-f", yaml), 0);
	shell_connect();
	wait_in_guest("CHAIN01", true);
	wait_in_guest("CHAIN02", true);
}

static pid_t guest_pid(void)
{
	json_t *root = bench_status();
	const json_t *child;
	pid_t pid = 0;
	size_t i;

	json_array_foreach(json_object_get(root, "children"), i, child)
	{
		if (!strcmp(json_string_value(json_object_get(child, "name")),
			    "guest"))
			pid = (pid_t)json_integer_value(
				json_object_get(child, "pid"));
	}
	json_decref(root);
	return pid;
}

static void a_guest_that_dies_on_its_way_up_is_booted_once_more(void **state)
{
	const char *argv[] = { bay, "bench", "boot", "-f", yaml, NULL };
	struct run_spec spec = { .argv = argv, .deadline_ms = 300000 };
	struct deadline d = deadline_in_ms(WAIT_MS);
	struct run_child c;
	struct run_child *list[] = { &c };
	struct err err = { 0 };
	pid_t old = guest_pid();
	pid_t now = 0;

	(void)state;
	assert_int_equal(run_start(&c, &spec, &err), 0);
	while (!now || now == old) {
		now = guest_pid();
		assert_false(deadline_past(d));
	}
	assert_int_equal(kill(now, SIGKILL), 0);
	assert_int_equal(run_wait(list, 1, -1, -1), 0);
	if (c.exit_code)
		fail_msg("%s", buf_str(&c.err));
	run_close(&c, 0);
	assert_int_not_equal(guest_pid(), now);
	shell_connect();
}

/* The whole way as on a bench of hardware: bay in the guest, libusb and
 * libserialport, ttyUSB0, the UART of the image, its gates. */
static void the_rig_switches_disks_over_usb(void **state)
{
	(void)state;
	assert_int_equal(BAY("bench", "down", "-f", yaml), 0);
	assert_int_equal(BAY("bench", "up", "-f", yaml, "--usb-rig"), 0);
	shell_connect();
	assert_int_equal(
		in_guest("echo '{name: t, agent: {type: local}, disks: "
			 "[{serial: CHAIN01, slot: 0}, "
			 "{serial: CHAIN02, slot: 3}], rig: {type: serial, "
			 "usb: \"" DUT_RIG_USB_ID "\", usb_serial: "
			 "\"" DUT_RIG_USB_SERIAL "\"}}' >/tmp/usb.yaml; "
			 "for n in $(seq 600); do [ -c /dev/ttyUSB0 ] && "
			 "break; usleep 100000; done; "
			 "bay rig power on all -f /tmp/usb.yaml"),
		0);
	wait_in_guest("CHAIN01", true);
	wait_in_guest("CHAIN02", true);
	assert_int_equal(in_guest("bay rig power off CHAIN02 -f /tmp/usb.yaml"),
			 0);
	wait_in_guest("CHAIN02", false);
	wait_in_guest("CHAIN01", true);
}

static int write_yaml(void)
{
	FILE *f = fopen(yaml, "w");

	if (!f)
		return -1;
	fprintf(f, "name: chain\n"
		   "rig: {type: virtual}\n"
		   "agent: {type: virtual}\n"
		   "boot_wait_s: 180\n"
		   "disks:\n"
		   "  - {serial: CHAIN01, slot: 0}\n"
		   "  - {serial: CHAIN02, slot: 3}\n"
		   "virtual: {kernels: [\"6.1\"], disk_mb: 64}\n");
	return fclose(f);
}

/* 0: up; EXIT_SKIPPED: a part is not built. */
static int bench_up(void)
{
	static const char *const args[] = { "bench", "up", "-f", yaml, NULL };
	struct run_child c;
	int code = bay_run(&c, args);
	const char *text = buf_str(&c.err);

	if (code)
		fputs(text, stderr);
	if (code == 2 &&
	    (strstr(text, "is not built") || strstr(text, "no guest image")))
		code = EXIT_SKIPPED;
	run_close(&c, 0);
	return code;
}

static int tests_run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_disk_is_there_before_power),
		cmocka_unit_test(power_on_brings_disks_by_serial),
		cmocka_unit_test(power_off_takes_a_disk_from_under_a_writer),
		cmocka_unit_test(power_on_brings_it_back),
		cmocka_unit_test(a_stopped_firmware_switches_nothing),
		cmocka_unit_test(reset_of_the_rig_takes_all_power),
		cmocka_unit_test(a_disk_that_does_not_come_back_is_seen),
		cmocka_unit_test(a_guest_that_boots_again_finds_its_disks),
		cmocka_unit_test(
			a_guest_that_dies_on_its_way_up_is_booted_once_more),
		cmocka_unit_test(the_rig_switches_disks_over_usb),
	};

	shell.shell = -1;
	shell_connect();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	char run_path[80];
	int rc;

	if (argc != 2)
		return 2;
	bay = argv[1];
	snprintf(dir, sizeof(dir), "/tmp/bay-chain-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(yaml, sizeof(yaml), "%s/bench.yaml", dir);
	snprintf(run_path, sizeof(run_path), "%s/run", dir);
	setenv("BAY_RUN_DIR", run_path, 1);
	rc = write_yaml() ? 1 : bench_up();
	if (!rc)
		rc = tests_run();
	if (rc != EXIT_SKIPPED && BAY("bench", "down", "-f", yaml))
		rc = 1;
	fs_remove_tree(dir);
	return rc;
}
