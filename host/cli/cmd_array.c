/* bay array: one array by hand, on the bench's disks and no others. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/array_job.h"
#include "host/cli/print_json.h"

#define SYNC_MS (7u * 86400u * 1000u)
#define GIB     (1024.0 * 1024 * 1024)

/* ---- plan ------------------------------------------------------------------
 */

static int ask_inventory(struct array_job *j, Bay__Reply **out)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__InventoryReq inv = BAY__INVENTORY_REQ__INIT;
	int ret;

	inv.serial = j->spec.serial;
	inv.n_serial = j->spec.n_serial;
	req.op_case = BAY__REQUEST__OP_INVENTORY;
	req.inventory = &inv;
	ret = array_job_ask(j, &req, ARRAY_STEP_MS, out);
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

static void print_plan(FILE *to, const struct array_job *j,
		       const Bay__Inventory *inv)
{
	char what[256];
	size_t i;

	fprintf(to, "array %s: %s of %zu disk%s, %s\n", j->name, j->spec.layout,
		j->spec.n_serial, j->spec.n_serial == 1 ? "" : "s",
		*j->fs.type ? j->fs.type : "no file system");
	for (i = 0; i < j->spec.n_serial; i++) {
		const Bay__BlockDev *d = dut_find_dev(inv, j->spec.serial[i]);

		fprintf(to, "  %-20s %-16s %8.1f GiB  %s\n", j->spec.serial[i],
			d ? d->model : "",
			d ? (double)d->size_bytes / GIB : 0.0,
			contents(d, what, sizeof(what)));
	}
}

static json_t *plan_json(const struct array_job *j, const Bay__Inventory *inv)
{
	json_t *disks = json_array();
	char what[256];
	size_t i;

	for (i = 0; i < j->spec.n_serial; i++) {
		const Bay__BlockDev *d = dut_find_dev(inv, j->spec.serial[i]);

		json_array_append_new(
			disks,
			json_pack("{s:s, s:s, s:I, s:s}", "serial",
				  j->spec.serial[i], "model", d ? d->model : "",
				  "size_bytes",
				  (json_int_t)(d ? d->size_bytes : 0),
				  "contents", contents(d, what, sizeof(what))));
	}
	return json_pack("{s:s, s:s, s:s?, s:o}", "name", j->name, "layout",
			 j->spec.layout, "fs", *j->fs.type ? j->fs.type : NULL,
			 "disks", disks);
}

/* The plan is what bay array plan is asked for, and a warning of create's. */
static void show_plan(const struct array_job *j, const Bay__Inventory *inv,
		      bool is_result)
{
	if (is_result && j->cli->json)
		(void)print_json(plan_json(j, inv), JSON_DOCUMENT);
	else
		print_plan(is_result ? stdout : stderr, j, inv);
}

static bool holds_ours(const struct array_job *j, const Bay__Inventory *inv)
{
	size_t i;

	for (i = 0; i < j->spec.n_serial; i++) {
		const Bay__BlockDev *d = dut_find_dev(inv, j->spec.serial[i]);

		if (d && d->n_signature)
			return true;
	}
	return false;
}

static int ask_create(struct array_job *j, bool plan_only, bool wipe,
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
	return array_job_ask(
		j, &req, j->spec.initial_sync ? SYNC_MS : ARRAY_STEP_MS, out);
}

/* Disks chosen, powered, looked at; the plan checked by the agent and shown.
 *   is_result  the plan is all that was asked for
 *   ours       out: something that bay wrote would be overwritten */
static int make_plan(struct array_job *j, bool is_result, bool *ours)
{
	Bay__Reply *reply = NULL;
	int ret, rc;

	ret = array_job_ask_arrays(j, "", &reply);
	if (ret < 0)
		return array_job_complain(j, ret);
	rc = array_job_choose_disks(j, reply->arrays);
	bay__reply__free_unpacked(reply, NULL);
	if (rc != -1)
		return rc;
	ret = array_job_power_up(j);
	if (ret == 0)
		ret = ask_inventory(j, &reply);
	if (ret < 0)
		return array_job_complain(j, ret);
	show_plan(j, reply->inventory, is_result);
	*ours = holds_ours(j, reply->inventory);
	bay__reply__free_unpacked(reply, NULL);
	ret = ask_create(j, true, true, NULL);
	return ret < 0 ? array_job_complain(j, ret) : -1;
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

static int show(struct array_job *j, const char *name)
{
	Bay__Reply *reply = NULL;
	json_t *list;
	size_t i, k;
	int ret;

	ret = array_job_ask_arrays(j, name, &reply);
	if (ret < 0)
		return array_job_complain(j, ret);
	list = json_array();
	for (i = 0; i < reply->arrays->n_array; i++) {
		if (j->cli->json)
			json_array_append_new(
				list, array_json(reply->arrays->array[i]));
		else
			print_array(reply->arrays->array[i]);
	}
	for (k = 0; k < reply->arrays->n_damaged; k++)
		fprintf(stderr, "bay: agent: %s\n", reply->arrays->damaged[k]);
	if (j->cli->json)
		print_json(json_incref(list), JSON_DOCUMENT);
	if (!i && *name)
		fprintf(stderr, "bay: there is no array %s\n", name);
	else if (!i && !j->cli->json)
		fprintf(stderr, "bay: no array on this bench\n");
	json_decref(list);
	bay__reply__free_unpacked(reply, NULL);
	return *name && !i ? BAY_USAGE : BAY_OK;
}

/* Unmount, stop, wipe, forget. spec may be NULL. */
static int zero(struct array_job *j, char *name, Bay__ArraySpec *spec)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__UnmountReq u = BAY__UNMOUNT_REQ__INIT;
	Bay__ArrayZeroReq z = BAY__ARRAY_ZERO_REQ__INIT;
	int ret;

	u.array = name;
	req.op_case = BAY__REQUEST__OP_UNMOUNT;
	req.unmount = &u;
	ret = array_job_ask(j, &req, ARRAY_STEP_MS, NULL);
	if (ret < 0)
		return ret;
	z.name = name;
	if (spec) {
		z.serial = spec->serial;
		z.n_serial = spec->n_serial;
	}
	req.op_case = BAY__REQUEST__OP_ARRAY_ZERO;
	req.array_zero = &z;
	return array_job_ask(j, &req, ARRAY_STEP_MS, NULL);
}

/* ---- create ----------------------------------------------------------------
 */

static int make_fs(struct array_job *j)
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
	ret = array_job_ask(j, &req, ARRAY_STEP_MS, NULL);
	if (ret < 0)
		return ret;
	mount.array = (char *)j->name;
	mount.fs = &j->fs;
	req.op_case = BAY__REQUEST__OP_MOUNT;
	req.mount = &mount;
	return array_job_ask(j, &req, ARRAY_STEP_MS, NULL);
}

/* rc: why there is no file system on the array, which nobody has asked for
 * like that. Its disks held nothing that was to be kept. */
static int undo(struct array_job *j, int rc)
{
	int code = array_job_complain(j, rc);

	if (zero(j, (char *)j->name, &j->spec) == 0)
		fprintf(stderr, "bay: array %s was undone\n", j->name);
	else
		fprintf(stderr,
			"bay: array %s is left (%s): 'bay array destroy %s "
			"--yes'\n",
			j->name, j->err.text, j->name);
	return code;
}

static int create(struct array_job *j)
{
	bool ours = false;
	int ret;

	ret = make_plan(j, false, &ours);
	if (ret != -1)
		return ret;
	if (ours && !j->yes) {
		fprintf(stderr, "bay: what bay wrote on these disks would be "
				"lost; say --yes if it may go\n");
		return BAY_REFUSED;
	}
	ret = ask_create(j, false, j->yes, NULL);
	if (ret < 0)
		return array_job_complain(j, ret);
	ret = make_fs(j);
	if (ret < 0)
		return undo(j, ret);
	if (j->rig)
		fprintf(stderr, "the rig keeps the slots on for 15 minutes "
				"without a host; 'bay rig monitor' is one\n");
	return show(j, j->name);
}

static int plan(struct array_job *j)
{
	bool ours = false;
	int ret = make_plan(j, true, &ours);

	if (ret != -1)
		return ret;
	fprintf(stderr, "nothing was changed%s\n",
		ours ? "; create needs --yes, as bay's own data would go" : "");
	return BAY_OK;
}

/* ---- destroy ---------------------------------------------------------------
 */

/* The array that is meant: the named one, or the only one. NULL: reported. */
static Bay__ArrayState *find_array(struct array_job *j,
				   const Bay__ArrayStates *all)
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

static int destroy_one(struct array_job *j, Bay__ArrayState *a)
{
	int ret;

	if (!j->yes) {
		print_array(a);
		fprintf(stderr, "bay: its data would be lost; say --yes if it "
				"may go\n");
		return BAY_REFUSED;
	}
	ret = zero(j, a->name, a->spec);
	if (ret < 0)
		return array_job_complain(j, ret);
	if (j->cli->json)
		return print_json(json_pack("{s:s, s:b}", "name", a->name,
					    "destroyed", 1),
				  JSON_DOCUMENT)
			       ? BAY_FAILED
			       : BAY_OK;
	fprintf(stderr, "array %s is gone\n", a->name);
	return BAY_OK;
}

static int destroy(struct array_job *j)
{
	Bay__Reply *reply = NULL;
	Bay__ArrayState *a;
	int ret;

	ret = array_job_ask_arrays(j, "", &reply);
	if (ret < 0)
		return array_job_complain(j, ret);
	a = find_array(j, reply->arrays);
	ret = a ? destroy_one(j, a) : BAY_USAGE;
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

static int show_all(struct array_job *j)
{
	return show(j, j->name ? j->name : "");
}

/* ---- commands --------------------------------------------------------------
 */

static int run_with(struct cli *cli, int argc, char **argv,
		    enum array_verb verb, int (*fn)(struct array_job *j))
{
	struct array_job j = { .cli = cli, .lock = -1 };
	int ret;

	ret = array_job_parse(&j, verb, argc, argv);
	if (ret == -1 && (verb == ARRAY_PLAN || verb == ARRAY_CREATE))
		ret = array_job_check(&j);
	if (ret == -1)
		ret = array_job_open(&j);
	if (ret == -1)
		ret = fn(&j);
	array_job_close(&j);
	return ret;
}

static int run_plan(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, ARRAY_PLAN, plan);
}

static int run_create(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, ARRAY_CREATE, create);
}

static int run_show(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, ARRAY_SHOW, show_all);
}

static int run_destroy(struct cli *cli, int argc, char **argv)
{
	return run_with(cli, argc, argv, ARRAY_DESTROY, destroy);
}

#define SPEC_ARGS                                                              \
	"--layout LAYOUT [--disks N|SERIAL,...] [--fs FS] [--name NAME] "      \
	"[--chunk SIZE] [--bitmap KIND] [--initial-sync] "                     \
	"[--mkfs-options O] [--mount-options O]"

static const struct command array_plan = {
	.name = "plan",
	.args = SPEC_ARGS,
	.summary = "what create would do, and whether it may",
	.run = run_plan,
};

static const struct command array_create = {
	.name = "create",
	.args = SPEC_ARGS " [--yes]",
	.summary = "make an array, its file system, and mount it",
	.run = run_create,
};

static const struct command array_show = {
	.name = "show",
	.args = "[[--name] NAME]",
	.summary = "arrays that bay made",
	.run = run_show,
};

static const struct command array_destroy = {
	.name = "destroy",
	.args = "[[--name] NAME] [--yes]",
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
