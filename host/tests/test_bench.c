/* bench.yaml: what is accepted, and where each error points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bench/bench.h"
#include "host/bench/lock.h"

static const char good[] = "name: lab\n"
			   "rig: {type: socket, path: /run/rig.sock}\n"
			   "agent: {type: ssh, host: root@dut}\n"
			   "disks:\n"
			   "  - {serial: A, slot: 0}\n"
			   "  - serial: B\n"
			   "    slot: 3\n"
			   "abort: hold\n";

static void a_full_file_is_read(void **state)
{
	struct bench *b = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(bench_parse("b.yaml", good, strlen(good), &b, &err),
			 0);
	assert_string_equal(b->name, "lab");
	assert_int_equal(b->rig.type, BENCH_RIG_SOCKET);
	assert_int_equal(b->agent.type, BENCH_AGENT_SSH);
	assert_int_equal(b->n_disks, 2);
	assert_int_equal(b->disks[1].slot, 3);
	assert_int_equal(b->abort, BENCH_ABORT_HOLD);
	assert_null(b->virt);
	assert_ptr_equal(bench_disk_find(b, "B"), &b->disks[1]);
	assert_null(bench_disk_find(b, "C"));
	bench_free(b);
}

static const struct {
	const char *text;
	const char *err;
} bad[] = {
	{ "name: x\nagent: {type: local}\ndisks:\n - {serial: A}\n - {serial: "
	  "B,\n    slto: 0}\n",
	  "b.yaml:6: unknown key 'slto' in disks[1] (known: serial, slot)" },
	{ "name: x\nagent: local\nre[-6.1: 3\n",
	  "b.yaml:3: unknown key 're[-6.1' (known: name, rig, agent, disks, "
	  "kernels, virtual, abort, disk_wait_s, boot_wait_s)" },
	{ "name: x\nfoo: 3\n", "b.yaml:2: unknown key 'foo' (known: name, rig,"
			       " agent, disks, kernels, virtual, abort, "
			       "disk_wait_s, boot_wait_s)" },
	{ "name: x\nagent:\n  type: telnet\n",
	  "b.yaml:3: agent.type: 'telnet' is none of local, stream, ssh, "
	  "virtual" },
	{ "name: x\nagent: {type: ssh}\ndisks: [{serial: A}]\n",
	  "b.yaml:2: an agent over ssh needs agent.host" },
	{ "name: x\nagent: {type: local}\ndisks: []\n",
	  "b.yaml:3: disks: is an empty list; write at least one entry" },
	{ "name: x\nagent: local\ndisks: A\n",
	  "b.yaml:3: disks: must be a list, such as [a, b]" },
	{ "name: x\nagent: local\ndisks:\n- A\n",
	  "b.yaml:4: disks[0]: must be 'key: value' pairs" },
	{ "name: x\nagent: local\ndisks:\n- {serial: A}\n- {serial: \"\"}\n",
	  "b.yaml:5: disks[1].serial: must not be empty" },
	{ "name: x\nagent: local\ndisks:\n- serial: A\n  slot: one\n",
	  "b.yaml:5: disks[0].slot: 'one' is not a whole number from "
	  "-2147483648 to 2147483647" },
	{ "name: x\nagent: local\ndisks: [{serial: A}]\ndisk_wait_s: 1.5\n",
	  "b.yaml:4: disk_wait_s: '1.5' is not a whole number from 0 to "
	  "4294967295" },
	{ "name: x\nagent: [local]\n",
	  "b.yaml:2: agent: must be a type or 'key: value' pairs" },
	{ "name: x\nagent: local\ndisks:\n- slot: 1\n",
	  "b.yaml:4: disks[0] lacks the key 'serial'" },
	{ "name: x\nagent: {type: local}\n",
	  "b.yaml:1: b.yaml lacks the key 'disks'" },
	{ "name: x\nagent: {type: local}\ndisks:\n- serial: A\n- serial: A\n",
	  "b.yaml:5: disk A is listed twice" },
	{ "name: x\nrig: {type: socket, path: /r}\nagent: {type: local}\n"
	  "disks:\n- {serial: A}\n",
	  "b.yaml:5: disk A needs its slot of the rig (or write rig: {type: "
	  "none})" },
	{ "name: x\nrig: {type: socket, path: /r}\nagent: {type: local}\n"
	  "disks:\n- {serial: A, slot: 1}\n- serial: B\n  slot: 1\n",
	  "b.yaml:7: slot 1 already holds disk A" },
	{ "name: ../x\nagent: {type: local}\ndisks: [{serial: A}]\n",
	  "b.yaml:1: name '../x' must be 1..32 letters, digits, '.', '_' or "
	  "'-'" },
	{ "name: x\nname: y\n", "b.yaml:2: the key 'name' stands twice" },
	{ "", "b.yaml:1: must hold 'key: value' lines" },
	{ "- a\n", "b.yaml:1: must hold 'key: value' lines" },
	{ "name: x\nagent: &a {type: *a}\n",
	  "b.yaml:2: agent.type.type.type.type.type.type.type.type.type.type."
	  "type.type.type.type.type: is nested too deeply" },
	{ "name: x\n? [a]\n: b\n", "b.yaml:2: a key must be plain text" },
	{ "name: \"a\\nb\"\nagent: {type: local}\ndisks: [{serial: A}]\n",
	  "b.yaml:1: name 'a?b' must be 1..32 letters, digits, '.', '_' or "
	  "'-'" },
};

static void each_error_names_its_line(void **state)
{
	struct err err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bench *b = NULL;

		if (bench_parse("b.yaml", bad[i].text, strlen(bad[i].text), &b,
				&err) != -EINVAL)
			fail_msg("not refused: %s", bad[i].err);
		assert_string_equal(err.text, bad[i].err);
		assert_null(b);
	}
}

static void a_type_may_stand_alone(void **state)
{
	static const char text[] = "name: x\nrig: none\nagent: local\n"
				   "disks: [{serial: A}]\n";
	static const char wrong[] = "name: x\nrig: nothing\nagent: local\n"
				    "disks: [{serial: A}]\n";
	struct bench *b = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(bench_parse("b.yaml", text, strlen(text), &b, &err),
			 0);
	assert_int_equal(b->rig.type, BENCH_RIG_NONE);
	assert_int_equal(b->agent.type, BENCH_AGENT_LOCAL);
	bench_free(b);
	assert_int_equal(bench_parse("b.yaml", wrong, strlen(wrong), &b, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "b.yaml:2: "));
}

static void a_missing_file_is_named(void **state)
{
	struct bench *b = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(bench_load("/nonexistent/bench.yaml", &b, &err),
			 -ENOENT);
	assert_string_equal(err.text,
			    "cannot read /nonexistent/bench.yaml: No such "
			    "file or directory");
}

static void the_run_directory_follows_the_environment(void **state)
{
	struct bench b = { .name = (char *)"v" };
	char dir[64];

	(void)state;
	setenv("BAY_RUN_DIR", "/run/there", 1);
	assert_int_equal(bench_run_dir(&b, dir, sizeof(dir)), 0);
	assert_string_equal(dir, "/run/there");
	assert_int_equal(bench_run_dir(&b, dir, 4), -ENAMETOOLONG);
	unsetenv("BAY_RUN_DIR");
}

/* unix(7): 107 bytes and a 0; "/disk-" and ".nbd" take 10 of them. */
static void the_run_directory_leaves_room_for_its_sockets(void **state)
{
	char serial[21] = "12345678901234567890";
	struct bench_disk disk = { .serial = serial };
	struct bench b = { .name = (char *)"v",
			   .rig = { .type = BENCH_RIG_VIRTUAL },
			   .disks = &disk,
			   .n_disks = 1 };
	struct err err = { 0 };
	char dir[128];

	(void)state;
	snprintf(dir, sizeof(dir), "/%076d", 0);
	setenv("BAY_RUN_DIR", dir, 1);
	assert_int_equal(bench_run_dir_check(&b, &err), 0);
	snprintf(dir, sizeof(dir), "/%077d", 0);
	setenv("BAY_RUN_DIR", dir, 1);
	assert_int_equal(bench_run_dir_check(&b, &err), -ENAMETOOLONG);
	/* A bench without modelled disks has no sockets of theirs. */
	b.rig.type = BENCH_RIG_NONE;
	assert_int_equal(bench_run_dir_check(&b, &err), 0);
	setenv("BAY_RUN_DIR", "run", 1);
	assert_int_equal(bench_run_dir_check(&b, &err), -EINVAL);
	unsetenv("BAY_RUN_DIR");
}

static void a_look_at_the_lock_names_the_holder_and_takes_nothing(void **state)
{
	struct bench b = { .name = (char *)"v" };
	char dir[] = "/tmp/bay-lock-XXXXXX";
	char run[64], lock[80], holder[64];
	struct err err = { 0 };
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(run, sizeof(run), "%s/run", dir);
	snprintf(lock, sizeof(lock), "%s.lock", run);
	setenv("BAY_RUN_DIR", run, 1);
	assert_int_equal(bench_lock_look(&b, &err), 0);
	assert_int_equal(access(lock, F_OK), -1);
	fd = bench_lock(&b, "run", &err);
	assert_true(fd >= 0);
	assert_int_equal(bench_lock_look(&b, &err), -EBUSY);
	snprintf(holder, sizeof(holder), "in use by bay run (process %d)",
		 (int)getpid());
	assert_non_null(strstr(err.text, holder));
	assert_int_equal(bench_lock(&b, "run", &err), -EBUSY);
	bench_unlock(fd);
	assert_int_equal(bench_lock_look(&b, &err), 0);
	unsetenv("BAY_RUN_DIR");
	unlink(lock);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_file_is_read),
		cmocka_unit_test(each_error_names_its_line),
		cmocka_unit_test(a_type_may_stand_alone),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(the_run_directory_follows_the_environment),
		cmocka_unit_test(the_run_directory_leaves_room_for_its_sockets),
		cmocka_unit_test(
			a_look_at_the_lock_names_the_holder_and_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
