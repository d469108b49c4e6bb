/* bay-agent --stdio over a socket pair, on a fixture instead of a machine:
 * test_protocol BAY_AGENT TOOLS. TOOLS holds stand-ins for mdadm, mkfs and
 * mount, so that no block device is touched. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/agent/tests/client.h"
#include "host/util/fs.h"
#include "host/util/run.h"

#define BOOT_ID "11111111-2222-3333-4444-555555555555"

static const char *agent_path;
static const char *tools_path;
static const char *const both[] = { "T1", "T2" };

struct bed {
	char dir[40];
	char root[64];
	char state[64];
	struct run_child agent;
	struct client client;
};

static void put(struct bed *b, const char *name, const char *text)
{
	char path[FS_PATH_BYTES];
	char *slash;

	assert_int_equal(fs_path(path, "%s/%s", b->root, name), 0);
	slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(fs_mkdirs(path), 0);
	*slash = '/';
	assert_int_equal(fs_write_atomic(path, text, strlen(text)), 0);
}

static void assert_file(struct bed *b, const char *name, const char *want)
{
	char path[FS_PATH_BYTES];
	char line[256];

	assert_int_equal(fs_path(path, "%s/%s", b->root, name), 0);
	assert_int_equal(fs_read_line(path, line, sizeof(line)), 0);
	assert_string_equal(line, want);
}

static void put_disk(struct bed *b, const char *name, int minor,
		     const char *serial)
{
	static const char *const attrs[][2] = {
		{ "size", "131072" },
		{ "ro", "0" },
		{ "diskseq", "5" },
		{ "queue/logical_block_size", "512" },
		{ "queue/physical_block_size", "4096" },
		{ "queue/rotational", "1" },
		{ "queue/write_cache", "write back" },
		{ "queue/read_ahead_kb", "128" },
		{ "device/model", "FIXTURE" },
	};
	char path[FS_PATH_BYTES];
	char name_of[128];
	char text[64];
	int fd;

	for (size_t i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		(void)snprintf(name_of, sizeof(name_of), "sys/block/%s/%s",
			       name, attrs[i][0]);
		put(b, name_of, attrs[i][1]);
	}
	(void)snprintf(name_of, sizeof(name_of), "sys/block/%s/dev", name);
	(void)snprintf(text, sizeof(text), "8:%d", minor);
	put(b, name_of, text);
	/* VPD page 0x80: its length is 16 bits with a zero first. */
	assert_int_equal(
		fs_path(path, "%s/sys/block/%s/device/vpd_pg80", b->root, name),
		0);
	(void)memcpy(text, "\0\x80\0\x08", 4);
	(void)snprintf(text + 4, sizeof(text) - 4, "%8s", serial);
	assert_int_equal(fs_write_atomic(path, text, 12), 0);
	assert_int_equal(
		fs_path(path, "%s/sys/block/%s/holders", b->root, name), 0);
	assert_int_equal(fs_mkdirs(path), 0);
	assert_int_equal(fs_path(path, "%s/dev", b->root), 0);
	assert_int_equal(fs_mkdirs(path), 0);
	assert_int_equal(fs_path(path, "%s/dev/%s", b->root, name), 0);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	close(fd);
}

static void put_machine(struct bed *b)
{
	put(b, "proc/sys/kernel/random/boot_id", BOOT_ID);
	put(b, "proc/self/mountinfo", "1 1 9:9 / / rw - ext4 /dev/root rw\n");
	put(b, "proc/swaps", "Filename Type\n/dev/sdx partition 1 0 -2\n");
	put(b, "proc/sys/vm/drop_caches", "0");
	put(b, "proc/sys/vm/swappiness", "60");
	put(b, "proc/diskstats",
	    "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n"
	    "8 16 sdb 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
	put(b, "proc/stat", "cpu 1 2 3 4 5 6 7 8 9 10\n");
	put(b, "proc/vmstat", "nr_dirty 1\nnr_written 2\n");
	put(b, "proc/meminfo", "MemFree: 1 kB\n");
	put_disk(b, "sda", 0, "T1");
	put_disk(b, "sdb", 16, "T2");
	put_disk(b, "sdc", 32, "OTHER");
}

static void start_agent(struct bed *b)
{
	char env_path[4096];
	char env_root[128];
	const char *const env[] = { env_path, env_root, NULL };
	const char *const argv[] = { agent_path, "--stdio",     "--root",
				     b->root,    "--state-dir", b->state,
				     NULL };
	struct run_spec spec = { .argv = argv, .env = env };
	struct err err = { 0 };
	int pair[2];

	(void)snprintf(env_path, sizeof(env_path), "PATH=%s:%s", tools_path,
		       getenv("PATH"));
	(void)snprintf(env_root, sizeof(env_root), "BAY_TEST_ROOT=%s", b->root);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	spec.in_fd = spec.out_fd = pair[1];
	assert_int_equal(run_start(&b->agent, &spec, &err), 0);
	close(pair[1]);
	client_open(&b->client, pair[0]);
	client_wait_event(&b->client, &b->client.incarnation, 30000);
	assert_true(b->client.incarnation != 0);
}

/* Its exit code after the end of the stream. */
static int end_agent(struct bed *b)
{
	struct run_child *const list[] = { &b->agent };
	int code;

	client_close(&b->client);
	(void)run_wait(list, 1, 30000, -1);
	code = b->agent.ended ? b->agent.exit_code : -1000;
	if (code)
		print_message("%s", buf_str(&b->agent.err));
	(void)run_close(&b->agent, 2000);
	return code;
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	*state = b;
	(void)strcpy(b->dir, "/tmp/bay-test-agent-XXXXXX");
	if (!mkdtemp(b->dir))
		return -1;
	(void)snprintf(b->root, sizeof(b->root), "%s/root", b->dir);
	(void)snprintf(b->state, sizeof(b->state), "%s/state", b->dir);
	put_machine(b);
	start_agent(b);
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	int code = end_agent(b);
	int rc = fs_remove_tree(b->dir);

	free(b);
	return code ? code : rc;
}

static const Bay__Reply *refused(const Bay__Reply *r, const char *why)
{
	(void)want(r, BAY__AGENT_STATUS__AGENT_REFUSED);
	if (!strstr(r->error_text, why))
		fail_msg("\"%s\" does not say \"%s\"", r->error_text, why);
	return r;
}

static Bay__ArraySpec spec_of(const char *layout, const char *const *serials,
			      size_t count)
{
	Bay__ArraySpec s = BAY__ARRAY_SPEC__INIT;

	s.layout = (char *)(uintptr_t)layout;
	s.serial = (char **)(uintptr_t)serials;
	s.n_serial = count;
	return s;
}

static void nothing_is_done_before_hello(void **state)
{
	struct bed *b = *state;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentHello h = BAY__AGENT_HELLO__INIT;

	want(client_simple(&b->client, BAY__REQUEST__OP_INVENTORY),
	     BAY__AGENT_STATUS__AGENT_INVALID);
	h.major = 2;
	req.op_case = BAY__REQUEST__OP_HELLO;
	req.hello = &h;
	want(client_ask(&b->client, &req),
	     BAY__AGENT_STATUS__AGENT_UNSUPPORTED);
	ok(client_simple(&b->client, BAY__REQUEST__OP_PING));
	ok(client_hello(&b->client, both, 2));
	req.op_case = (Bay__Request__OpCase)0;
	want(client_ask(&b->client, &req),
	     BAY__AGENT_STATUS__AGENT_UNSUPPORTED);
}

/* While its answer is due, and when that was lost. */
static void a_repeated_hello_is_answered(void **state)
{
	struct bed *b = *state;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentHello h = BAY__AGENT_HELLO__INIT;
	uint32_t id;

	h.major = 1;
	req.op_case = BAY__REQUEST__OP_HELLO;
	req.hello = &h;
	id = client_send(&b->client, &req);
	b->client.next_id--;
	assert_int_equal(client_send(&b->client, &req), id);
	ok(client_wait(&b->client, id, CLIENT_ANSWER_MS));
	b->client.next_id--;
	assert_int_equal(client_send(&b->client, &req), id);
	ok(client_wait(&b->client, id, CLIENT_ANSWER_MS));
}

static void every_disk_is_listed_with_what_may_be_done(void **state)
{
	struct bed *b = *state;
	const Bay__Inventory *inv;

	ok(client_hello(&b->client, both, 2));
	inv = ok(client_simple(&b->client, BAY__REQUEST__OP_INVENTORY))
		      ->inventory;
	assert_int_equal(inv->n_dev, 3);
	assert_string_equal(inv->dev[0]->serial, "T1");
	assert_true(inv->dev[0]->allowed);
	assert_int_equal(inv->dev[0]->size_bytes, 64 << 20);
	assert_int_equal(inv->dev[0]->physical_block_bytes, 4096);
	assert_string_equal(inv->dev[2]->serial, "OTHER");
	assert_false(inv->dev[2]->allowed);
}

static void no_disk_goes_by_an_empty_serial(void **state)
{
	static char *nameless[] = { (char *)"", (char *)"T2" };
	struct bed *b = *state;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__InventoryReq ask = BAY__INVENTORY_REQ__INIT;
	const Bay__Inventory *inv;
	uint32_t id;

	ok(client_hello(&b->client, both, 2));
	ask.serial = nameless;
	ask.n_serial = 2;
	req.op_case = BAY__REQUEST__OP_INVENTORY;
	req.inventory = &ask;
	id = client_send(&b->client, &req);
	inv = ok(client_wait(&b->client, id, CLIENT_ANSWER_MS))->inventory;
	assert_int_equal(inv->n_dev, 1);
	assert_string_equal(inv->dev[0]->serial, "T2");
}

static const Bay__Reply *create_single(struct bed *b, const char *const *serial)
{
	Bay__ArraySpec s = spec_of("single", serial, 1);

	return client_array_create(&b->client, "t", &s, false, true);
}

static void disks_that_are_not_ours_are_refused(void **state)
{
	static const char *const other[] = { "OTHER" };
	static const char *const absent[] = { "T3" };
	static const char *const allowed[] = { "T1", "T2", "T3" };
	struct bed *b = *state;
	char path[FS_PATH_BYTES];
	const char *const argv[] = { "/sbin/mkfs.ext4", "-qF", "-L",
				     "photos",          path,  NULL };
	const struct run_spec mkfs = { .argv = argv };

	ok(client_hello(&b->client, allowed, 3));
	refused(create_single(b, other), "not on the bench's list");
	want(create_single(b, absent), BAY__AGENT_STATUS__AGENT_MISSING);

	put(b, "proc/self/mountinfo",
	    "1 1 8:0 / /home rw - ext4 /dev/sda rw\n");
	refused(create_single(b, &both[0]), "mounted on /home");
	put(b, "proc/self/mountinfo", "1 1 9:9 / / rw - ext4 /dev/x rw\n");
	put(b, "proc/swaps", "Filename\n/dev/sda partition 1\n");
	refused(create_single(b, &both[0]), "swap");
	put(b, "proc/swaps", "Filename\n");
	put(b, "sys/block/sda/holders/dm-0/x", "");
	refused(create_single(b, &both[0]), "held by dm-0");

	assert_int_equal(fs_path(path, "%s/dev/sdb", b->root), 0);
	assert_int_equal(run_ok(NULL, &mkfs, NULL), 0);
	refused(create_single(b, &both[1]), "ext4 signature with label "
					    "\"photos\"");
	put_disk(b, "sdd", 48, "T2");
	refused(create_single(b, &both[1]), "2 devices answer");
}

static char *calls(struct bed *b)
{
	static char text[16384];
	char path[FS_PATH_BYTES];
	struct buf buf = { 0 };

	assert_int_equal(fs_path(path, "%s/calls", b->root), 0);
	(void)fs_read(path, sizeof(text) - 1, &buf);
	(void)snprintf(text, sizeof(text), "%s", buf_str(&buf));
	buf_free(&buf);
	return text;
}

static void assert_called(struct bed *b, const char *part)
{
	if (!strstr(calls(b), part))
		fail_msg("no call has \"%s\" in\n%s", part, calls(b));
}

static Bay__Request *dd_request(struct bed *b, const char *param,
				const char *value)
{
	struct arena *a = &b->client.arena;
	Bay__Request *req = arena_alloc(a, sizeof(*req));
	Bay__WorkloadReq *w = arena_alloc(a, sizeof(*w));
	Bay__Cell *cell = arena_alloc(a, sizeof(*cell));
	Bay__WorkloadSpec *spec = arena_alloc(a, sizeof(*spec));
	Bay__ArraySpec *array = arena_alloc(a, sizeof(*array));
	Bay__FsSpec *fs = arena_alloc(a, sizeof(*fs));
	Bay__Param *p = arena_alloc(a, sizeof(*p));

	bay__request__init(req);
	bay__workload_req__init(w);
	bay__cell__init(cell);
	bay__workload_spec__init(spec);
	bay__fs_spec__init(fs);
	bay__param__init(p);
	*array = spec_of("raid1", both, 2);
	p->name = arena_strdup(a, param);
	p->value = arena_strdup(a, value);
	spec->kind = arena_strdup(a, "dd-write");
	spec->param = arena_array(a, 1, sizeof(p));
	spec->param[0] = p;
	spec->n_param = 1;
	fs->type = arena_strdup(a, "ext4");
	cell->key = arena_strdup(a, "key");
	cell->array = array;
	cell->fs = fs;
	cell->workload = spec;
	cell->sample_hz = 50;
	cell->timeout_s = 60;
	w->cell = cell;
	w->attempt = 1;
	w->array = arena_strdup(a, "t");
	req->op_case = BAY__REQUEST__OP_WORKLOAD;
	req->workload = w;
	return req;
}

static void make_mounted_mirror(struct bed *b)
{
	Bay__ArraySpec s = spec_of("raid1", both, 2);

	ok(client_hello(&b->client, both, 2));
	ok(client_array_create(&b->client, "t", &s, true, false));
	assert_null(strstr(calls(b), "--create"));
	assert_true(ok(client_array_create(&b->client, "t", &s, false, false))
			    ->array->clean);
	assert_true(ok(client_array_create(&b->client, "t", &s, false, false))
			    ->array->clean);
	ok(client_mkfs(&b->client, "t", "ext4"));
	ok(client_mount(&b->client, "t", "ext4"));
}

static void a_cell_goes_its_whole_way(void **state)
{
	struct bed *b = *state;
	const Bay__CellResult *r;
	char *first;

	make_mounted_mirror(b);
	assert_called(b, "--homehost=bay --name=t --run --quiet "
			 "--metadata=1.2 --level=1 --bitmap=none "
			 "--assume-clean --raid-devices=2");
	assert_null(strstr(strstr(calls(b), "--create") + 1, "--create"));
	assert_called(b, "-L bay-t-0");
	assert_called(b, "mount -t ext4 -o noinit_itable");
	ok(client_simple(&b->client, BAY__REQUEST__OP_DROP_CACHES));
	assert_file(b, "proc/sys/vm/drop_caches", "3");
	want(client_ask(&b->client, dd_request(b, "sice", "1M")),
	     BAY__AGENT_STATUS__AGENT_INVALID);
	r = ok(client_ask(&b->client, dd_request(b, "size", "1M")))->result;
	assert_int_equal(r->state, BAY__CELL_STATE__CELL_DONE);
	assert_string_equal(r->key, "key");
	assert_int_equal(r->child[0]->bytes, 1 << 20);
	assert_int_equal(r->n_disk, 3);
	assert_int_equal(r->disk[0]->sample[0]->n_counter, 17);
	assert_string_equal(r->boot_id, BOOT_ID);
	first = arena_strdup(&b->client.arena, r->spool_id);
	/* Its reply was lost: the same result, not another run. */
	r = ok(client_ask(&b->client, dd_request(b, "size", "1M")))->result;
	assert_string_equal(r->spool_id, first);
	ok(client_spool_ack(&b->client, first));
	assert_int_equal(
		ok(client_simple(&b->client, BAY__REQUEST__OP_SPOOL_LIST))
			->spool->n_entry,
		0);
	want(client_array_stop(&b->client, "t"), BAY__AGENT_STATUS__AGENT_BUSY);
	ok(client_unmount(&b->client, "t"));
	ok(client_array_stop(&b->client, "t"));
	ok(client_array_stop(&b->client, "t"));
}

static void options_that_name_another_device_are_refused(void **state)
{
	static const char *const options[] = { "/dev/sdc", "logdev=sdc",
					       "-Jdevice=LABEL=photos" };
	struct bed *b = *state;
	Bay__MkfsReq mkfs = BAY__MKFS_REQ__INIT;
	Bay__MountReq mount = BAY__MOUNT_REQ__INIT;
	Bay__FsSpec fs = BAY__FS_SPEC__INIT;
	Bay__Request req = BAY__REQUEST__INIT;
	char *option[1];

	ok(client_hello(&b->client, both, 2));
	ok(create_single(b, both));
	fs.type = (char *)(uintptr_t) "ext4";
	mkfs.array = mount.array = (char *)(uintptr_t) "t";
	mkfs.fs = mount.fs = &fs;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		option[0] = (char *)(uintptr_t)options[i];
		fs.mkfs_option = option;
		fs.n_mkfs_option = 1;
		req.op_case = BAY__REQUEST__OP_MKFS;
		req.mkfs = &mkfs;
		refused(client_ask(&b->client, &req), "names another");
		fs.n_mkfs_option = 0;
		fs.mount_options = option[0];
		req.op_case = BAY__REQUEST__OP_MOUNT;
		req.mount = &mount;
		refused(client_ask(&b->client, &req), "names another");
		fs.mount_options = (char *)(uintptr_t) "";
	}
	assert_null(strstr(calls(b), "mkfs.ext4 -q"));
}

static const Bay__ArrayStates *show(struct bed *b, size_t arrays)
{
	const Bay__ArrayStates *all =
		ok(client_simple(&b->client, BAY__REQUEST__OP_ARRAY_SHOW))
			->arrays;

	assert_int_equal(all->n_array, arrays);
	return all;
}

static void put_state(struct bed *b, const char *name, const char *text,
		      size_t len)
{
	char path[FS_PATH_BYTES];

	assert_int_equal(fs_path(path, "%s/%s", b->state, name), 0);
	assert_int_equal(fs_write_atomic(path, text, len), 0);
}

static bool has_state(struct bed *b, const char *name)
{
	char path[FS_PATH_BYTES];

	assert_int_equal(fs_path(path, "%s/%s", b->state, name), 0);
	return fs_exists(path);
}

/* One of the sentences about damaged files names it. */
static void assert_told(struct bed *b, const char *name)
{
	const Bay__ArrayStates *all =
		ok(client_simple(&b->client, BAY__REQUEST__OP_ARRAY_SHOW))
			->arrays;

	for (size_t i = 0; i < all->n_damaged; i++) {
		if (strstr(all->damaged[i], name))
			return;
	}
	fail_msg("%s is in none of %zu sentences", name, all->n_damaged);
}

/* As a crash of the disk below could leave it: kind of file system, node, then
 * a request for no disks. */
static const char bad_note[] = "\nmd127\n\x0a\x01t\x12\x07\x0a\x05raid1";

static void a_damaged_note_of_an_array_is_told(void **state)
{
	struct bed *b = *state;

	put(b, "sys/block/md127/md/array_state", "clean");
	put_state(b, "arrays/t", bad_note, sizeof(bad_note) - 1);
	ok(client_hello(&b->client, both, 2));
	(void)show(b, 0);
	assert_told(b, "arrays/t.bad");
	assert_false(has_state(b, "arrays/t"));
	ok(client_simple(&b->client, BAY__REQUEST__OP_PING));
}

static void a_damaged_note_is_in_no_other_arrays_way(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec one = spec_of("single", both, 1);
	Bay__ArraySpec two = spec_of("single", &both[1], 1);
	const Bay__ResetState *reset;

	ok(client_hello(&b->client, both, 2));
	put_state(b, "arrays/t", "", 0);
	ok(client_array_create(&b->client, "u", &one, false, false));
	put_state(b, "arrays/t", "x", 1);
	ok(client_array_zero(&b->client, "u", both, 1));
	put_state(b, "arrays/t", bad_note, sizeof(bad_note) - 1);
	/* Of its own name too, once it is out of the way. */
	ok(client_array_create(&b->client, "t", &two, false, false));
	put_state(b, "arrays/v", "x", 1);
	reset = ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))->reset;
	assert_int_equal(reset->n_left, 0);
	assert_int_equal(show(b, 0)->n_damaged, 4);
	assert_told(b, "arrays/t.bad:");
	assert_told(b, "arrays/t.bad-1");
	assert_told(b, "arrays/t.bad-2");
	assert_told(b, "arrays/v.bad");
}

static void an_agent_starts_whatever_is_damaged(void **state)
{
	static char long_text[1 << 20];
	struct bed *b = *state;

	memset(long_text, 'x', sizeof(long_text));
	assert_int_equal(end_agent(b), 0);
	put_state(b, "knobs.journal", long_text, sizeof(long_text));
	put_state(b, "arrays/t", long_text, sizeof(long_text));
	put_state(b, "spool/0-1.cell", "BAYS", 4);
	start_agent(b);
	assert_false(has_state(b, "arrays/t"));
	ok(client_hello(&b->client, both, 2));
	assert_int_equal(
		ok(client_simple(&b->client, BAY__REQUEST__OP_SPOOL_LIST))
			->spool->n_entry,
		0);
	assert_told(b, "knobs.journal.bad");
	assert_told(b, "arrays/t.bad");
	assert_told(b, "spool/0-1.cell.bad");
	ok(client_knob(&b->client, "sysctl", "vm.swappiness", "10", ""));
	assert_int_equal(end_agent(b), 0);
	assert_file(b, "proc/sys/vm/swappiness", "60");
	start_agent(b);
	assert_true(has_state(b, "knobs.journal.bad"));
}

/* Leaves what was pushed in b->client.pushed. */
static void wait_pushed_after_restart(struct bed *b)
{
	assert_int_equal(end_agent(b), 0);
	start_agent(b);
	ok(client_hello(&b->client, both, 2));
	client_wait_event(&b->client, (const uint64_t *)&b->client.pushed,
			  30000);
	assert_non_null(b->client.pushed);
}

static void an_unfetched_result_is_pushed_to_the_next_controller(void **state)
{
	struct bed *b = *state;

	make_mounted_mirror(b);
	ok(client_ask(&b->client, dd_request(b, "size", "1M")));
	wait_pushed_after_restart(b);
	assert_string_equal(b->client.pushed->key, "key");
}

/* The oldest comes first, and must not keep the others from coming. */
static void a_damaged_result_does_not_hold_up_the_next(void **state)
{
	struct bed *b = *state;
	Bay__Request *second;
	const char *first;
	char name[FS_PATH_BYTES];

	make_mounted_mirror(b);
	first = ok(client_ask(&b->client, dd_request(b, "size", "1M")))
			->result->spool_id;
	assert_int_equal(fs_path(name, "spool/%s.cell", first), 0);
	second = dd_request(b, "size", "1M");
	second->workload->attempt = 2;
	ok(client_ask(&b->client, second));
	put_state(b, name, "BAYS and more", 13);
	wait_pushed_after_restart(b);
	assert_int_equal(b->client.pushed->attempt, 2);
	assert_int_equal(
		ok(client_simple(&b->client, BAY__REQUEST__OP_SPOOL_LIST))
			->spool->n_entry,
		1);
	assert_told(b, name);
}

static void a_failing_tool_is_quoted_and_undone(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid0", both, 2);
	const Bay__Reply *r;

	ok(client_hello(&b->client, both, 2));
	put(b, "mdadm-fails", "");
	r = want(client_array_create(&b->client, "t", &s, false, false),
		 BAY__AGENT_STATUS__AGENT_FAILED);
	assert_non_null(strstr(r->error_text, "cannot do that"));
	assert_int_equal(
		ok(client_simple(&b->client, BAY__REQUEST__OP_ARRAY_SHOW))
			->arrays->n_array,
		0);
	s.chunk_kib = 3;
	want(client_array_create(&b->client, "t", &s, false, false),
	     BAY__AGENT_STATUS__AGENT_INVALID);
	s.layout = (char *)(uintptr_t) "raid7";
	want(client_array_create(&b->client, "t", &s, false, false),
	     BAY__AGENT_STATUS__AGENT_UNSUPPORTED);
	s = spec_of("single", both, 2);
	want(client_array_create(&b->client, "t", &s, false, false),
	     BAY__AGENT_STATUS__AGENT_INVALID);
	want(client_array_create(&b->client, "../x", &s, false, false),
	     BAY__AGENT_STATUS__AGENT_INVALID);
}

/* Whether it runs or waits for its turn. */
static void cancel(struct bed *b, uint32_t id)
{
	ok(client_simple(&b->client, BAY__REQUEST__OP_CANCEL));
	want(client_wait(&b->client, id, CLIENT_ANSWER_MS),
	     BAY__AGENT_STATUS__AGENT_CANCELLED);
}

static void ping_and_cancel_do_not_wait_for_the_workload(void **state)
{
	struct bed *b = *state;
	uint32_t id;

	make_mounted_mirror(b);
	id = client_send(&b->client, dd_request(b, "seconds", "1000"));
	ok(client_simple(&b->client, BAY__REQUEST__OP_PING));
	cancel(b, id);
}

/* A dd that has ended, and whose sync does not before "go" is there. Its id. */
static uint32_t hold_workload(struct bed *b)
{
	uint32_t id;

	put(b, "at-sync",
	    "while [ ! -e \"$BAY_TEST_ROOT/go\" ]; do sleep 0.01; done\n");
	make_mounted_mirror(b);
	id = client_send(&b->client, dd_request(b, "size", "1M"));
	while (!b->client.progress)
		(void)client_simple(&b->client, BAY__REQUEST__OP_PING);
	return id;
}

static void reset_ends_what_runs_and_what_waits(void **state)
{
	struct bed *b = *state;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ResetReq reset = BAY__RESET_REQ__INIT;
	uint32_t runs = hold_workload(b);
	uint32_t waits, last;

	waits = client_send(&b->client, dd_request(b, "seconds", "20"));
	req.op_case = BAY__REQUEST__OP_RESET;
	req.reset = &reset;
	last = client_send(&b->client, &req);
	want(client_wait(&b->client, runs, CLIENT_ANSWER_MS),
	     BAY__AGENT_STATUS__AGENT_CANCELLED);
	want(client_wait(&b->client, waits, CLIENT_ANSWER_MS),
	     BAY__AGENT_STATUS__AGENT_CANCELLED);
	assert_int_equal(ok(client_wait(&b->client, last, CLIENT_ANSWER_MS))
				 ->reset->n_left,
			 0);
}

static void a_controller_that_is_back_is_greeted_at_once(void **state)
{
	struct bed *b = *state;
	const Bay__AgentHelloAck *h;
	const Bay__CellResult *r;
	uint64_t incarnation;
	char *id;

	(void)hold_workload(b);
	h = ok(client_hello(&b->client, both, 2))->hello;
	incarnation = h->incarnation;
	assert_int_equal(h->spooled, 0);
	assert_int_equal(h->n_layout, 4);
	h = ok(client_hello(&b->client, both, 2))->hello;
	assert_true(h->incarnation == incarnation);
	ok(client_simple(&b->client, BAY__REQUEST__OP_PING));
	/* Its workload has gone on; nobody waits for the reply any more. */
	put(b, "go", "");
	client_wait_event(&b->client, (const uint64_t *)&b->client.pushed,
			  CLIENT_ANSWER_MS);
	assert_non_null(b->client.pushed);
	id = arena_strdup(&b->client.arena, b->client.pushed->spool_id);
	r = ok(client_ask(&b->client, dd_request(b, "size", "1M")))->result;
	assert_int_equal(r->state, BAY__CELL_STATE__CELL_DONE);
	assert_string_equal(r->spool_id, id);
	h = ok(client_hello(&b->client, both, 2))->hello;
	assert_int_equal(h->spooled, 1);
}

/* The worker must not be surprised by it in the middle of a request. */
static void a_hello_with_another_list_waits_for_its_turn(void **state)
{
	struct bed *b = *state;
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__AgentHello h = BAY__AGENT_HELLO__INIT;
	uint32_t id;

	(void)hold_workload(b);
	h.major = 1;
	h.allowed_serial = (char **)(uintptr_t)both;
	h.n_allowed_serial = 1;
	h.controller = (char *)(uintptr_t) "test";
	req.op_case = BAY__REQUEST__OP_HELLO;
	req.hello = &h;
	id = client_send(&b->client, &req);
	/* Answered behind it, and the hello is not. */
	ok(client_simple(&b->client, BAY__REQUEST__OP_PING));
	put(b, "go", "");
	assert_int_equal(ok(client_wait(&b->client, id, CLIENT_ANSWER_MS))
				 ->hello->spooled,
			 1);
	ok(client_unmount(&b->client, "t"));
	refused(client_array_zero(&b->client, "t", both, 2),
		"T2 is not on the bench's list");
}

static void pull_disk(struct bed *b, const char *name)
{
	char path[FS_PATH_BYTES];

	assert_int_equal(fs_path(path, "%s/sys/block/%s", b->root, name), 0);
	assert_int_equal(fs_remove_tree(path), 0);
}

static void a_name_that_is_taken_is_refused(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec first = spec_of("single", &both[0], 1);
	Bay__ArraySpec other = spec_of("single", &both[1], 1);
	Bay__ArraySpec mirror = spec_of("raid1", both, 2);

	ok(client_hello(&b->client, both, 2));
	ok(client_array_create(&b->client, "t", &first, false, false));
	refused(client_array_create(&b->client, "t", &other, true, true),
		"array t exists (single of T1)");
	refused(client_array_create(&b->client, "t", &other, false, true),
		"array t exists (single of T1)");
	refused(client_array_create(&b->client, "t", &mirror, false, true),
		"array t exists (single of T1)");
	assert_string_equal(show(b, 1)->array[0]->spec->serial[0], "T1");
	ok(client_array_create(&b->client, "t", &first, false, false));
	ok(client_array_zero(&b->client, "t", both, 1));
	ok(client_array_create(&b->client, "t", &other, false, false));
}

/* As an agent does that is killed before it runs mdadm. */
static void note_array(struct bed *b, const char *name, Bay__ArraySpec *spec)
{
	Bay__ArrayCreateReq req = BAY__ARRAY_CREATE_REQ__INIT;
	uint8_t note[512] = "\n\n";
	char path[FS_PATH_BYTES];
	size_t len;

	req.name = (char *)(uintptr_t)name;
	req.spec = spec;
	len = bay__array_create_req__get_packed_size(&req);
	assert_true(len <= sizeof(note) - 2);
	(void)bay__array_create_req__pack(&req, note + 2);
	assert_int_equal(fs_path(path, "%s/arrays/%s", b->state, name), 0);
	assert_int_equal(fs_write_atomic(path, note, len + 2), 0);
}

static void an_array_noted_but_never_made_is_in_nobodys_way(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec mirror = spec_of("raid1", both, 2);
	Bay__ArraySpec single = spec_of("single", both, 1);

	ok(client_hello(&b->client, both, 2));
	note_array(b, "t", &mirror);
	assert_string_equal(show(b, 1)->array[0]->md_state, "stopped");
	ok(client_array_create(&b->client, "t", &mirror, false, false));
	assert_string_equal(show(b, 1)->array[0]->md_state, "clean, idle");
	ok(client_array_zero(&b->client, "t", both, 2));

	/* Another kind of cell: the controller resets first. */
	note_array(b, "t", &mirror);
	refused(client_array_create(&b->client, "t", &single, false, true),
		"array t exists (raid1 of T1, T2)");
	ok(client_simple(&b->client, BAY__REQUEST__OP_RESET));
	ok(client_array_create(&b->client, "t", &single, false, true));
	ok(client_array_zero(&b->client, "t", both, 1));

	note_array(b, "t", &mirror);
	ok(client_array_zero(&b->client, "t", both, 2));
	(void)show(b, 0);
}

static void a_disk_of_another_array_is_refused(void **state)
{
	static const char *const allowed[] = { "T1", "T2", "naa.51" };
	struct bed *b = *state;
	Bay__ArraySpec single = spec_of("single", both, 1);
	Bay__ArraySpec mirror = spec_of("raid1", both, 2);
	Bay__ArraySpec by_wwn = spec_of("single", &allowed[2], 1);

	put(b, "sys/block/sda/device/wwid", "naa.51");
	ok(client_hello(&b->client, allowed, 3));
	ok(client_array_create(&b->client, "a", &single, false, false));
	refused(client_array_create(&b->client, "b", &single, true, true),
		"disk T1 belongs to array a");
	refused(client_array_create(&b->client, "b", &single, false, true),
		"disk T1 belongs to array a");
	refused(client_array_create(&b->client, "b", &mirror, false, true),
		"disk T1 belongs to array a");
	refused(client_array_create(&b->client, "b", &by_wwn, false, true),
		"disk naa.51 belongs to array a");
	refused(client_array_zero(&b->client, "b", both, 1),
		"disk T1 belongs to array a");
	assert_string_equal(show(b, 1)->array[0]->name, "a");
	ok(client_array_zero(&b->client, "a", both, 1));
	ok(client_array_create(&b->client, "b", &mirror, false, false));
}

static void an_array_stays_noted_until_its_disks_are_wiped(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", both, 2);
	const Bay__Reply *r;

	ok(client_hello(&b->client, both, 2));
	ok(client_array_create(&b->client, "t", &s, false, false));
	pull_disk(b, "sdb");
	r = want(client_array_zero(&b->client, "t", both, 2),
		 BAY__AGENT_STATUS__AGENT_MISSING);
	assert_non_null(strstr(r->error_text, "disk T2 is not there"));
	assert_non_null(strstr(r->error_text, "array t stays noted"));
	assert_string_equal(show(b, 1)->array[0]->md_state, "stopped");
	ok(client_array_stop(&b->client, "t"));
	put_disk(b, "sdb", 16, "T2");
	ok(client_array_zero(&b->client, "t", both, 2));
	(void)show(b, 0);
	ok(client_array_zero(&b->client, "t", both, 2));
}

static void a_dead_disk_off_the_list_is_given_up(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", both, 2);

	ok(client_hello(&b->client, both, 2));
	ok(client_array_create(&b->client, "t", &s, false, false));
	ok(client_hello(&b->client, both, 1));
	refused(client_array_zero(&b->client, "t", both, 2),
		"T2 is not on the bench's list");
	pull_disk(b, "sdb");
	ok(client_array_zero(&b->client, "t", both, 2));
	(void)show(b, 0);
}

static void a_mirror_names_the_disk_it_lost(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", both, 2);

	ok(client_hello(&b->client, both, 2));
	ok(client_array_create(&b->client, "t", &s, false, false));
	put(b, "sys/block/md127/md/degraded", "1");
	pull_disk(b, "sdb");
	assert_string_equal(show(b, 1)->array[0]->md_state,
			    "clean, degraded, without T2, idle");
}

static void a_cell_that_loses_a_disk_is_no_measurement(void **state)
{
	/* By its end: the disk is gone, dropped by md, or another; md says no
	 * more than that one is. */
	static const char *const happens[][2] = {
		{ "echo 6 >$BAY_TEST_ROOT/sys/block/sda/diskseq", "T1" },
		{ "echo in_sync,write_error "
		  ">$BAY_TEST_ROOT/sys/block/md127/md/dev-sda/state",
		  "T1" },
		{ "echo faulty "
		  ">$BAY_TEST_ROOT/sys/block/md127/md/dev-sda/state",
		  "T1" },
		{ "echo in_sync >$BAY_TEST_ROOT/sys/block/md127/md/dev-sda/"
		  "state\necho 1 >$BAY_TEST_ROOT/sys/block/md127/md/degraded",
		  "md127" },
		{ "echo 0 >$BAY_TEST_ROOT/sys/block/md127/md/degraded\n"
		  "rm -r $BAY_TEST_ROOT/sys/block/sdb",
		  "T2" },
	};
	struct bed *b = *state;

	make_mounted_mirror(b);
	put(b, "sys/block/md127/md/dev-sda/state", "in_sync");
	for (size_t i = 0; i < sizeof(happens) / sizeof(*happens); i++) {
		Bay__Request *req = dd_request(b, "size", "1M");
		const Bay__CellResult *r;

		put(b, "at-sync", happens[i][0]);
		req->workload->attempt = (uint32_t)i + 1;
		r = ok(client_ask(&b->client, req))->result;
		assert_int_equal(r->state, BAY__CELL_STATE__CELL_FAILED);
		assert_int_equal(r->n_lost_serial, 1);
		assert_string_equal(r->lost_serial[0], happens[i][1]);
		assert_non_null(strstr(r->error_text, happens[i][1]));
		ok(client_spool_ack(&b->client, r->spool_id));
		put(b, "sys/block/md127/md/dev-sda/state", "in_sync");
	}
	/* And none begins like that. */
	want(client_ask(&b->client, dd_request(b, "size", "1M")),
	     BAY__AGENT_STATUS__AGENT_MISSING);
}

static void an_array_cancelled_in_its_resync_is_undone(void **state)
{
	struct bed *b = *state;
	Bay__ArraySpec s = spec_of("raid1", both, 2);
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayCreateReq create = BAY__ARRAY_CREATE_REQ__INIT;
	uint32_t id;

	ok(client_hello(&b->client, both, 2));
	put(b, "md-resyncs", "");
	s.initial_sync = true;
	create.name = (char *)(uintptr_t) "t";
	create.spec = &s;
	req.op_case = BAY__REQUEST__OP_ARRAY_CREATE;
	req.array_create = &create;
	id = client_send(&b->client, &req);
	while (!b->client.progress)
		(void)client_wait(&b->client, 0, 100);
	cancel(b, id);
	assert_called(b, "mdadm --stop");
	(void)show(b, 0);
}

static void settings_are_put_back_by_end_and_by_the_next_agent(void **state)
{
	struct bed *b = *state;

	ok(client_hello(&b->client, both, 2));
	ok(client_knob(&b->client, "swappiness", "", "10", ""));
	assert_file(b, "proc/sys/vm/swappiness", "10");
	assert_int_equal(end_agent(b), 0);
	assert_file(b, "proc/sys/vm/swappiness", "60");

	start_agent(b);
	ok(client_hello(&b->client, both, 2));
	ok(client_knob(&b->client, "sysctl", "vm.swappiness", "10", ""));
	ok(client_knob(&b->client, "read_ahead_kb", "T1", "512", ""));
	want(client_knob(&b->client, "read_ahead_kb", "OTHER", "512", ""),
	     BAY__AGENT_STATUS__AGENT_REFUSED);
	want(client_knob(&b->client, "swappiness", "", "1000", ""),
	     BAY__AGENT_STATUS__AGENT_INVALID);
	(void)run_kill(&b->agent, SIGKILL);
	(void)end_agent(b);
	assert_file(b, "sys/block/sda/queue/read_ahead_kb", "512");
	start_agent(b);
	assert_file(b, "proc/sys/vm/swappiness", "60");
	assert_file(b, "sys/block/sda/queue/read_ahead_kb", "128");
}

static void reset_cleans_up_after_a_killed_agent(void **state)
{
	struct bed *b = *state;
	const Bay__ResetState *r;

	make_mounted_mirror(b);
	(void)client_send(&b->client, dd_request(b, "seconds", "1000"));
	while (!b->client.progress)
		(void)client_wait(&b->client, 0, 100);
	(void)run_kill(&b->agent, SIGKILL);
	(void)end_agent(b);
	start_agent(b);
	ok(client_hello(&b->client, both, 2));
	r = ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))->reset;
	assert_int_equal(r->n_left, 0);
	assert_int_equal(r->unmounted, 1);
	assert_int_equal(r->arrays_stopped, 1);
	r = ok(client_simple(&b->client, BAY__REQUEST__OP_RESET))->reset;
	assert_int_equal(r->unmounted + r->arrays_stopped, 0);
}

static void garbage_between_frames_is_passed_over(void **state)
{
	static const char junk[] = "Last login: today\nBAYA\xff\xff\xff\xff"
				   "BAYA";
	struct bed *b = *state;
	uint8_t bad[DELIM_HEADER_BYTES + 3];

	assert_true(send(b->client.fd, junk, sizeof(junk), 0) > 0);
	delim_header(bad, (const uint8_t *)"\xff\xff\xff", 3);
	memcpy(bad + DELIM_HEADER_BYTES, "\xff\xff\xff", 3);
	assert_true(send(b->client.fd, bad, sizeof(bad), 0) > 0);
	ok(client_simple(&b->client, BAY__REQUEST__OP_PING));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_done_before_hello),
		TEST(a_repeated_hello_is_answered),
		TEST(every_disk_is_listed_with_what_may_be_done),
		TEST(no_disk_goes_by_an_empty_serial),
		TEST(disks_that_are_not_ours_are_refused),
		TEST(a_cell_goes_its_whole_way),
		TEST(options_that_name_another_device_are_refused),
		TEST(a_damaged_note_of_an_array_is_told),
		TEST(a_damaged_note_is_in_no_other_arrays_way),
		TEST(an_agent_starts_whatever_is_damaged),
		TEST(a_damaged_result_does_not_hold_up_the_next),
		TEST(an_unfetched_result_is_pushed_to_the_next_controller),
		TEST(a_failing_tool_is_quoted_and_undone),
		TEST(ping_and_cancel_do_not_wait_for_the_workload),
		TEST(reset_ends_what_runs_and_what_waits),
		TEST(a_controller_that_is_back_is_greeted_at_once),
		TEST(a_hello_with_another_list_waits_for_its_turn),
		TEST(a_cell_that_loses_a_disk_is_no_measurement),
		TEST(a_name_that_is_taken_is_refused),
		TEST(an_array_noted_but_never_made_is_in_nobodys_way),
		TEST(a_disk_of_another_array_is_refused),
		TEST(an_array_stays_noted_until_its_disks_are_wiped),
		TEST(a_dead_disk_off_the_list_is_given_up),
		TEST(a_mirror_names_the_disk_it_lost),
		TEST(an_array_cancelled_in_its_resync_is_undone),
		TEST(settings_are_put_back_by_end_and_by_the_next_agent),
		TEST(reset_cleans_up_after_a_killed_agent),
		TEST(garbage_between_frames_is_passed_over),
	};

	if (argc != 3) {
		(void)fprintf(stderr, "usage: %s BAY_AGENT TOOLS\n", argv[0]);
		return 2;
	}
	agent_path = argv[1];
	tools_path = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
