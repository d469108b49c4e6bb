/* The agent's part in a cell: each step one request. */
#include "host/matrix/control_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS 300000u
/* The agent's own deadline comes first. */
#define MARGIN_MS 15000u
#define GUARD_S   60u

static uint32_t step_ms(const struct controller *c)
{
	return c->cfg.times.step_ms ? c->cfg.times.step_ms : STEP_MS;
}

/* One request whose answer carries nothing more. */
static int plain(struct controller *c, Bay__Request *req, struct err *err)
{
	return dut_call(c->dut, req, step_ms(c), NULL, err);
}

int step_wait_disks(struct controller *c, const Bay__Cell *cell, bool gone,
		    struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__WaitDisksReq w = BAY__WAIT_DISKS_REQ__INIT;

	w.serial = cell->array->serial;
	w.n_serial = cell->array->n_serial;
	w.gone = gone;
	w.timeout_ms = bench_disk_wait_ms(c->cfg.bench);
	req.op_case = BAY__REQUEST__OP_WAIT_DISKS;
	req.wait_disks = &w;
	return dut_call(c->dut, &req, w.timeout_ms + MARGIN_MS, NULL, err);
}

/* ---- inventory ---------------------------------------------------------- */

/* What cells write may be overwritten; what bay array create wrote may hold
 * somebody's data. */
static bool is_of_cells(const Bay__Signature *s)
{
	return !*s->label || strcmp(s->label, "bay:" CONTROL_ARRAY) == 0 ||
	       strncmp(s->label, "bay-" CONTROL_ARRAY "-",
		       sizeof("bay-" CONTROL_ARRAY "-") - 1) == 0;
}

static int check_signature(const Bay__Signature *s, const char *serial,
			   struct err *err)
{
	if (!s->ours)
		return err_set(err, -EPERM,
			       "disk %s carries a foreign signature (%s%s%s); "
			       "nothing was touched. Wipe it yourself if the "
			       "data may go: wipefs -a",
			       serial, s->type, *s->label ? ", label " : "",
			       s->label);
	if (!is_of_cells(s))
		return err_set(err, -EPERM,
			       "disk %s belongs to an array made by hand (%s); "
			       "'bay array destroy' it first if its data may "
			       "go",
			       serial, s->label);
	return 0;
}

static int check_dev(const Bay__BlockDev *d, const char *serial,
		     struct err *err)
{
	int ret = 0;
	size_t i;

	if (!d)
		return err_set(err, -ENODEV,
			       "disk %s is not there; is it plugged in and its "
			       "slot right?",
			       serial);
	if (d->in_use)
		return err_set(err, -EPERM,
			       "disk %s is in use (%s); nothing was touched",
			       serial, d->in_use_by);
	if (d->read_only)
		return err_set(err, -EPERM, "disk %s is read-only", serial);
	for (i = 0; i < d->n_signature && ret == 0; i++)
		ret = check_signature(d->signature[i], serial, err);
	return ret;
}

int step_inventory(struct controller *c, const Bay__Cell *cell, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__InventoryReq inv = BAY__INVENTORY_REQ__INIT;
	Bay__Reply *reply = NULL;
	size_t i;
	int ret;

	inv.serial = cell->array->serial;
	inv.n_serial = cell->array->n_serial;
	req.op_case = BAY__REQUEST__OP_INVENTORY;
	req.inventory = &inv;
	ret = dut_call(c->dut, &req, step_ms(c), &reply, err);
	if (ret < 0)
		return ret;
	if (!reply->inventory || reply->body_case != BAY__REPLY__BODY_INVENTORY)
		ret = err_set(err, -EPROTO, "the agent sent no inventory");
	for (i = 0; i < inv.n_serial && ret == 0; i++)
		ret = check_dev(dut_find_dev(reply->inventory, inv.serial[i]),
				inv.serial[i], err);
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

/* A damaged note is told; the inventory of each cell looks at the disks
 * themselves. */
static int check_arrays(struct controller *c, const Bay__ArrayStates *all,
			struct err *err)
{
	size_t i;

	for (i = 0; i < all->n_damaged; i++)
		control_note(c, "agent: %s", all->damaged[i]);
	for (i = 0; i < all->n_array; i++)
		if (strcmp(all->array[i]->name, CONTROL_ARRAY) != 0)
			return err_set(err, -EPERM,
				       "array %s was made by hand and is in "
				       "use; 'bay array destroy' it first if "
				       "its data may go",
				       all->array[i]->name);
	return 0;
}

int step_check_arrays(struct controller *c, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayShowReq show = BAY__ARRAY_SHOW_REQ__INIT;
	Bay__Reply *reply = NULL;
	int ret;

	req.op_case = BAY__REQUEST__OP_ARRAY_SHOW;
	req.array_show = &show;
	ret = dut_call(c->dut, &req, step_ms(c), &reply, err);
	if (ret < 0)
		return ret;
	if (reply->body_case == BAY__REPLY__BODY_ARRAYS && reply->arrays)
		ret = check_arrays(c, reply->arrays, err);
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

/* ---- preparation -------------------------------------------------------- */

int step_array(struct controller *c, const Bay__Cell *cell, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayCreateReq a = BAY__ARRAY_CREATE_REQ__INIT;

	a.name = (char *)CONTROL_ARRAY;
	a.spec = cell->array;
	a.wipe_ours = true;
	req.op_case = BAY__REQUEST__OP_ARRAY_CREATE;
	req.array_create = &a;
	/* A full resync of a large disk takes hours. */
	return dut_call(c->dut, &req,
			cell->array->initial_sync ? 7 * 86400 * 1000u
						  : step_ms(c),
			NULL, err);
}

int step_mkfs(struct controller *c, const Bay__Cell *cell, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__MkfsReq m = BAY__MKFS_REQ__INIT;

	m.array = (char *)CONTROL_ARRAY;
	m.fs = cell->fs;
	req.op_case = BAY__REQUEST__OP_MKFS;
	req.mkfs = &m;
	return plain(c, &req, err);
}

int step_mount(struct controller *c, const Bay__Cell *cell, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__MountReq m = BAY__MOUNT_REQ__INIT;

	m.array = (char *)CONTROL_ARRAY;
	m.fs = cell->fs;
	req.op_case = BAY__REQUEST__OP_MOUNT;
	req.mount = &m;
	return plain(c, &req, err);
}

int step_knobs(struct controller *c, const Bay__Cell *cell, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__KnobSetReq k = BAY__KNOB_SET_REQ__INIT;

	k.knob = cell->knob;
	k.n_knob = cell->n_knob;
	k.array = (char *)CONTROL_ARRAY;
	req.op_case = BAY__REQUEST__OP_KNOB_SET;
	req.knob_set = &k;
	return cell->n_knob ? plain(c, &req, err) : 0;
}

int step_drop_caches(struct controller *c, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__DropCachesReq d = BAY__DROP_CACHES_REQ__INIT;

	req.op_case = BAY__REQUEST__OP_DROP_CACHES;
	req.drop_caches = &d;
	return plain(c, &req, err);
}

/* ---- workload ----------------------------------------------------------- */

static bool is_of_attempt(const struct controller *c, const Bay__CellResult *r)
{
	return r && strcmp(r->key, c->cell->key) == 0 &&
	       r->attempt == c->attempt;
}

/* Out of the reply, or of the event that came before it. */
static Bay__CellResult *take_result(struct controller *c, Bay__Reply *reply)
{
	Bay__CellResult *r = NULL;

	if (reply->body_case == BAY__REPLY__BODY_RESULT &&
	    is_of_attempt(c, reply->result)) {
		r = reply->result;
		reply->result = NULL;
		reply->body_case = BAY__REPLY__BODY__NOT_SET;
	} else if (is_of_attempt(c, c->result)) {
		r = c->result;
		c->result = NULL;
	}
	return r;
}

int step_workload(struct controller *c, const Bay__Cell *cell,
		  Bay__CellResult **out, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__WorkloadReq w = BAY__WORKLOAD_REQ__INIT;
	Bay__Reply *reply = NULL;
	int ret;

	w.cell = (Bay__Cell *)cell;
	w.attempt = c->attempt;
	w.array = (char *)CONTROL_ARRAY;
	req.op_case = BAY__REQUEST__OP_WORKLOAD;
	req.workload = &w;
	ret = dut_call(c->dut, &req, (cell->timeout_s + GUARD_S) * 1000u,
		       &reply, err);
	if (ret < 0)
		return ret;
	*out = take_result(c, reply);
	bay__reply__free_unpacked(reply, NULL);
	if (!*out)
		return err_set(err, -EPROTO, "the agent sent no result");
	return 0;
}

void step_cancel(struct controller *c)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__CancelReq k = BAY__CANCEL_REQ__INIT;

	req.op_case = BAY__REQUEST__OP_CANCEL;
	req.cancel = &k;
	dut_tell(c->dut, &req, NULL);
}

/* ---- teardown ----------------------------------------------------------- */

static int unmount(struct controller *c, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__UnmountReq u = BAY__UNMOUNT_REQ__INIT;

	u.array = (char *)CONTROL_ARRAY;
	req.op_case = BAY__REQUEST__OP_UNMOUNT;
	req.unmount = &u;
	return plain(c, &req, err);
}

static int zero_array(struct controller *c, const Bay__Cell *cell,
		      struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayZeroReq z = BAY__ARRAY_ZERO_REQ__INIT;

	z.name = (char *)CONTROL_ARRAY;
	z.serial = cell->array->serial;
	z.n_serial = cell->array->n_serial;
	req.op_case = BAY__REQUEST__OP_ARRAY_ZERO;
	req.array_zero = &z;
	return plain(c, &req, err);
}

static int restore_knobs(struct controller *c, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__KnobRestoreReq k = BAY__KNOB_RESTORE_REQ__INIT;

	req.op_case = BAY__REQUEST__OP_KNOB_RESTORE;
	req.knob_restore = &k;
	return plain(c, &req, err);
}

/* The first error counts, but every part is tried. */
int step_teardown(struct controller *c, const Bay__Cell *cell, struct err *err)
{
	struct err more;
	int first = 0, ret;

	if (*cell->fs->type)
		first = unmount(c, err);
	ret = zero_array(c, cell, first ? &more : err);
	first = first ? first : ret;
	ret = cell->n_knob ? restore_knobs(c, first ? &more : err) : 0;
	return first ? first : ret;
}

int step_reset(struct controller *c, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ResetReq r = BAY__RESET_REQ__INIT;
	Bay__Reply *reply = NULL;
	int ret;

	req.op_case = BAY__REQUEST__OP_RESET;
	req.reset = &r;
	ret = dut_call(c->dut, &req, step_ms(c), &reply, err);
	if (ret < 0)
		return ret;
	if (reply->body_case == BAY__REPLY__BODY_RESET && reply->reset &&
	    reply->reset->n_left)
		ret = err_set(err, -ENOTEMPTY, "the agent could not undo: %s",
			      reply->reset->left[0]);
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

/* ---- spool -------------------------------------------------------------- */

int step_ack(struct controller *c, const char *spool_id, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__SpoolAckReq a = BAY__SPOOL_ACK_REQ__INIT;

	a.spool_id = (char *)spool_id;
	req.op_case = BAY__REQUEST__OP_SPOOL_ACK;
	req.spool_ack = &a;
	return plain(c, &req, err);
}

static int get_spooled(struct controller *c, const char *id,
		       Bay__CellResult **out, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__SpoolGetReq g = BAY__SPOOL_GET_REQ__INIT;
	Bay__Reply *reply = NULL;
	int ret;

	g.spool_id = (char *)id;
	req.op_case = BAY__REQUEST__OP_SPOOL_GET;
	req.spool_get = &g;
	ret = dut_call(c->dut, &req, step_ms(c), &reply, err);
	if (ret < 0)
		return ret;
	if (reply->body_case == BAY__REPLY__BODY_RESULT && reply->result) {
		*out = reply->result;
		reply->result = NULL;
		reply->body_case = BAY__REPLY__BODY__NOT_SET;
	} else {
		ret = err_set(err, -EPROTO, "the agent sent no result");
	}
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}

/* One entry: into the journal, then off the spool. A result of another
 * journal's cell stays there for the bay it belongs to. */
static int collect_one(struct controller *c, const Bay__SpoolEntry *e,
		       struct err *err)
{
	Bay__CellResult *r = NULL;
	bool kept = false;
	int ret;

	ret = get_spooled(c, e->spool_id, &r, err);
	if (ret < 0)
		return ret;
	ret = store_result(c->cfg.store, r, &kept, err);
	bay__cell_result__free_unpacked(r, NULL);
	if (ret == -ENOENT) {
		control_note(c,
			     "the agent keeps a result of cell %s, which this "
			     "journal does not know; it stays there",
			     e->cell_key);
		return 0;
	}
	if (ret < 0)
		return ret;
	c->spooled += kept;
	return step_ack(c, e->spool_id, err);
}

int step_collect(struct controller *c, struct err *err)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__SpoolListReq l = BAY__SPOOL_LIST_REQ__INIT;
	Bay__Reply *reply = NULL;
	size_t i;
	int ret;

	req.op_case = BAY__REQUEST__OP_SPOOL_LIST;
	req.spool_list = &l;
	ret = dut_call(c->dut, &req, step_ms(c), &reply, err);
	if (ret < 0)
		return ret;
	if (reply->body_case == BAY__REPLY__BODY_SPOOL && reply->spool)
		for (i = 0; i < reply->spool->n_entry && ret == 0; i++)
			ret = collect_one(c, reply->spool->entry[i], err);
	bay__reply__free_unpacked(reply, NULL);
	return ret;
}
