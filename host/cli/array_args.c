/* What the options of bay array ask for. */
#include "host/cli/array_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/array/array.h"
#include "host/array/fs_option.h"
#include "host/matrix/matrix.h"
#include "host/matrix/pb.h"
#include "host/util/buf.h"
#include "host/util/parse.h"

enum {
	OPT_LAYOUT = 1,
	OPT_DISKS,
	OPT_FS,
	OPT_NAME,
	OPT_CHUNK,
	OPT_BITMAP,
	OPT_SYNC,
	OPT_MKFS,
	OPT_MOUNT,
	OPT_YES,
};

/* What describes an array. */
#define SPEC_OPTIONS                                                           \
	{ "layout", OPT_LAYOUT, "LAYOUT",                                      \
	  "single, jbod, raid0, raid1, or RAID1-2HDD and its like" },          \
		{ "disks", OPT_DISKS, "N|SERIAL,...",                          \
		  "how many disks, or which" },                                \
		{ "fs", OPT_FS, "FS",                                          \
		  "ext4, xfs, btrfs or raw; default raw" },                    \
		{ "name", OPT_NAME, "NAME",                                    \
		  "of the array; default: the layout's" },                     \
		{ "chunk", OPT_CHUNK, "SIZE",                                  \
		  "of raid0, such as 512k; default: mdadm's" },                \
		{ "bitmap", OPT_BITMAP, "KIND",                                \
		  "of raid1: none or internal; default none" },                \
		{ "initial-sync", OPT_SYNC, NULL,                              \
		  "let a raid1 resync; else its disks count as alike" },       \
		{ "mkfs-options", OPT_MKFS, "O",                               \
		  "options for mkfs, separated by blanks" },                   \
	{                                                                      \
		"mount-options", OPT_MOUNT, "O", "options for mount -o"        \
	}

static const struct cli_option plan_options[] = { SPEC_OPTIONS, { 0 } };

static const struct cli_option create_options[] = {
	SPEC_OPTIONS,
	{ "yes", OPT_YES, NULL, "data that bay wrote on the disks may go" },
	{ 0 },
};

static const struct cli_option show_options[] = {
	{ "name", OPT_NAME, "NAME", "of the array; default: all" },
	{ 0 },
};

static const struct cli_option destroy_options[] = {
	{ "name", OPT_NAME, "NAME", "of the array; default: the only one" },
	{ "yes", OPT_YES, NULL, "its data may go" },
	{ 0 },
};

static const struct cli_option *const options_of[] = {
	[ARRAY_PLAN] = plan_options,
	[ARRAY_CREATE] = create_options,
	[ARRAY_SHOW] = show_options,
	[ARRAY_DESTROY] = destroy_options,
};

static int bad(struct array_job *j, const char *what)
{
	(void)j;
	return cli_usage("%s", what);
}

static int take_mkfs(struct array_job *j, char *words)
{
	char *rest = NULL, *word;

	for (word = strtok_r(words, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		if (pb_add_string(&j->fs.mkfs_option, &j->fs.n_mkfs_option,
				  word) < 0)
			return BAY_FAILED;
	return -1;
}

static int take_chunk(struct array_job *j)
{
	uint64_t bytes;

	if (parse_size(optarg, &bytes) < 0 || !bytes || bytes % 1024 ||
	    bytes / 1024 > UINT32_MAX)
		return bad(j, "--chunk is a size such as 512k");
	j->spec.chunk_kib = (uint32_t)(bytes / 1024);
	return -1;
}

static int take_option(struct array_job *j, int opt)
{
	switch (opt) {
	case OPT_LAYOUT:
		j->layout = optarg;
		return -1;
	case OPT_DISKS:
		j->disks = optarg;
		return -1;
	case OPT_FS:
		if (!matrix_is_fs(optarg))
			return cli_usage("--fs %s: a file system is ext4, xfs, "
					 "btrfs or raw",
					 optarg);
		j->fs.type = strcmp(optarg, "raw") ? optarg : (char *)"";
		return -1;
	case OPT_NAME:
		j->name = optarg;
		return -1;
	case OPT_CHUNK:
		return take_chunk(j);
	case OPT_BITMAP:
		j->spec.bitmap = optarg;
		return -1;
	case OPT_SYNC:
		j->spec.initial_sync = true;
		return -1;
	case OPT_MKFS:
		return take_mkfs(j, optarg);
	case OPT_MOUNT:
		j->fs.mount_options = optarg;
		return -1;
	case OPT_YES:
		j->yes = true;
		return -1;
	default:
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	}
}

/* The agent asks again, but then the array is there already. */
static int check_fs(struct array_job *j)
{
	int ret = fs_option_check(j->fs.mount_options, &j->err);
	size_t i;

	for (i = 0; i < j->fs.n_mkfs_option && ret == 0; i++)
		ret = fs_option_check(j->fs.mkfs_option[i], &j->err);
	if (ret == 0)
		return -1;
	fprintf(stderr, "bay: %s\n", j->err.text);
	return BAY_REFUSED;
}

int array_job_parse(struct array_job *j, enum array_verb verb, int argc,
		    char **argv)
{
	int opt, ret = -1;

	bay__array_spec__init(&j->spec);
	bay__fs_spec__init(&j->fs);
	while (ret == -1 && (opt = cli_getopt(j->cli, argc, argv, "",
					      options_of[verb])) != -1)
		ret = take_option(j, opt);
	if (ret != -1)
		return ret;
	/* bay array show NAME, bay array destroy NAME; a new one's name is an
	 * option. */
	if (optind < argc && !j->name &&
	    (verb == ARRAY_SHOW || verb == ARRAY_DESTROY))
		j->name = argv[optind++];
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	if (j->name && strcmp(j->name, "cell") == 0)
		return bad(j, "the name 'cell' belongs to bay run");
	ret = check_fs(j);
	if (ret != -1)
		return ret;
	j->bench = cli_bench(j->cli);
	return j->bench ? -1 : BAY_USAGE;
}

/* raid1 with --disks, or RAID1-2HDD which says how many. */
static int parse_layout(struct array_job *j, unsigned *want)
{
	static const char *const kinds[] = { "single", "jbod", "raid0",
					     "raid1" };
	const char *kind;
	size_t i;

	if (!j->layout)
		return bad(j, "--layout is needed: single, jbod, raid0, raid1");
	*want = matrix_layout_disks(j->layout, &kind);
	if (*want) {
		j->spec.layout = (char *)kind;
		return -1;
	}
	*want = 0;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcasecmp(j->layout, kinds[i]) == 0)
			j->spec.layout = (char *)kinds[i];
	if (*j->spec.layout)
		return -1;
	return cli_usage("'%s' is not a layout (single, jbod, raid0, raid1, or "
			 "RAID1-2HDD and its like)",
			 j->layout);
}

static int add_serial(struct array_job *j, const char *serial)
{
	size_t i;

	if (!*serial)
		return cli_usage("--disks %s has an empty serial", j->disks);
	if (!bench_disk_find(j->bench, serial)) {
		fprintf(stderr,
			"bay: disk %s is not listed in %s; nothing else is "
			"ever touched\n",
			serial, j->bench->source);
		return BAY_REFUSED;
	}
	for (i = 0; i < j->spec.n_serial; i++)
		if (strcmp(j->spec.serial[i], serial) == 0)
			return cli_usage("disk %s is given twice", serial);
	return pb_add_string(&j->spec.serial, &j->spec.n_serial, serial) < 0
		       ? BAY_FAILED
		       : -1;
}

static int add_listed(struct array_job *j)
{
	char *copy = strdup(j->disks), *rest = copy, *word;
	int ret = copy ? -1 : BAY_FAILED;

	while (ret == -1 && (word = strsep(&rest, ",")))
		ret = add_serial(j, word);
	free(copy);
	return ret;
}

/* The members that are named into j->spec, or their number. */
static int take_disks(struct array_job *j)
{
	unsigned want = j->want; /* of the layout's name */
	int ret = -1;

	if (j->disks && parse_u32_range(j->disks, 0, 256, &j->want) < 0) {
		ret = add_listed(j);
		j->want = (unsigned)j->spec.n_serial;
	}
	if (ret != -1)
		return ret;
	if (!j->want)
		return bad(j, "--disks is needed: a number from 1, or serials");
	if (want && j->want != want)
		return cli_usage("%s has %u disks, --disks gives %u", j->layout,
				 want, j->want);
	if (j->want > j->bench->n_disks)
		return cli_usage("%u disks are wanted, %s has %u", j->want,
				 j->bench->source, j->bench->n_disks);
	return -1;
}

/* What would be given for nothing. */
static int check_kind(struct array_job *j)
{
	const char *bitmap = *j->spec.bitmap ? j->spec.bitmap : "none";
	bool is_raid1 = strcmp(j->spec.layout, "raid1") == 0;

	if (j->spec.chunk_kib && strcmp(j->spec.layout, "raid0") != 0)
		return cli_usage("--chunk is for raid0, not %s",
				 j->spec.layout);
	if (!is_raid1 && strcmp(bitmap, "none") != 0)
		return cli_usage("--bitmap %s is for raid1, not %s", bitmap,
				 j->spec.layout);
	if (!is_raid1 && j->spec.initial_sync)
		return cli_usage("--initial-sync is for raid1, not %s",
				 j->spec.layout);
	if (!*j->fs.type && (j->fs.n_mkfs_option || *j->fs.mount_options))
		return cli_usage("%s is for a file system, see --fs",
				 j->fs.n_mkfs_option ? "--mkfs-options"
						     : "--mount-options");
	return -1;
}

/* As the agent will, with disks of the bench in place of those that are to be
 * chosen. */
static int check_spec(const struct array_job *j)
{
	struct array_member member[ARRAY_MEMBERS_MAX] = { { 0 } };
	const struct array_spec spec = {
		.kind = array_kind_find(j->spec.layout),
		.name = j->name,
		.member = member,
		.count = j->want,
		.chunk_kib = j->spec.chunk_kib,
		.bitmap = *j->spec.bitmap ? j->spec.bitmap : "none",
		.initial_sync = j->spec.initial_sync,
	};
	struct err err = { 0 };
	size_t i;

	for (i = 0; i < j->want && i < ARRAY_MEMBERS_MAX; i++)
		member[i].serial = j->spec.n_serial ? j->spec.serial[i]
						    : j->bench->disks[i].serial;
	return array_check(&spec, &err) < 0 ? cli_usage("%s", err.text) : -1;
}

int array_job_check(struct array_job *j)
{
	int ret = parse_layout(j, &j->want);

	if (ret == -1)
		ret = take_disks(j);
	if (ret == -1)
		ret = check_kind(j);
	if (!j->name)
		j->name = j->spec.layout;
	return ret == -1 ? check_spec(j) : ret;
}

static bool is_taken(const Bay__ArrayStates *all, const char *serial)
{
	size_t i, k;

	for (i = 0; i < all->n_array; i++)
		for (k = 0; k < all->array[i]->spec->n_serial; k++)
			if (strcmp(all->array[i]->spec->serial[k], serial) == 0)
				return true;
	return false;
}

static int too_few_free(const struct array_job *j, const Bay__ArrayStates *all)
{
	struct buf holders = { 0 };
	size_t i;

	for (i = 0; i < all->n_array; i++)
		(void)buf_printf(&holders, "%s%s", i ? ", " : "",
				 all->array[i]->name);
	fprintf(stderr,
		"bay: %u disk%s wanted, %zu free of the %u of %s; the others "
		"are in use by array %s: destroy it first\n",
		j->want, j->want == 1 ? " is" : "s are", j->spec.n_serial,
		j->bench->n_disks, j->bench->source, buf_str(&holders));
	buf_free(&holders);
	return BAY_REFUSED;
}

int array_job_choose_disks(struct array_job *j, const Bay__ArrayStates *all)
{
	unsigned i;
	int ret = -1;

	/* Those that were named are there already. */
	for (i = 0;
	     i < j->bench->n_disks && j->spec.n_serial < j->want && ret == -1;
	     i++)
		if (!is_taken(all, j->bench->disks[i].serial))
			ret = add_serial(j, j->bench->disks[i].serial);
	if (ret == -1 && j->spec.n_serial < j->want)
		return too_few_free(j, all);
	return ret;
}
