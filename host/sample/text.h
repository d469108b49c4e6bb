/* host/sample/text.h - the kernel's counter files, by position. No function
 * here allocates. */
#ifndef HOST_SAMPLE_TEXT_H
#define HOST_SAMPLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counters of a block device, Documentation/admin-guide/iostats.rst. Older
 * kernels show the first 11 (before 4.18) or 15 (before 5.5). */
enum disk_counter {
	DISK_READS,
	DISK_READS_MERGED,
	DISK_SECTORS_READ, /* of 512 bytes */
	DISK_MS_READ,      /* ms fields are 32 bits wide and wrap */
	DISK_WRITES,
	DISK_WRITES_MERGED,
	DISK_SECTORS_WRITTEN,
	DISK_MS_WRITE,
	DISK_IN_FLIGHT, /* the only one that goes down */
	DISK_MS_BUSY,
	DISK_MS_WEIGHTED,
	DISK_DISCARDS,
	DISK_DISCARDS_MERGED,
	DISK_SECTORS_DISCARDED,
	DISK_MS_DISCARD,
	DISK_FLUSHES,
	DISK_MS_FLUSH,
	DISK_COUNTERS
};

/* First line of /proc/stat, in ticks; user holds guest, nice guest_nice. */
enum cpu_field {
	CPU_USER,
	CPU_NICE,
	CPU_SYSTEM,
	CPU_IDLE,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPU_STEAL,
	CPU_GUEST,
	CPU_GUEST_NICE,
	CPU_FIELDS
};

/* One device's line of /proc/diskstats into counter; fields that this kernel
 * does not have become 0. Returns how many it had: 11, 15 or 17 (more count as
 * 17), 0 when there is no such line or it is damaged. */
unsigned text_diskstats(const char *text, size_t len, const char *device,
			uint64_t counter[DISK_COUNTERS]);

/* Returns the number of fields, 0 when it is not /proc/stat. */
unsigned text_stat(const char *text, size_t len, uint64_t cpu[CPU_FIELDS]);

/* Which lines of a "name value" file are wanted. Lines keep their places for
 * the life of a boot, so they are looked up once. */
#define TEXT_KEYS_MAX 32u

struct text_keys {
	unsigned count;
	struct {
		unsigned line;
		unsigned out; /* index of its value */
	} key[TEXT_KEYS_MAX]; /* by line */
};

/* Find names (each ended by a blank or ':' in text); what is missing is left
 * out and its value stays as it was. */
void text_keys_find(struct text_keys *k, const char *text, size_t len,
		    const char *const *names, unsigned count);
/* Bytes of text up to the end of the last wanted line. */
size_t text_keys_end(const struct text_keys *k, const char *text, size_t len);
/* Read the values. False: the text ended early, even within the last wanted
 * line; out holds what came before. */
bool text_keys_read(const struct text_keys *k, const char *text, size_t len,
		    uint64_t *out);

#endif
