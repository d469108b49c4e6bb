/* boards/virtual/disk/options.c - the table of parameters. */
#include "boards/virtual/disk/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_UNSET UINT64_MAX

enum option_type {
	OPTION_U64, /* number with an optional size suffix K, M, G, T */
	OPTION_U32,
	OPTION_BOOL, /* on, off */
	OPTION_WORD, /* one of words, stored as an int */
	OPTION_PATH, /* kept, made absolute by the caller */
	OPTION_SERIAL,
	OPTION_SCALE, /* decimal fraction, stored in thousandths */
};

struct option {
	const char *key;
	enum option_type type;
	size_t at; /* in struct options */
	uint64_t min, max;
	uint64_t unit; /* what one of the value is, in the field's units */
	const char *const *words;
};

static const char *const destage_words[] = { "elevator", "fifo", "random",
					     NULL };
static const char *const cut_words[] = { "lose-all", "prefix", "random", NULL };
static const char *const power_words[] = { "off", "on", NULL };

#define AT(field) offsetof(struct options, field)

static const struct option table[] = {
	{ "serial", OPTION_SERIAL, AT(disk.serial), 0, 0, 0, NULL },
	{ "size", OPTION_U64, AT(disk.size_bytes), 4096, INT64_MAX, 1, NULL },
	{ "image", OPTION_PATH, AT(image), 0, 0, 0, NULL },
	{ "ctl", OPTION_PATH, AT(ctl), 0, 0, 0, NULL },
	{ "power", OPTION_BOOL, AT(disk.start_on), 0, 0, 0, power_words },
	{ "rate_mb_s", OPTION_U64, AT(disk.outer_rate), 0, 100000, 1000000,
	  NULL },
	{ "inner_rate_mb_s", OPTION_U64, AT(disk.inner_rate), 0, 100000,
	  1000000, NULL },
	{ "bus_mb_s", OPTION_U64, AT(disk.bus_rate), 0, 100000, 1000000, NULL },
	{ "rpm", OPTION_U32, AT(disk.rpm), 0, 100000, 1, NULL },
	{ "seek_track_us", OPTION_U32, AT(disk.seek_track_us), 0, 1000000, 1,
	  NULL },
	{ "seek_avg_us", OPTION_U32, AT(disk.seek_avg_us), 0, 1000000, 1,
	  NULL },
	{ "seek_full_us", OPTION_U32, AT(disk.seek_full_us), 0, 1000000, 1,
	  NULL },
	{ "overhead_us", OPTION_U32, AT(disk.overhead_us), 0, 1000000, 1,
	  NULL },
	{ "cache", OPTION_U64, AT(disk.cache_bytes), 4096, 1ull << 32, 1,
	  NULL },
	{ "cache_entries", OPTION_U32, AT(disk.cache_entries), 1, 65536, 1,
	  NULL },
	{ "write_back", OPTION_BOOL, AT(disk.write_back), 0, 0, 0, NULL },
	{ "readahead", OPTION_U64, AT(disk.readahead_bytes), 0, 1ull << 32, 1,
	  NULL },
	{ "destage", OPTION_WORD, AT(disk.destage), 0, 0, 0, destage_words },
	{ "cut", OPTION_WORD, AT(disk.cut), 0, 0, 0, cut_words },
	{ "holdup_ms", OPTION_U64, AT(disk.holdup_ns), 0, 600000, 1000000,
	  NULL },
	{ "spinup_ms", OPTION_U64, AT(disk.spinup_ns), 0, 600000, 1000000,
	  NULL },
	{ "off_hang_ms", OPTION_U64, AT(disk.off_hang_ns), 0, 600000, 1000000,
	  NULL },
	{ "fua", OPTION_BOOL, AT(fua), 0, 0, 0, NULL },
	{ "trim", OPTION_BOOL, AT(trim), 0, 0, 0, NULL },
	{ "seed", OPTION_U64, AT(disk.seed), 0, UINT64_MAX, 1, NULL },
	{ "timescale", OPTION_SCALE, AT(ms_per_s), 0, 1000000, 0, NULL },
};

const char options_help[] =
	"serial=TEXT       (required) serial number, letters and digits\n"
	"size=SIZE         bytes; K, M, G allowed (1G)\n"
	"image=FILE        keep the platters in FILE (memory)\n"
	"ctl=SOCKET        control socket\n"
	"power=on|off      at the start (on)\n"
	"rate_mb_s=N       media rate, MB/s; 0: no timing (30)\n"
	"inner_rate_mb_s=N media rate at the end of the disk (rate_mb_s)\n"
	"cache=SIZE        write cache (8M)\n"
	"write_back=on|off acknowledge writes from the cache (on)\n"
	"spinup_ms=N       power on to ready (1500)\n"
	"timescale=X       real seconds a virtual second; 0: no sleeps (1)\n"
	"seed=N            of all random decisions (0)\n"
	"The manual page has the rest.";

void options_init(struct options *o)
{
	memset(o, 0, sizeof(*o));
	vdisk_cfg_defaults(&o->disk);
	o->disk.inner_rate = RATE_UNSET;
	o->fua = true;
	o->trim = true;
	o->ms_per_s = 1000;
}

void options_free(struct options *o)
{
	free(o->image);
	free(o->ctl);
	o->image = NULL;
	o->ctl = NULL;
}

static unsigned suffix_shift(char c)
{
	switch (c) {
	case 'K':
	case 'k':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	case 'T':
		return 40;
	default:
		return 0;
	}
}

static int parse_u64(const char *text, uint64_t *value)
{
	unsigned long long v;
	unsigned shift;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	shift = suffix_shift(*end);
	if (shift > 0)
		end++;
	if (errno != 0 || *end != '\0' || (v << shift) >> shift != v)
		return -EINVAL;
	*value = (uint64_t)v << shift;
	return 0;
}

static int set_number(const struct option *opt, void *field, const char *value)
{
	uint64_t v;

	if (parse_u64(value, &v) != 0 || v < opt->min || v > opt->max)
		return -EINVAL;
	v *= opt->unit;
	if (opt->type == OPTION_U32)
		*(uint32_t *)field = (uint32_t)v;
	else
		*(uint64_t *)field = v;
	return 0;
}

static int find_word(const char *const *words, const char *value)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], value) == 0)
			return i;
	return -EINVAL;
}

static int set_bool(void *field, const char *value)
{
	int i = find_word(power_words, value);

	if (i < 0)
		return i;
	*(bool *)field = i == 1;
	return 0;
}

static int set_word(const struct option *opt, void *field, const char *value)
{
	int i = find_word(opt->words, value);

	if (i < 0)
		return i;
	*(int *)field = i;
	return 0;
}

static int set_path(void *field, const char *value)
{
	char *copy = strdup(value);

	if (copy == NULL)
		return -ENOMEM;
	free(*(char **)field);
	*(char **)field = copy;
	return 0;
}

/* It is printed in JSON and names files. */
static int set_serial(void *field, const char *value)
{
	size_t n = strlen(value);

	if (n == 0 || n >= sizeof(((struct vdisk_cfg *)NULL)->serial))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)value[i]) && value[i] != '-' &&
		    value[i] != '_')
			return -EINVAL;
	memcpy(field, value, n + 1);
	return 0;
}

static int set_scale(const struct option *opt, void *field, const char *value)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)value[0]))
		return -EINVAL;
	v = strtod(value, &end) * 1000;
	if (*end != '\0' || v > (double)opt->max || (v > 0 && v < 1))
		return -EINVAL;
	*(uint32_t *)field = (uint32_t)v;
	return 0;
}

static int set_field(const struct option *opt, void *field, const char *value)
{
	switch (opt->type) {
	case OPTION_U64:
	case OPTION_U32:
		return set_number(opt, field, value);
	case OPTION_BOOL:
		return set_bool(field, value);
	case OPTION_WORD:
		return set_word(opt, field, value);
	case OPTION_PATH:
		return set_path(field, value);
	case OPTION_SERIAL:
		return set_serial(field, value);
	case OPTION_SCALE:
		return set_scale(opt, field, value);
	}
	return -EINVAL;
}

int options_set(struct options *o, const char *key, const char *value,
		char why[256])
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int err;

		if (strcmp(table[i].key, key) != 0)
			continue;
		err = set_field(&table[i], (char *)o + table[i].at, value);
		if (err != 0)
			snprintf(why, 256, "%s does not take the value %s", key,
				 value);
		return err;
	}
	snprintf(why, 256, "there is no parameter %s", key);
	return -ENOENT;
}

static const char *complaint(const struct options *o)
{
	const struct vdisk_cfg *d = &o->disk;

	if (d->serial[0] == '\0')
		return "serial=TEXT is needed";
	if (d->size_bytes % VDISK_PHYSICAL_BYTES != 0)
		return "size is not a multiple of 4096";
	if ((d->outer_rate == 0) != (d->inner_rate == 0))
		return "rate_mb_s and inner_rate_mb_s: both 0, or none";
	if (d->seek_track_us > d->seek_avg_us ||
	    d->seek_avg_us > d->seek_full_us)
		return "seek_track_us, seek_avg_us, seek_full_us must not fall";
	return NULL;
}

int options_complete(struct options *o, char why[256])
{
	const char *bad;

	if (o->disk.inner_rate == RATE_UNSET)
		o->disk.inner_rate = o->disk.outer_rate;
	bad = complaint(o);
	if (bad == NULL)
		return 0;
	snprintf(why, 256, "%s", bad);
	return -EINVAL;
}
