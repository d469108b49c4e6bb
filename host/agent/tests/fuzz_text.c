/* Texts that the agent reads: the kernel's counters and mount table, its log,
 * dd's last words, and its own journal and spool after a crash. The first byte
 * chooses the reader. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/agent/kmsg.h"
#include "host/agent/mounts.h"
#include "host/agent/spool.h"
#include "host/knob/knob.h"
#include "host/sample/sampler.h"
#include "host/sample/text.h"
#include "host/util/parse.h"
#include "host/workload/dd_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_diskstats(char *text, size_t len)
{
	uint64_t counter[DISK_COUNTERS];
	unsigned n = text_diskstats(text, len, "sda", counter);

	if (n != 0 && n != 11 && n != 15 && n != DISK_COUNTERS)
		abort();
}

static void read_stat(char *text, size_t len)
{
	uint64_t cpu[CPU_FIELDS];

	if (text_stat(text, len, cpu) > CPU_FIELDS)
		abort();
}

/* The lines are looked up in one text and read in another: here, in every
 * beginning of it. */
static void read_keys(const char *text, size_t len, const char *const *names,
		      unsigned count)
{
	uint64_t value[VM_COUNT + MEM_COUNT] = { 0 };
	struct text_keys keys;

	text_keys_find(&keys, text, len, names, count);
	for (unsigned i = 0; i < keys.count; i++) {
		if (keys.key[i].out >= count)
			abort();
	}
	for (size_t n = len; n; n /= 2)
		(void)text_keys_read(&keys, text, n, value);
}

static void read_vmstat(char *text, size_t len)
{
	read_keys(text, len, sample_vm_names, VM_COUNT);
}

static void read_meminfo(char *text, size_t len)
{
	read_keys(text, len, sample_mem_names, MEM_COUNT);
}

static void read_mountinfo(char *text, size_t len)
{
	struct mount m;

	(void)mounts_parse(text, len, &m);
}

static void read_kmsg(char *text, size_t len)
{
	const char *out;

	if (kmsg_parse(text, &out) && strlen(out) > len)
		abort();
}

static void read_dd(char *text, size_t len)
{
	uint64_t bytes;

	(void)len;
	(void)dd_parse_bytes(text, &bytes);
}

static void read_journal(char *text, size_t len)
{
	static struct knob_journal j;
	char boot_id[64];

	if (knob_journal_parse(&j, text, len, boot_id, sizeof(boot_id)) == 0 &&
	    j.count > KNOB_MAX)
		abort();
}

static void read_shown(char *text, size_t len)
{
	knob_shown_value(KNOB_WORD, text);
	if (strlen(text) > len)
		abort();
}

static void read_numbers(char *text, size_t len)
{
	uint64_t u;
	int64_t i;
	double d;
	bool b;

	(void)len;
	(void)parse_u64(text, &u);
	(void)parse_i64(text, &i);
	(void)parse_double(text, &d);
	(void)parse_size(text, &u);
	(void)parse_bool(text, &b);
	(void)str_trim(text);
}

struct bytes {
	const void *data;
	size_t len;
};

static int spool_bytes(void *arg, const char *path, size_t max, struct buf *out)
{
	const struct bytes *b = arg;

	(void)path;
	return b->len > max ? -EFBIG : buf_append(out, b->data, b->len);
}

static void read_spool(char *text, size_t len)
{
	struct bytes bytes = { text, len };
	const struct spool_ops ops = { .read = spool_bytes, .arg = &bytes };
	const struct spool s = { .ops = &ops, .dir = "/spool", .fd = -1 };
	struct buf out = { 0 };

	if (spool_get(&s, "id", &out) == 0 && out.len > len)
		abort();
	buf_free(&out);
}

static void (*const reader[])(char *text, size_t len) = {
	read_diskstats, read_stat,    read_vmstat, read_meminfo,
	read_mountinfo, read_kmsg,    read_dd,     read_journal,
	read_shown,     read_numbers, read_spool,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = sizeof(reader) / sizeof(*reader);
	char *text;

	if (!size)
		return 0;
	/* One byte more ends it for those that want a string. */
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	reader[data[0] % count](text, size - 1);
	free(text);
	return 0;
}
