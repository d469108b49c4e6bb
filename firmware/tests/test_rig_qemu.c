/* The image that is flashed, in qemu-system-arm: the link over its UART, the
 * gates at its pins, the parts on its bus.
 *
 * Usage: test-rig-qemu IMAGE */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "firmware/tests/peer.h"
#include "firmware/tests/process.h"
#include "firmware/tests/test.h"

#define SKIPPED 77
#define SLOTS   8

/* In the order of creation the ports A..G are devices 8..14. */
#define PORT_C "device[10]"
#define PORT_D "device[11]"

static struct process qemu;
static struct peer peer;
static int qmp = -1;
static const char *image;

/* ---- QMP ---- */

/* Send a command, wait for its answer; events between are skipped. */
static void qmp_command(const char *line)
{
	char answer[4096];
	size_t len = 0;

	assert_int_equal(send(qmp, line, strlen(line), MSG_NOSIGNAL),
			 strlen(line));
	for (;;) {
		ssize_t n = recv(qmp, answer + len, 1, 0);

		assert_int_equal(n, 1);
		if (answer[len] != '\n' && len < sizeof(answer) - 2) {
			len++;
			continue;
		}
		answer[len] = '\0';
		len = 0;
		if (strstr(answer, "\"error\""))
			fail_msg("%s: %s", line, answer);
		if (strstr(answer, "\"return\""))
			return;
	}
}

static void set_property(const char *id, const char *property, int value)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"execute\":\"qom-set\",\"arguments\":{\"path\":"
		 "\"/machine/peripheral/%s\",\"property\":\"%s\","
		 "\"value\":%d}}\n",
		 id, property, value);
	qmp_command(line);
}

static void set_all_rails_to_zero(void)
{
	for (unsigned i = 0; i < SLOTS * 2; i++) {
		char id[16];

		snprintf(id, sizeof(id), "s%u-%s", i / 2, i % 2 ? "12v" : "5v");
		set_property(id, "vout", 0);
		set_property(id, "iout", 0);
		set_property(id, "vin", i % 2 ? 12000 : 5000);
	}
	set_property("temp", "temperature", 31250);
}

/* ---- the debugger's protocol ---- */

/* The next $...#xx, perhaps behind an acknowledgement, without its frame. */
static void gdb_receive(int fd, char *answer, size_t size)
{
	size_t len = 0;

	do {
		assert_true(len < size - 1);
		assert_int_equal(recv(fd, answer + len, 1, 0), 1);
		len += len || answer[0] == '$';
	} while (len < 4 || answer[len - 3] != '#');
	answer[len - 3] = '\0';
	memmove(answer, answer + 1, len - 3);
}

/* Send one packet to QEMU's stub, whose answer must begin as wanted. That it
 * has stopped it tells unasked. */
static void gdb_packet(int fd, const char *body, const char *wanted)
{
	char line[64], answer[512];
	unsigned sum = 0;

	for (const char *c = body; *c; c++)
		sum += (unsigned char)*c;
	snprintf(line, sizeof(line), "+$%s#%02x", body, sum & 0xff);
	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL),
			 strlen(line));
	do
		gdb_receive(fd, answer, sizeof(answer));
	while (answer[0] == 'T');
	assert_int_equal(strncmp(answer, wanted, strlen(wanted)), 0);
}

/* Continue with the stack pointer eight bytes above the end of the RAM:
 * the next interrupt has nowhere to save its registers. */
static void use_up_the_stack(void)
{
	int fd = process_connect(process_path(&qemu, "gdb.sock"));

	assert_true(fd >= 0);
	/* QEMU names no single register to who does not know its list. */
	gdb_packet(fd, "qXfer:features:read:target.xml:0,10", "m");
	gdb_packet(fd, "Pd=08000020", "OK");
	gdb_packet(fd, "D", "OK");
	close(fd);
}

/* ---- pins ---- */

/* Last level of an output that the trace of QEMU shows; 0 if none. */
static int pin_level(const char *device, unsigned pin)
{
	char text[64];
	char line[256];
	int level = 0;
	FILE *f = fopen(process_path(&qemu, "gates.log"), "r");

	assert_non_null(f);
	snprintf(text, sizeof(text), "%s setting output %u to ", device, pin);
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, text);

		if (at)
			level = at[strlen(text)] == '1';
	}
	fclose(f);
	return level;
}

static bool pin_becomes(const char *device, unsigned pin, int level)
{
	for (unsigned i = 0; i < 1000; i++) {
		if (pin_level(device, pin) == level)
			return true;
		if (!peer_wait(&peer, NULL, 10))
			return false;
	}
	return false;
}

/* ---- QEMU ---- */

#define ARGS_MAX 96

static char args[ARGS_MAX][192];
static char *argv[ARGS_MAX + 1];
static unsigned argc;

static void arg(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void arg(const char *format, ...)
{
	va_list ap;

	assert_true(argc < ARGS_MAX);
	va_start(ap, format);
	vsnprintf(args[argc], sizeof(args[argc]), format, ap);
	va_end(ap);
	argv[argc] = args[argc];
	argc++;
}

static void add_devices(void)
{
	for (unsigned i = 0; i < SLOTS * 2; i++) {
		arg("-device");
		arg("adm1272,address=%u,id=s%u-%s", 0x10 + i, i / 2,
		    i % 2 ? "12v" : "5v");
	}
	arg("-device");
	arg("tmp105,address=0x48,id=temp");
	arg("-drive");
	arg("if=none,id=eeprom,format=raw,file=%s/eeprom", qemu.dir);
	arg("-device");
	arg("at24c-eeprom,address=0x50,rom-size=32768,drive=eeprom");
}

static void build_argv(void)
{
	argc = 0;
	arg("qemu-system-arm");
	arg("-M");
	arg("lm3s6965evb");
	arg("-kernel");
	arg("%s", image);
	arg("-nodefaults");
	arg("-display");
	arg("none");
	arg("-S");
	/* As the bench runs it: a busy machine makes it slow, not late. */
	arg("-icount");
	arg("shift=4");
	arg("-serial");
	arg("unix:%s/rig.sock,server=on,wait=off", qemu.dir);
	arg("-qmp");
	arg("unix:%s/qmp.sock,server=on,wait=off", qemu.dir);
	arg("-gdb");
	arg("unix:%s/gdb.sock,server=on,wait=off", qemu.dir);
	arg("-trace");
	arg("pl061_set_output");
	arg("-D");
	arg("%s/gates.log", qemu.dir);
	add_devices();
	argv[argc] = NULL;
}

static int start(void **state)
{
	char greeting[1024];
	int fd;

	(void)state;
	assert_true(process_dir(&qemu));
	fd = open(process_path(&qemu, "eeprom"), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 32768), 0);
	close(fd);
	build_argv();
	assert_true(process_start(&qemu, argv));
	qmp = process_connect(process_path(&qemu, "qmp.sock"));
	assert_true(qmp >= 0);
	assert_true(recv(qmp, greeting, sizeof(greeting), 0) > 0);
	qmp_command("{\"execute\":\"qmp_capabilities\"}\n");
	set_all_rails_to_zero();
	qmp_command("{\"execute\":\"cont\"}\n");
	assert_int_equal(peer_open(&peer, process_path(&qemu, "rig.sock")), 0);
	assert_true(peer_hello(&peer));
	return 0;
}

static int stop(void **state)
{
	(void)state;
	peer_close(&peer);
	close(qmp);
	process_end(&qemu);
	return 0;
}

/* ---- tests ---- */

static rig_status set(unsigned slot, bool on)
{
	Command c = Command_init_zero;

	c.which_body = Command_slot_set_tag;
	c.body.slot_set.mask = 1u << slot;
	c.body.slot_set.on = on;
	assert_true(peer_command(&peer, &c));
	return peer.result.status;
}

/* The rails of a slot, one after the other as its gates open. */
static void switch_on(unsigned slot)
{
	char id[16];

	assert_true(peer_set_ramps(&peer, 2000));
	assert_int_equal(set(slot, true), RIG_OK);
	assert_true(pin_becomes(PORT_D, slot, 1));
	assert_int_equal(pin_level(PORT_C, 4 + slot), 0);
	snprintf(id, sizeof(id), "s%u-5v", slot);
	set_property(id, "vout", 5000);
	assert_true(pin_becomes(PORT_C, 4 + slot, 1));
	snprintf(id, sizeof(id), "s%u-12v", slot);
	set_property(id, "vout", 12000);
	assert_true(peer_wait_state(&peer, slot, SLOT_ON, 10000));
}

/* In the status that is asked for last. */
static bool current_is_seen(unsigned slot)
{
	Command c = Command_init_zero;

	c.which_body = Command_get_status_tag;
	c.body.get_status.slot = slot;
	for (unsigned i = 0; i < 1000; i++) {
		if (!peer_command(&peer, &c))
			return false;
		if (peer.result.body.slot_status.v12.ma)
			return true;
		peer_wait(&peer, NULL, 10);
	}
	return false;
}

static void the_image_answers_hello_and_reads_its_parts(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	assert_string_equal(peer.info.board, "lm3s6965evb");
	assert_int_equal(peer.info.slots, SLOTS);
	assert_int_equal(peer.info.reset_cause, RESET_POWER);
	assert_true(peer_wait_all_off(&peer));
	c.which_body = Command_get_status_tag;
	assert_true(peer_command(&peer, &c));
	assert_int_equal(peer.result.body.slot_status.board_mdegc, 31250);
}

static void its_gates_follow_the_commands_and_the_rails(void **state)
{
	(void)state;
	switch_on(0);
	set_property("s0-12v", "iout", 400);
	assert_true(current_is_seen(0));
	assert_int_equal(peer.result.body.slot_status.state, SLOT_ON);
	assert_in_range(peer.result.body.slot_status.v5.mv, 4950, 5025);
	assert_in_range(peer.result.body.slot_status.v12.mv, 11950, 12025);
	assert_in_range(peer.result.body.slot_status.v12.ma, 340, 410);
	assert_int_equal(set(0, false), RIG_OK);
	assert_true(pin_becomes(PORT_D, 0, 0));
	assert_true(pin_becomes(PORT_C, 4, 0));
	assert_true(peer_wait_state(&peer, 0, SLOT_FALLING, 1000));
	set_property("s0-5v", "vout", 0);
	set_property("s0-12v", "vout", 0);
	assert_true(peer_wait_state(&peer, 0, SLOT_OFF, 10000));
	assert_int_equal(peer.result.body.slot_status.cycles, 1);
}

static void over_current_switches_off_at_the_pins(void **state)
{
	(void)state;
	switch_on(1);
	set_property("s1-12v", "iout", 5000);
	assert_true(pin_becomes(PORT_C, 5, 0));
	assert_true(pin_becomes(PORT_D, 1, 0));
	assert_true(peer_wait_state(&peer, 1, SLOT_FAULT, 1000));
	assert_int_equal(peer.result.body.slot_status.fault, FAULT_OC_FAST_12V);
}

static void a_reset_keeps_the_events_and_counts_the_boot(void **state)
{
	uint32_t boot = peer.info.boot_id;
	Command c = Command_init_zero;

	(void)state;
	/* One slot that falls is enough to refuse it. */
	assert_true(peer_wait_all_off(&peer));
	c.which_body = Command_reset_tag;
	assert_true(peer_command(&peer, &c));
	assert_int_equal(peer.result.status, RIG_OK);
	for (unsigned i = 0; i < 1000 && peer.info.boot_id == boot; i++)
		assert_true(peer_wait(&peer, NULL, 10));
	assert_int_equal(peer.info.boot_id, boot + 1);
	assert_int_equal(peer.info.reset_cause, RESET_SOFTWARE);
	/* Events of the first boot, the reset, and on. */
	assert_true(peer.info.last_event > 2);
}

/* Where the fault handler has no stack either. */
static void a_stack_used_up_ends_with_the_power_off(void **state)
{
	uint32_t boot = peer.info.boot_id;

	(void)state;
	switch_on(0);
	use_up_the_stack();
	assert_true(pin_becomes(PORT_D, 0, 0));
	assert_true(pin_becomes(PORT_C, 4, 0));
	for (unsigned i = 0; i < 1000 && peer.info.boot_id == boot; i++)
		assert_true(peer_wait(&peer, NULL, 10));
	assert_int_equal(peer.info.boot_id, boot + 1);
	assert_int_equal(peer.info.reset_cause, RESET_ASSERT);
}

static void the_log_of_the_image_tells_of_its_boot(void **state)
{
	Command c = Command_init_zero;

	(void)state;
	c.which_body = Command_events_since_tag;
	c.body.events_since.log = true;
	assert_true(peer_command(&peer, &c));
	c = (Command)Command_init_zero;
	c.which_body = Command_get_info_tag;
	do
		assert_true(peer_command(&peer, &c));
	while (peer.result.body.info.log_waiting);
	assert_int_equal(peer.lines, 2);
	assert_int_equal(peer.last_line.sequence, 2);
	assert_int_equal(peer.last_line.dropped, 0);
	assert_true(strncmp(peer.last_line.text, "boot 1 of firmware ", 19) ==
		    0);
}

int main(int n, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_image_answers_hello_and_reads_its_parts, start,
			stop),
		cmocka_unit_test_setup_teardown(
			its_gates_follow_the_commands_and_the_rails, start,
			stop),
		cmocka_unit_test_setup_teardown(
			over_current_switches_off_at_the_pins, start, stop),
		cmocka_unit_test_setup_teardown(
			a_stack_used_up_ends_with_the_power_off, start, stop),
		cmocka_unit_test_setup_teardown(
			the_log_of_the_image_tells_of_its_boot, start, stop),
		cmocka_unit_test_setup_teardown(
			a_reset_keeps_the_events_and_counts_the_boot, start,
			stop),
	};

	image = n > 1 ? arguments[1] : "";
	if (access(image, R_OK)) {
		fprintf(stderr, "skipped: no image %s\n", image);
		return SKIPPED;
	}
	if (!process_have("qemu-system-arm")) {
		fprintf(stderr, "skipped: no qemu-system-arm\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
