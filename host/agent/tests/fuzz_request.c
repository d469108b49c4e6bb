/* Requests from a hostile controller, through every service. The machine below
 * is a fixture: disks are files, and no tool is found in PATH, so nothing
 * outside of one temporary folder can change. An input is a list of Envelopes,
 * each behind its length in two bytes, least significant first. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/agent/agent.h"
#include "host/agent/record.h"
#include "host/util/fs.h"
#include "host/util/log.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DISK_BYTES (1 << 20)

static char dir[] = "/tmp/bay-fuzz-agent-XXXXXX";
static char root[64];
static char state[64];
static pid_t owner;

#define DISK_FILES(name, minor, serial)                                        \
	{ "sys/block/" name "/dev", "8:" minor },                              \
		{ "sys/block/" name "/size", "2048" },                         \
		{ "sys/block/" name "/serial", serial },                       \
		{ "sys/block/" name "/diskseq", "5" },                         \
		{ "sys/block/" name "/queue/read_ahead_kb", "128" },           \
	{                                                                      \
		"sys/block/" name "/queue/scheduler", "[none] mq-deadline"     \
	}

static const char *const files[][2] = {
	{ "proc/sys/kernel/random/boot_id", "11111111-2222" },
	{ "proc/sys/vm/drop_caches", "0" },
	{ "proc/sys/vm/swappiness", "60" },
	{ "proc/sys/vm/dirty_bytes", "0" },
	{ "proc/sys/vm/dirty_ratio", "20" },
	{ "proc/self/mountinfo", "1 1 9:9 / / rw - ext4 /dev/root rw\n" },
	{ "proc/swaps", "Filename Type\n" },
	{ "proc/diskstats", "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n" },
	{ "proc/stat", "cpu 1 2 3 4 5 6 7 8 9 10\n" },
	{ "proc/vmstat", "nr_dirty 1\nnr_written 2\n" },
	{ "proc/meminfo", "MemFree: 1 kB\n" },
	DISK_FILES("sda", "0", "T1"),
	DISK_FILES("sdb", "16", "T2"),
	DISK_FILES("sdc", "32", "OTHER"),
};

static void must(int rc, const char *what)
{
	if (rc)
		fatalx(1, "fixture: %s: %s", what, strerror(-rc));
}

static void put(const char *name, const char *text)
{
	char path[FS_PATH_BYTES];
	char *slash;

	must(fs_path(path, "%s/%s", root, name), name);
	slash = strrchr(path, '/');
	*slash = '\0';
	must(fs_mkdirs(path), name);
	*slash = '/';
	must(fs_write_atomic(path, text, strlen(text)), name);
}

static void put_node(const char *name)
{
	char path[FS_PATH_BYTES];

	must(fs_path(path, "%s/dev/%s", root, name), name);
	put(path + strlen(root) + 1, "");
	must(truncate(path, DISK_BYTES), name);
	must(fs_path(path, "%s/sys/block/%s/holders", root, name), name);
	must(fs_mkdirs(path), name);
}

static void remove_all(void)
{
	if (getpid() == owner)
		(void)fs_remove_tree(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		fatal(1, "%s", dir);
	owner = getpid();
	(void)atexit(remove_all);
	(void)snprintf(root, sizeof(root), "%s/root", dir);
	(void)snprintf(state, sizeof(state), "%s/state", dir);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(files[i][0], files[i][1]);
	put_node("sda");
	put_node("sdb");
	put_node("sdc");
	/* No mdadm, no mkfs, no mount, no dd, no sync. */
	must(setenv("PATH", root, 1), "PATH");
	log_set_level(LOG_LEVEL_ERROR);
	return 0;
}

/* As a fresh agent finds it. */
static bool open_agent(struct agent *a)
{
	static Bay__Param *no_tools[1];
	const struct agent_cfg cfg = { root, state };
	struct err err = { 0 };

	*a = (struct agent){ .cancel_fd = -1 };
	if (agent_open(a, &cfg, &err)) {
		log_warnx("%s", err.text);
		agent_close(a);
		return false;
	}
	a->tool = no_tools; /* asked already: there are none */
	/* Whatever waits for a disk, a tool or a workload ends at once. */
	(void)eventfd_write(a->cancel_fd, 1);
	return true;
}

/* The reply must pack, as the worker does it, and read back. */
static void check_reply(const Bay__Reply *reply)
{
	size_t len = bay__reply__get_packed_size(reply);
	uint8_t *packed = malloc(len + 1);
	Bay__Reply *again;

	if (!packed || bay__reply__pack(reply, packed) != len)
		abort();
	again = bay__reply__unpack(NULL, len, packed);
	if (!again || again->status != reply->status)
		abort();
	if (reply->status && !reply->error_text[0])
		abort(); /* a failure says why */
	bay__reply__free_unpacked(again, NULL);
	free(packed);
}

/* As server.c does with the payload of a frame. */
static void answer(struct agent *a, const uint8_t *data, size_t len)
{
	Bay__Envelope *env = bay__envelope__unpack(NULL, len, data);
	Bay__Reply reply = BAY__REPLY__INIT;
	struct arena arena = { 0 };

	if (!env)
		return;
	if (env->body_case == BAY__ENVELOPE__BODY_REQUEST && env->id != 0) {
		agent_answer(a, env->request, &reply, &arena);
		check_reply(&reply);
	}
	arena_free(&arena);
	bay__envelope__free_unpacked(env, NULL);
}

/* The next input starts from nothing. */
static void clean_up(struct agent *a)
{
	struct err err = { 0 };
	unsigned restored;

	if (knob_restore(&a->knobs, &restored, &err))
		abort();
	agent_close(a);
	(void)fs_remove_tree(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct agent a;

	if (!open_agent(&a))
		return 0;
	while (size >= 2) {
		size_t len = data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		answer(&a, data, len);
		data += len;
		size -= len;
	}
	clean_up(&a);
	return 0;
}
