/* bay-agent in a real guest, on real md: test_agent_guest IMAGE_DIR KERNEL
 * FIRMWARE. Skips (77) when there is no image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "boards/virtual/dut/tests/guest.h"
#include "host/agent/tests/client.h"

static struct guest_args args;
static const char *const both[] = { "T0000001", "T0000002" };

struct bed {
	struct guest guest;
	struct client client;
	uint64_t incarnation;
};

static void expect(struct bed *b, const char *command)
{
	struct err err = { 0 };
	int rc = guest_run(&b->guest, command, &err);

	if (rc)
		fail_msg("%s\nends %d %s\n%s", command, rc, err.text,
			 buf_str(&b->guest.out));
}

static Bay__ArraySpec spec_of(const char *layout, size_t disks)
{
	Bay__ArraySpec s = BAY__ARRAY_SPEC__INIT;

	s.layout = (char *)(uintptr_t)layout;
	s.serial = (char **)(uintptr_t)both;
	s.n_serial = disks;
	return s;
}

/* Connect to the agent's port and say hello. A virtio port does not tell its
 * guest of a hang-up that is over before it looks, so AgentStarted may not
 * come; the answer to hello names the incarnation too. What the guest's driver
 * holds when an agent dies, it drops: hello is repeated. */
static void connect_agent(struct bed *b)
{
	char path[FS_PATH_BYTES];

	assert_int_equal(fs_path(path, "%s/agent", b->guest.dir), 0);
	assert_int_equal(client_connect(&b->client, path), 0);
	b->incarnation =
		ok(client_hello(&b->client, both, 2))->hello->incarnation;
}

static void reconnect_agent(struct bed *b)
{
	client_close(&b->client);
	connect_agent(b);
}

static void the_agent_says_who_it_is(void **state)
{
	struct bed *b = *state;
	const Bay__AgentHelloAck *h;

	h = ok(client_hello(&b->client, both, 2))->hello;
	assert_true(h->incarnation == b->incarnation);
	assert_string_equal(h->hostname, "bay-dut");
	assert_true(h->n_tool_version >= 5);
	assert_int_equal(h->n_layout, 4);
}

static void wait_disks(struct bed *b, const char *const *serials, size_t count,
		       bool gone)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__WaitDisksReq w = BAY__WAIT_DISKS_REQ__INIT;

	w.serial = (char **)(uintptr_t)serials;
	w.n_serial = count;
	w.gone = gone;
	w.timeout_ms = 60000;
	req.op_case = BAY__REQUEST__OP_WAIT_DISKS;
	req.wait_disks = &w;
	ok(client_ask(&b->client, &req));
}

static void disks_are_found_by_serial(void **state)
{
	struct bed *b = *state;
	struct err err = { 0 };
	const Bay__Inventory *inv;

	assert_int_equal(guest_plug(&b->guest, 0, &err), 0);
	assert_int_equal(guest_plug(&b->guest, 1, &err), 0);
	wait_disks(b, both, 2, false);
	inv = ok(client_simple(&b->client, BAY__REQUEST__OP_INVENTORY))
		      ->inventory;
	for (size_t i = 0; i < inv->n_dev; i++) {
		if (strcmp(inv->dev[i]->serial, both[0]) != 0)
			continue;
		assert_true(inv->dev[i]->allowed);
		assert_false(inv->dev[i]->in_use);
		assert_int_equal(inv->dev[i]->size_bytes, GUEST_DISK_BYTES);
		assert_string_equal(inv->dev[i]->write_cache, "write back");
		assert_int_equal(inv->dev[i]->n_signature, 0);
		return;
	}
	fail_msg("disk not in the inventory");
}

static void foreign_data_and_mounted_disks_are_refused(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", 2);
	const Bay__Reply *r;

	expect(b, "mkfs.ext4 -qF -L photos $(disk T0000002)");
	r = want(client_array_create(&b->client, "t", &s, false, true),
		 BAY__AGENT_STATUS__AGENT_REFUSED);
	assert_non_null(strstr(r->error_text, "T0000002"));
	assert_non_null(strstr(r->error_text, "photos"));
	expect(b, "blkid -o value -s LABEL $(disk T0000002) | grep -x photos");
	expect(b, "mount $(disk T0000002) /mnt");
	r = want(client_array_create(&b->client, "t", &s, false, true),
		 BAY__AGENT_STATUS__AGENT_REFUSED);
	assert_non_null(strstr(r->error_text, "mounted on /mnt"));
	expect(b, "umount /mnt && wipefs -qa $(disk T0000002)");
}

/* A request to run dd on array "t"; fields may be changed before it is sent. */
struct dd_cell {
	Bay__Request req;
	Bay__WorkloadReq w;
	Bay__Cell cell;
	Bay__WorkloadSpec spec;
	Bay__FsSpec fs;
	Bay__Param seconds, n;
	Bay__Param *params[2];
};

static void dd_cell(struct dd_cell *d, Bay__ArraySpec *s, const char *key,
		    const char *seconds)
{
	bay__request__init(&d->req);
	bay__workload_req__init(&d->w);
	bay__cell__init(&d->cell);
	bay__workload_spec__init(&d->spec);
	bay__fs_spec__init(&d->fs);
	bay__param__init(&d->seconds);
	bay__param__init(&d->n);
	d->seconds.name = (char *)(uintptr_t) "seconds";
	d->seconds.value = (char *)(uintptr_t)seconds;
	d->n.name = (char *)(uintptr_t) "n";
	d->n.value = (char *)(uintptr_t) "1";
	d->params[0] = &d->seconds;
	d->params[1] = &d->n;
	d->spec.kind = (char *)(uintptr_t) "dd-write";
	d->spec.param = d->params;
	d->spec.n_param = 2;
	d->fs.type = (char *)(uintptr_t) "ext4";
	d->cell.key = (char *)(uintptr_t)key;
	d->cell.array = s;
	d->cell.fs = &d->fs;
	d->cell.workload = &d->spec;
	d->cell.sample_hz = 10;
	/* Also enough for hundreds of dds in a guest without KVM. */
	d->cell.timeout_s = 240;
	d->w.cell = &d->cell;
	d->w.attempt = 1;
	d->w.array = (char *)(uintptr_t) "t";
	d->req.op_case = BAY__REQUEST__OP_WORKLOAD;
	d->req.workload = &d->w;
}

static const Bay__CellResult *run_dd(struct bed *b, struct dd_cell *d)
{
	const Bay__Reply *r = ok(client_ask(&b->client, &d->req));

	assert_int_equal(r->body_case, BAY__REPLY__BODY_RESULT);
	return r->result;
}

static double metric_of(const Bay__CellResult *r, const char *name)
{
	for (size_t i = 0; i < r->n_metric; i++) {
		if (strcmp(r->metric[i]->name, name) == 0)
			return r->metric[i]->value;
	}
	return -1.0;
}

static void print_result(const Bay__CellResult *r)
{
	for (size_t i = 0; i < r->n_metric; i++)
		print_message("  %-18s %12.3f %s\n", r->metric[i]->name,
			      r->metric[i]->value, r->metric[i]->unit);
	for (size_t i = 0; i < r->n_check; i++)
		print_message("  %s %s: %s\n", r->check[i]->ok ? "ok " : "BAD",
			      r->check[i]->name, r->check[i]->detail);
	for (size_t i = 0; i < r->n_kernel_log; i++)
		print_message("  kernel: %s\n", r->kernel_log[i]);
}

static void one_cell(struct bed *b, const char *layout, size_t disks,
		     const char *fs)
{
	Bay__ArraySpec s = spec_of(layout, disks);
	const Bay__ArrayState *a;
	const Bay__CellResult *r;
	struct dd_cell d;

	dd_cell(&d, &s, layout, "1");
	d.fs.type = (char *)(uintptr_t)fs;
	a = ok(client_array_create(&b->client, "t", &s, false, true))->array;
	assert_true(a->clean);
	/* Repeated because its reply was lost: the same state. */
	a = ok(client_array_create(&b->client, "t", &s, false, true))->array;
	assert_true(a->clean);
	ok(client_mkfs(&b->client, "t", fs));
	ok(client_mount(&b->client, "t", fs));
	ok(client_mount(&b->client, "t", fs));
	ok(client_simple(&b->client, BAY__REQUEST__OP_DROP_CACHES));
	r = run_dd(b, &d);
	print_message("%s %s\n", layout, fs);
	print_result(r);
	assert_int_equal(r->state, BAY__CELL_STATE__CELL_DONE);
	assert_true(metric_of(r, "rate") > 0.0);
	assert_true(r->n_disk == disks + (strncmp(layout, "raid", 4) == 0));
	assert_int_equal(r->disk[0]->sample[0]->n_counter, 17);
	assert_true(r->n_environment > 10);
	/* Asked again, the spooled result is the answer. */
	assert_string_equal(run_dd(b, &d)->spool_id, r->spool_id);
	ok(client_spool_ack(&b->client, r->spool_id));
	ok(client_spool_ack(&b->client, r->spool_id));
	want(client_array_stop(&b->client, "t"), BAY__AGENT_STATUS__AGENT_BUSY);
	ok(client_unmount(&b->client, "t"));
	ok(client_array_zero(&b->client, "t", both, disks));
	ok(client_array_zero(&b->client, "t", both, disks));
	expect(b, "! blkid -p $(disk T0000001) && ! grep ^md /proc/mdstat");
}

static void every_layout_runs_a_cell(void **state)
{
	one_cell(*state, "single", 1, "xfs");
	one_cell(*state, "jbod", 2, "ext4");
	one_cell(*state, "raid0", 2, "xfs");
	one_cell(*state, "raid1", 2, "ext4");
	one_cell(*state, "raid1", 2, "btrfs");
}

/* As in the published runs: a hundred on each disk. */
static void hundreds_of_dds_write_at_once(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("jbod", 2);
	const Bay__CellResult *r;
	struct dd_cell d;

	ok(client_array_create(&b->client, "t", &s, false, true));
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
	dd_cell(&d, &s, "hundreds", "1M");
	d.seconds.name = (char *)(uintptr_t) "size";
	d.n.value = (char *)(uintptr_t) "100";
	r = run_dd(b, &d);
	print_message("200 dds: %s\n", r->error_text);
	print_result(r);
	assert_int_equal(r->state, BAY__CELL_STATE__CELL_DONE);
	assert_int_equal(r->n_child, 200);
	for (size_t i = 0; i < r->n_child; i++)
		assert_int_equal(r->child[i]->bytes, 1 << 20);
	assert_true(metric_of(r, "dd_rate_min") > 0.0);
	ok(client_spool_ack(&b->client, r->spool_id));
	ok(client_simple(&b->client, BAY__REQUEST__OP_RESET));
	expect(b, "! pidof dd");
}

static void an_array_is_assembled_again(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", 2);
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayAssembleReq assemble = BAY__ARRAY_ASSEMBLE_REQ__INIT;

	ok(client_array_create(&b->client, "keep", &s, false, true));
	ok(client_array_stop(&b->client, "keep"));
	want(client_array_create(&b->client, "new", &s, false, false),
	     BAY__AGENT_STATUS__AGENT_REFUSED);
	assemble.name = (char *)(uintptr_t) "keep";
	assemble.spec = &s;
	req.op_case = BAY__REQUEST__OP_ARRAY_ASSEMBLE;
	req.array_assemble = &assemble;
	assert_true(ok(client_ask(&b->client, &req))->array->clean);
	assert_true(ok(client_ask(&b->client, &req))->array->clean);
	assemble.name = (char *)(uintptr_t) "other";
	want(client_ask(&b->client, &req), BAY__AGENT_STATUS__AGENT_REFUSED);
	ok(client_array_zero(&b->client, "keep", both, 2));
}

static void an_array_is_destroyed_when_its_pulled_disk_is_back(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", 2);
	struct err err = { 0 };
	const Bay__ArrayStates *all;

	ok(client_array_create(&b->client, "half", &s, false, true));
	assert_int_equal(guest_pull(&b->guest, 1, &err), 0);
	wait_disks(b, &both[1], 1, true);
	want(client_array_zero(&b->client, "half", both, 2),
	     BAY__AGENT_STATUS__AGENT_MISSING);
	all = ok(client_simple(&b->client, BAY__REQUEST__OP_ARRAY_SHOW))
		      ->arrays;
	assert_int_equal(all->n_array, 1);
	assert_string_equal(all->array[0]->md_state, "stopped");
	assert_int_equal(guest_plug(&b->guest, 1, &err), 0);
	wait_disks(b, &both[1], 1, false);
	ok(client_array_zero(&b->client, "half", both, 2));
	assert_int_equal(
		ok(client_simple(&b->client, BAY__REQUEST__OP_ARRAY_SHOW))
			->arrays->n_array,
		0);
	expect(b, "! blkid -p $(disk T0000001) && ! blkid -p $(disk T0000002)");
}

/* The disks tell of an array whose note is garbage, if it runs or has a file
 * system of its name. */
static void an_array_with_a_damaged_note_is_found_again(void **state)
{
	static const char *const layouts[] = { "raid1", "raid0", "jbod" };
	struct bed *b = *state;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		Bay__ArraySpec s = spec_of(layouts[i], 2);
		const Bay__ArrayStates *all;

		ok(client_array_create(&b->client, "keep", &s, false, true));
		ok(client_mkfs(&b->client, "keep", "xfs"));
		ok(client_mount(&b->client, "keep", "xfs"));
		expect(b, "echo rubbish >/var/lib/bay-agent/arrays/keep");
		all = ok(client_simple(&b->client, BAY__REQUEST__OP_ARRAY_SHOW))
			      ->arrays;
		assert_int_equal(all->n_array, 1);
		assert_string_equal(all->array[0]->name, "keep");
		assert_string_equal(all->array[0]->spec->layout, layouts[i]);
		assert_int_equal(all->array[0]->spec->n_serial, 2);
		assert_true(all->array[0]->clean);
		assert_non_null(strstr(all->array[0]->target[0]->mount_point,
				       "/mnt/keep/0"));
		assert_int_equal(all->n_damaged, i + 1);
		ok(client_unmount(&b->client, "keep"));
		ok(client_array_zero(&b->client, "keep", both, 2));
	}
	expect(b, "ls /var/lib/bay-agent/arrays | grep -c '^keep.bad' | "
		  "grep -x 3 && rm /var/lib/bay-agent/arrays/keep.bad*");
}

static void settings_survive_the_death_of_the_agent(void **state)
{
	struct bed *b = *state;
	uint64_t before;

	expect(b, "grep -x 20 /proc/sys/vm/dirty_ratio");
	ok(client_knob(&b->client, "dirty_bytes", "", "104857600", ""));
	ok(client_knob(&b->client, "read_ahead_kb", both[0], "512", ""));
	expect(b, "grep -x 104857600 /proc/sys/vm/dirty_bytes");
	expect(b, "kill -9 $(pidof bay-agent)");
	before = b->incarnation;
	reconnect_agent(b);
	assert_true(b->incarnation != before);
	expect(b, "grep -x 20 /proc/sys/vm/dirty_ratio && "
		  "grep -x 0 /proc/sys/vm/dirty_bytes && "
		  "grep -x 128 /sys/block/$(sd T0000001)/queue/read_ahead_kb");
}

/* The id of the request. */
static uint32_t start_dd(struct bed *b, Bay__ArraySpec *s, const char *seconds,
			 uint32_t timeout_s, const char *key)
{
	struct dd_cell d;

	dd_cell(&d, s, key, seconds);
	d.cell.timeout_s = timeout_s;
	b->client.progress = 0;
	return client_send(&b->client, &d.req);
}

/* Until the first progress, which comes once the dds are at work. Not longer:
 * what follows has to happen while they are. */
static void wait_running(struct bed *b)
{
	client_wait_event(&b->client, &b->client.progress, CLIENT_ANSWER_MS);
	assert_true(b->client.progress > 0);
}

static void a_killed_agent_takes_its_workload_along(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", 2);
	const Bay__ResetState *reset;

	ok(client_array_create(&b->client, "t", &s, false, true));
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
	(void)start_dd(b, &s, "600", 900, "killed");
	wait_running(b);
	expect(b, "pidof dd");
	expect(b, "kill -9 $(pidof bay-agent)");
	reconnect_agent(b);
	/* Killed along, but it may have to finish a write first. */
	expect(b, "for n in $(seq 600); do pidof dd || break; usleep 100000; "
		  "done; ! pidof dd");
	reset = ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))->reset;
	assert_int_equal(reset->n_left, 0);
	assert_int_equal(reset->unmounted, 1);
	assert_int_equal(reset->arrays_stopped, 1);
	expect(b, "! grep ^md /proc/mdstat && ! grep /mnt/t /proc/mounts");
}

static void a_workload_is_cancelled_by_reset(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("jbod", 2);
	const Bay__ResetState *reset;

	ok(client_array_create(&b->client, "t", &s, false, true));
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
	(void)start_dd(b, &s, "600", 900, "cancelled");
	wait_running(b);
	reset = ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))->reset;
	assert_int_equal(reset->n_left, 0);
	assert_int_equal(reset->unmounted, 2);
	expect(b, "! pidof dd");
	assert_int_equal(
		ok(client_simple(&b->client, BAY__REQUEST__OP_SPOOL_LIST))
			->spool->n_entry,
		0);
}

static void the_guard_ends_what_does_not_end(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("single", 1);
	const Bay__SpoolList *list;

	ok(client_array_create(&b->client, "t", &s, false, true));
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
	(void)start_dd(b, &s, "1000", 2, "hung");
	list = ok(client_simple(&b->client, BAY__REQUEST__OP_SPOOL_LIST))
		       ->spool;
	assert_int_equal(list->n_entry, 1);
	assert_string_equal(list->entry[0]->cell_key, "hung");
	/* Not acknowledged: the next connection gets it pushed. */
	client_close(&b->client);
	connect_agent(b);
	client_wait_event(&b->client, (const uint64_t *)&b->client.pushed,
			  CLIENT_ANSWER_MS);
	assert_non_null(b->client.pushed);
	assert_int_equal(b->client.pushed->state, BAY__CELL_STATE__CELL_HUNG);
	ok(client_spool_ack(&b->client, b->client.pushed->spool_id));
	ok(client_simple(&b->client, BAY__REQUEST__OP_RESET));
}

static void pulled_disks_fail_the_cell_and_are_cleaned_up(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid0", 2);
	struct err err = { 0 };
	const Bay__CellResult *r;
	const Bay__ResetState *reset;
	uint32_t id;

	ok(client_array_create(&b->client, "t", &s, false, true));
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
	/* Where the kernel lets dd wait for pages that nobody writes (6.1), the
	 * guard ends it; no dd is done before. */
	id = start_dd(b, &s, "60", 20, "pulled");
	wait_running(b);
	assert_int_equal(guest_pull(&b->guest, 0, &err), 0);
	assert_int_equal(guest_pull(&b->guest, 1, &err), 0);
	r = ok(client_wait(&b->client, id, CLIENT_ANSWER_MS))->result;
	assert_int_equal(r->state, BAY__CELL_STATE__CELL_FAILED);
	assert_int_equal(r->n_lost_serial, 2);
	ok(client_spool_ack(&b->client, r->spool_id));
	reset = ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))->reset;
	for (size_t i = 0; i < reset->n_left; i++)
		print_error("left: %s\n", reset->left[i]);
	assert_int_equal(reset->n_left, 0);
	assert_int_equal(reset->arrays_stopped, 1);
	expect(b, "! grep ^md /proc/mdstat && ! grep /mnt/t /proc/mounts");
}

static void make_mounted(struct bed *b, Bay__ArraySpec *s)
{
	ok(client_array_create(&b->client, "t", s, false, true));
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
}

/* Pulled out, and back in: what md or the file system did without it counts
 * for nothing. */
static void a_disk_pulled_midway_fails_the_cell_by_name(void **state)
{
	static const char *const layouts[] = { "raid1", "raid0", "jbod" };
	struct bed *b = *state;
	struct err err = { 0 };

	assert_int_equal(guest_plug(&b->guest, 0, &err), 0);
	assert_int_equal(guest_plug(&b->guest, 1, &err), 0);
	wait_disks(b, both, 2, false);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		Bay__ArraySpec s = spec_of(layouts[i], 2);
		const Bay__CellResult *r;
		uint32_t id;

		make_mounted(b, &s);
		/* On a mirror the dds live through it: all of it is waited. */
		id = start_dd(b, &s, "8", 20, layouts[i]);
		wait_running(b);
		assert_int_equal(guest_pull(&b->guest, 1, &err), 0);
		r = ok(client_wait(&b->client, id, CLIENT_ANSWER_MS))->result;
		print_message("%s: %s\n", layouts[i], r->error_text);
		assert_int_equal(r->state, BAY__CELL_STATE__CELL_FAILED);
		assert_int_equal(r->n_lost_serial, 1);
		assert_string_equal(r->lost_serial[0], both[1]);
		assert_non_null(strstr(r->error_text, both[1]));
		ok(client_spool_ack(&b->client, r->spool_id));
		assert_int_equal(
			ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))
				->reset->n_left,
			0);
		assert_int_equal(guest_plug(&b->guest, 1, &err), 0);
		wait_disks(b, &both[1], 1, false);
	}
}

static int boot(void **state)
{
	static struct bed bed;
	struct err err = { 0 };
	int rc = guest_open(&bed.guest, &args, &err);

	*state = &bed;
	bed.client.fd = -1;
	if (!rc)
		rc = guest_boot(&bed.guest, &err);
	if (rc)
		print_error("%s\n", err.text);
	else
		connect_agent(&bed);
	return rc;
}

static int halt(void **state)
{
	struct bed *b = *state;
	char path[FS_PATH_BYTES];
	struct buf console = { 0 };

	(void)fs_path(path, "%s/console", b->guest.dir);
	if (fs_read(path, 1 << 20, &console) == 0)
		(void)fputs(buf_str(&console), stdout);
	buf_free(&console);
	client_close(&b->client);
	guest_close(&b->guest);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_agent_says_who_it_is),
		cmocka_unit_test(disks_are_found_by_serial),
		cmocka_unit_test(foreign_data_and_mounted_disks_are_refused),
		cmocka_unit_test(every_layout_runs_a_cell),
		cmocka_unit_test(hundreds_of_dds_write_at_once),
		cmocka_unit_test(an_array_is_assembled_again),
		cmocka_unit_test(
			an_array_is_destroyed_when_its_pulled_disk_is_back),
		cmocka_unit_test(an_array_with_a_damaged_note_is_found_again),
		cmocka_unit_test(settings_survive_the_death_of_the_agent),
		cmocka_unit_test(a_killed_agent_takes_its_workload_along),
		cmocka_unit_test(a_workload_is_cancelled_by_reset),
		cmocka_unit_test(the_guard_ends_what_does_not_end),
		cmocka_unit_test(pulled_disks_fail_the_cell_and_are_cleaned_up),
		cmocka_unit_test(a_disk_pulled_midway_fails_the_cell_by_name),
	};
	int rc = guest_args_read(&args, argc, argv);

	return rc ? rc
		  : cmocka_run_group_tests_name(args.kernel, tests, boot, halt);
}
