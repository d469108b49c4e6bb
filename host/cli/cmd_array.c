/* bay array: one array by hand, on the bench's disks and no others. */
#include "host/cli/command.h"
#include "host/cli/print_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "host/bench/dut.h"
#include "host/bench/lock.h"
#include "host/matrix/matrix.h"
#include "host/matrix/pb.h"
#include "host/rig/rig_bench.h"
#include "host/util/parse.h"

#define POWER_MS 120000u
#define STEP_MS  300000u
#define SYNC_MS  (7u * 86400u * 1000u)
#define WAIT_S   60u

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

static const struct option options[] = {
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "disks", required_argument, NULL, OPT_DISKS },
	{ "fs", required_argument, NULL, OPT_FS },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "chunk", required_argument, NULL, OPT_CHUNK },
	{ "bitmap", required_argument, NULL, OPT_BITMAP },
	{ "initial-sync", no_argument, NULL, OPT_SYNC },
	{ "mkfs-options", required_argument, NULL, OPT_MKFS },
	{ "mount-options", required_argument, NULL, OPT_MOUNT },
	{ "yes", no_argument, NULL, OPT_YES },
	{ 0 },
};

/* One call: what was asked for, and whom to ask. */
struct job {
	struct cli *cli;
	const struct bench *bench;
	const char *layout, *disks, *name;
	Bay__ArraySpec spec;
	Bay__FsSpec fs;
	bool yes;

	uv_loop_t loop;
	bool has_loop;
	struct dut *dut;
	struct rig *rig;
	int lock;
	struct err err;
};

/* ---- what was asked for ---------------------------------------------------
 */

static int bad(struct job *j, const char *what)
{
	(void)j;
	return cli_usage("%s", what);
}

static int take_mkfs(struct job *j, char *words)
{
	char *rest = NULL, *word;

	for (word = strtok_r(words, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		if (pb_add_string(&j->fs.mkfs_option, &j->fs.n_mkfs_option,
				  word) < 0)
			return BAY_FAILED;
	return -1;
}

static int take_chunk(struct job *j)
{
	uint64_t bytes;

	if (parse_size(optarg, &bytes) < 0 || bytes % 1024 ||
	    bytes / 1024 > UINT32_MAX)
		return bad(j, "--chunk is a size such as 512k");
	j->spec.chunk_kib = (uint32_t)(bytes / 1024);
	return -1;
}

static int take_option(struct job *j, int opt)
{
	switch (opt) {
	case OPT_LAYOUT:
		j->layout = optarg;
		return -1;
	case OPT_DISKS:
		j->disks = optarg;
		return -1;
	case OPT_FS:
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

/* -1: go on. */
static int parse(struct job *j, int argc, char **argv)
{
	int opt, ret = -1;

	bay__array_spec__init(&j->spec);
	bay__fs_spec__init(&j->fs);
	while (ret == -1 &&
	       (opt = cli_getopt(j->cli, argc, argv, "", options)) != -1)
		ret = take_option(j, opt);
	if (ret != -1)
		return ret;
	/* bay array show NAME, bay array destroy NAME */
	if (optind < argc && !j->name)
		j->name = argv[optind++];
	if (optind < argc)
		return bad(j, "too many operands");
	if (j->name && strcmp(j->name, "cell") == 0)
		return bad(j, "the name 'cell' belongs to bay run");
	j->bench = cli_bench(j->cli);
	return j->bench ? -1 : BAY_USAGE;
}

/* raid1 with --disks, or RAID1-2HDD which says how many. */
static int parse_layout(struct job *j, unsigned *want)
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

static int add_serial(struct job *j, const char *serial)
{
	size_t i;

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

static int add_listed(struct job *j)
{
	char *copy = strdup(j->disks), *rest = NULL, *word;
	int ret = copy ? -1 : BAY_FAILED;

	for (word = copy ? strtok_r(copy, ",", &rest) : NULL; word && ret == -1;
	     word = strtok_r(NULL, ",", &rest))
		ret = add_serial(j, word);
	free(copy);
	return ret;
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

/* The first disks of the bench that no array of bay's holds. */
static int add_free(struct job *j, const Bay__ArrayStates *all, uint32_t n)
{
	unsigned i;
	int ret = -1;

	for (i = 0; i < j->bench->n_disks && j->spec.n_serial < n && ret == -1;
	     i++)
		if (!is_taken(all, j->bench->disks[i].serial))
			ret = add_serial(j, j->bench->disks[i].serial);
	if (ret == -1 && j->spec.n_serial < n)
		return cli_usage("%u disks are wanted, %s has %zu free", n,
				 j->bench->source, j->spec.n_serial);
	return ret;
}

static int choose_disks(struct job *j, const Bay__ArrayStates *all)
{
	uint32_t n = 0;
	unsigned want = 0;
	int ret;

	ret = parse_layout(j, &want);
	if (ret != -1)
		return ret;
	if (!j->disks && !want)
		return bad(j, "--disks is needed: a number, or serials");
	if (!j->disks || parse_u32_range(j->disks, 1, 256, &n) == 0)
		ret = add_free(j, all, n ? n : want);
	else
		ret = add_listed(j);
	if (ret == -1 && want && j->spec.n_serial != want)
		return cli_usage("%s has %u disks, --disks gives %zu",
				 j->layout, want, j->spec.n_serial);
	if (!j->name)
		j->name = j->spec.layout;
	return ret;
}

/* ---- whom to ask ----------------------------------------------------------
 */

static int complain(struct job *j, int rc)
{
	fprintf(stderr, "bay: %s\n", j->err.text);
	if (rc == -EPERM ||
	    (rc == -EREMOTEIO && j->dut &&
	     dut_refusal(j->dut) == BAY__AGENT_STATUS__AGENT_REFUSED))
		return BAY_REFUSED;
	if (rc == -EREMOTEIO)
		return BAY_FAILED;
	return dut_is_unreachable(rc) || rig_is_unreachable(rc)
		       ? BAY_UNREACHABLE
		       : BAY_FAILED;
}

static int open_agent(struct job *j)
{
	struct dut_client_cfg cfg = { .loop = &j->loop, .bench = j->bench };
	int ret;

	j->lock = bench_lock(j->bench, "array", &j->err);
	if (j->lock < 0) {
		fprintf(stderr, "bay: %s\n", j->err.text);
		return BAY_REFUSED;
	}
	if (uv_loop_init(&j->loop) < 0)
		return BAY_FAILED;
	j->has_loop = true;
	ret = dut_open(&cfg, &j->dut, &j->err);
	return ret < 0 ? complain(j, ret) : -1;
}

static int open_rig(struct job *j)
{
	struct rig_cfg cfg = { .loop = &j->loop,
			       .events_since = RIG_EVENTS_NEW };
	char path[256];
	int ret;

	if (j->bench->rig.type == BENCH_RIG_NONE)
		return 0;
	ret = rig_bench_address(j->bench, &cfg.address, path, sizeof(path),
				&j->err);
	return ret < 0 ? ret : rig_open(&cfg, &j->rig, &j->err);
}

static void close_all(struct job *j)
{
	rig_close(j->rig);
	dut_close(j->dut);
	if (j->has_loop) {
		uv_run(&j->loop, UV_RUN_NOWAIT);
		uv_loop_close(&j->loop);
	}
	bench_unlock(j->lock);
	while (j->spec.n_serial)
		free(j->spec.serial[--j->spec.n_serial]);
	free(j->spec.serial);
	while (j->fs.n_mkfs_option)
		free(j->fs.mkfs_option[--j->fs.n_mkfs_option]);
	free(j->fs.mkfs_option);
}

static int ask(struct job *j, Bay__Request *req, uint32_t ms, Bay__Reply **out)
{
	return dut_call(j->dut, req, ms, out, &j->err);
}

static int ask_arrays(struct job *j, const char *name, Bay__Reply **out)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayShowReq show = BAY__ARRAY_SHOW_REQ__INIT;
	int ret;

	show.name = (char *)name;
	req.op_case = BAY__REQUEST__OP_ARRAY_SHOW;
	req.array_show = &show;
	ret = ask(j, &req, STEP_MS, out);
	if (ret == 0 &&
	    ((*out)->body_case != BAY__REPLY__BODY_ARRAYS || !(*out)->arrays)) {
		bay__reply__free_unpacked(*out, NULL);
		return err_set(&j->err, -EPROTO, "the agent answers nonsense");
	}
	return ret;
}

/* Slots of the disks on, and the disks seen. */
static int power_up(struct job *j)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__WaitDisksReq w = BAY__WAIT_DISKS_REQ__INIT;
	uint32_t s = j->bench->disk_wait_s ? j->bench->disk_wait_s : WAIT_S;
	uint32_t mask = 0;
	size_t i;
	int ret;

	ret = open_rig(j);
	for (i = 0; i < j->spec.n_serial && ret == 0; i++)
		mask |= 1u
			<< (bench_disk_find(j->bench, j->spec.serial[i])->slot &
			    31);
	/* A run may have left a stricter policy. */
	if (ret == 0 && j->rig)
		ret = rig_arm_silence(j->rig, mask,
				      SILENCE_POLICY__SILENCE_HOLD, &j->err);
	if (ret == 0 && j->rig)
		ret = rig_slot_set_and_wait(j->rig, mask, true, POWER_MS, NULL,
					    &j->err);
	if (ret < 0)
		return ret;
	w.serial = j->spec.serial;
	w.n_serial = j->spec.n_serial;
	w.timeout_ms = s * 1000;
	req.op_case = BAY__REQUEST__OP_WAIT_DISKS;
	req.wait_disks = &w;
	return ask(j, &req, w.timeout_ms + 15000, NULL);
}

/* ---- plan ------------------------------------------------------------------
 */

static const Bay__BlockDev *find_dev(const Bay__Inventory *inv,
				     const char *serial)
{
	size_t i;

	for (i = 0; i < inv->n_dev; i++)
		if (strcmp(inv->dev[i]->serial, serial) == 0 ||
		    strcmp(inv->dev[i]->wwn, serial) == 0)
			return inv->dev[i];
	return NULL;
}

static int ask_inventory(struct job *j, Bay__Reply **out)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__InventoryReq inv = BAY__INVENTORY_REQ__INIT;
	int ret;

	inv.serial = j->spec.serial;
	inv.n_serial = j->spec.n_serial;
	req.op_case = BAY__REQUEST__OP_INVENTORY;
	req.inventory = &inv;
	ret = ask(j, &req, STEP_MS, out);
	if (ret == 0 && ((*out)->body_case != BAY__REPLY__BODY_INVENTORY ||
			 !(*out)->inventory)) {
		bay__reply__free_unpacked(*out, NULL);
		return err_set(&j->err, -EPROTO, "the agent answers nonsense");
	}
	return ret;
}

static const char *contents(const Bay__BlockDev *d, char *buf, size_t len)
{
	const Bay__Signature *s;

	if (!d)
		return "not there";
	if (d->in_use)
		snprintf(buf, len, "in use: %s", d->in_use_by);
	else if (!d->n_signature)
		snprintf(buf, len, "blank");
	else {
		s = d->signature[0];
		snprintf(buf, len, "%s%s%s%s, %s", s->type,
			 *s->label ? " " : "", s->label,
			 d->n_signature > 1 ? " and more" : "",
			 s->ours ? "bay's own" : "foreign");
	}
	return buf;
}

static void print_plan(const struct job *j, const Bay__Inventory *inv)
{
	char what[256];
	size_t i;

	fprintf(stderr, "array %s: %s of %zu disk%s, %s\n", j->name,
		j->spec.layout, j->spec.n_serial,
		j->spec.n_serial == 1 ? "" : "s",
		*j->fs.type ? j->fs.type : "no file system");
	for (i = 0; i < j->spec.n_serial; i++) {
		const Bay__BlockDev *d = find_dev(inv, j->spec.serial[i]);

		fprintf(stderr, "  %-20s %-16s %8.1f GB  %s\n",
			j->spec.serial[i], d ? d->model : "",
			d ? (double)d->size_bytes / 1e9 : 0.0,
			contents(d, what, sizeof(what)));
	}
}

static bool holds_ours(const struct job *j, const Bay__Inventory *inv)
{
	size_t i;

	for (i = 0; i < j->spec.n_serial; i++) {
		const Bay__BlockDev *d = find_dev(inv, j->spec.serial[i]);

		if (d && d->n_signature)
			return true;
	}
	return false;
}

static int ask_create(struct job *j, bool plan_only, bool wipe,
		      Bay__Reply **out)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayCreateReq a = BAY__ARRAY_CREATE_REQ__INIT;

	a.name = (char *)j->name;
	a.spec = &j->spec;
	a.plan_only = plan_only;
	a.wipe_ours = wipe;
	req.op_case = BAY__REQUEST__OP_ARRAY_CREATE;
	req.array_create = &a;
	return ask(j, &req, j->spec.initial_sync ? SYNC_MS : STEP_MS, out);
}

/* Disks chosen, powered, looked at; the plan shown and checked by the agent.
 *   ours  out: something that bay wrote would be overwritten */
static int make_plan(struct job *j, bool *ours)
{
	Bay__Reply *reply = NULL;
	int ret, rc;

	ret = ask_arrays(j, "", &reply);
	if (ret < 0)
		return complain(j, ret);
	rc = choose_disks(j, reply->arrays);
	bay__reply__free_unpacked(reply, NULL);
	if (rc != -1)
		return rc;
	ret = power_up(j);
	if (ret == 0)
		ret = ask_inventory(j, &reply);
	if (ret < 0)
		return complain(j, ret);
	print_plan(j, reply->inventory);
	*ours = holds_ours(j, reply->inventory);
	bay__reply__free_unpacked(reply, NULL);
	ret = ask_create(j, true, true, NULL);
	return ret < 0 ? complain(j, ret) : -1;
}

/* ---- results ---------------------------------------------------------------
 */

static json_t *array_json(const Bay__ArrayState *a)
{
	json_t *serials = json_array(), *targets = json_array();
	size_t i;

	for (i = 0; a->spec && i < a->spec->n_serial; i++)
		json_array_append_new(serials, json_string(a->spec->serial[i]));
	for (i = 0; i < a->n_target; i++)
		json_array_append_new(
			targets, json_pack("{s:s, s:s, s:s}", "device",
					   a->target[i]->device, "mount_point",
					   a->target[i]->mount_point, "fs",
					   a->target[i]->fs_type));
	return json_pack("{s:s, s:s, s:o, s:b, s:s, s:o}", "name", a->name,
			 "layout", a->spec ? a->spec->layout : "", "disks",
			 serials, "clean", a->clean, "state", a->md_state,
			 "targets", targets);
}

static void print_array(const Bay__ArrayState *a)
{
	size_t i;

	printf("%s: %s of", a->name, a->spec ? a->spec->layout : "?");
	for (i = 0; a->spec && i < a->spec->n_serial; i++)
		printf(" %s", a->spec->serial[i]);
	printf(", %s\n", *a->md_state ? a->md_state
			 : a->clean   ? "clean"
				      : "not clean");
	for (i = 0; i < a->n_target; i++)
		printf("  %s %s%s%s\n", a->target[i]->device,
		       a->target[i]->fs_type,
		       *a->target[i]->mount_point ? " on " : "",
		       a->target[i]->mount_point);
}

static int show(struct job *j, const char *name)
{
	Bay__Reply *reply = NULL;
	json_t *list;
	size_t i;
	int ret;

	ret = ask_arrays(j, name, &reply);
	if (ret < 0)
		return complain(j, ret);
	list = json_array();
	for (i = 0; i < reply->arrays->n_array; i++) {
		if (j->cli->json)
			json_array_append_new(
				list, array_json(reply->arrays->array[i]));
		else
			print_array(reply->arrays->array[i]);
	}
	if (j->cli->json)
		print_json(json_incref(list), JSON_DOCUMENT);
	if (!i && !j->cli->json)
		fprintf(stderr, "bay: no %s on this bench\n",
			*name ? "such array" : "array");
	json_decref(list);
	bay__reply__free_unpacked(reply, NULL);
	return *name && !i ? BAY_FAILED : BAY_OK;
}

/* ---- create ----------------------------------------------------------------
 */

static int make_fs(struct job *j)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__MkfsReq mkfs = BAY__MKFS_REQ__INIT;
	Bay__MountReq mount = BAY__MOUNT_REQ__INIT;
	int ret;

	if (!*j->fs.type)
		return 0;
	mkfs.array = (char *)j->name;
	mkfs.fs = &j->fs;
	req.op_case = BAY__REQUEST__OP_MKFS;
	req.mkfs = &mkfs;
	ret = ask(j, &req, STEP_MS, NULL);
	if (ret < 0)
		return ret;
	mount.array = (char *)j->name;
	mount.fs = &j->fs;
	req.op_case = BAY__REQUEST__OP_MOUNT;
	req.mount = &mount;
	return ask(j, &req, STEP_MS, NULL);
}

static int create(struct job *j)
{
	bool ours = false;
	int ret;

	ret = make_plan(j, &ours);
	if (ret != -1)
		return ret;
	if (ours && !j->yes) {
		fprintf(stderr, "bay: what bay wrote on these disks would be "
				"lost; say --yes if it may go\n");
		return BAY_REFUSED;
	}
	ret = ask_create(j, false, j->yes, NULL);
	if (ret == 0)
		ret = make_fs(j);
	if (ret < 0)
		return complain(j, ret);
	if (j->rig)
		fprintf(stderr, "the rig keeps the slots on for 15 minutes "
				"without a host; 'bay rig monitor' is one\n");
	return show(j, j->name);
}

static int plan(struct job *j)
{
	bool ours = false;
	int ret = make_plan(j, &ours);

	if (ret != -1)
		return ret;
	fprintf(stderr, "nothing was changed%s\n",
		ours ? "; create needs --yes, as bay's own data would go" : "");
	return BAY_OK;
}

/* ---- destroy ---------------------------------------------------------------
 */

static int zero(struct job *j, Bay__ArrayState *a)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__UnmountReq u = BAY__UNMOUNT_REQ__INIT;
	Bay__ArrayZeroReq z = BAY__ARRAY_ZERO_REQ__INIT;
	int ret;

	u.array = a->name;
	req.op_case = BAY__REQUEST__OP_UNMOUNT;
	req.unmount = &u;
	ret = ask(j, &req, STEP_MS, NULL);
	if (ret < 0)
		return ret;
	z.name = a->name;
	if (a->spec) {
		z.serial = a->spec->serial;
		z.n_serial = a->spec->n_serial;
	}
	req.op_case = BAY__REQUEST__OP_ARRAY_ZERO;
	req.array_zero = &z;
	return ask(j, &req, STEP_MS, NULL);
}

/* The array that is meant: the named one, or the only one. NULL: reported. */
static Bay__ArrayState *find_array(struct job *j, const Bay__ArrayStates *all)
{
	Bay__ArrayState *a = NULL;
	size_t i;

	for (i = 0; i < all->n_array; i++)
		if (!j->name || strcmp(all->array[i]->name, j->name) == 0)
			a = all->array[i];
	if (!a)
		(void)cli_usage("there is no array %s",
				j->name ? j->name : "on this bench");
	if (a && !j->name && all->n_array > 1) {
		(void)cli_usage("which of the %zu arrays? See bay array show",
				all->n_array);
		return NULL;
	}
	return a;
}

static int destroy_one(struct job *j, Bay__ArrayState *a)
{
	int ret;

	if (!j->yes) {
		print_array(a);
		fprintf(stderr, "bay: its data would be lost; say --yes if it "
				"may go\n");
		return BAY_REFUSED;
	}
	ret = zero(j, a);
	if (ret < 0)
		return complain(j, ret);
	fprintf(stderr, "array %s is gone\n", a->name);
	return BAY_OK;
}

static int destroy(struct job *j)
{
	Bay__Reply *reply = NULL;
	Bay__ArrayState *a;
	int ret;

	ret = ask_arrays(j, "", &reply);
	if (ret < 0)
		return complain(j, ret);
	a = find_array(j, reply->arrays);
	ret = a ? destroy_one(j, a) : BAY_USAGE;
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

static int show_all(struct job *j)
{
	return show(j, j->name ? j->name : "");
}

/* ---- commands --------------------------------------------------------------
 */

static int run_with(struct cli *cli, int argc, char **argv,
		    int (*fn)(struct job *j))
{
	struct job j = { .cli = cli, .lock = -1 };
	int ret;

	ret = parse(&j, argc, argv);
	if (ret == -1)
		ret = open_agent(&j);
	if (ret == -1)
		ret = fn(&j);
	close_all(&j);
	return ret;
}

static int run_plan(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, plan);
}

static int run_create(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, create);
}

static int run_show(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, show_all);
}

static int run_destroy(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, destroy);
}

#define SPEC_ARGS "--layout LAYOUT [--disks N|SERIAL,...] [--fs FS]"

static const struct command array_plan = {
	.name = "plan",
	.args = SPEC_ARGS,
	.summary = "what create would do, and whether it may",
	.run = run_plan,
};

static const struct command array_create = {
	.name = "create",
	.args = SPEC_ARGS " [--name NAME] [--chunk SIZE] [--bitmap KIND] "
			  "[--initial-sync] [--mkfs-options O] "
			  "[--mount-options O] [--yes]",
	.summary = "make an array, its file system, and mount it",
	.run = run_create,
};

static const struct command array_show = {
	.name = "show",
	.args = "[NAME]",
	.summary = "arrays that bay made",
	.run = run_show,
};

static const struct command array_destroy = {
	.name = "destroy",
	.args = "[NAME] [--yes]",
	.summary = "unmount, stop and wipe bay's signatures",
	.run = run_destroy,
};

static const struct command *const array_commands[] = {
	&array_plan, &array_create, &array_show, &array_destroy, NULL,
};

const struct command cmd_array = {
	.name = "array",
	.args = "COMMAND ...",
	.summary = "one array by hand",
	.sub = array_commands,
};
