/* One attempt at a cell, from dark slots to a stored result. */
#include "host/matrix/control_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/pb.h"

/* ---- the steps before the workload -------------------------------------- */

static int do_off(struct controller *c, struct err *err)
{
	return power_off(c, power_mask(c, c->cell), err);
}

static int do_gone(struct controller *c, struct err *err)
{
	return c->rig ? step_wait_disks(c, c->cell, true, err) : 0;
}

static int do_on(struct controller *c, struct err *err)
{
	return power_on(c, power_mask(c, c->cell), err);
}

static int do_wait(struct controller *c, struct err *err)
{
	int ret = step_wait_disks(c, c->cell, false, err);

	c->disk_away = ret == -EREMOTEIO &&
		       dut_refusal(c->dut) == BAY__AGENT_STATUS__AGENT_TIMEOUT;
	return ret;
}

static int do_inventory(struct controller *c, struct err *err)
{
	return step_inventory(c, c->cell, err);
}

static int do_array(struct controller *c, struct err *err)
{
	return step_array(c, c->cell, err);
}

static int do_mkfs(struct controller *c, struct err *err)
{
	return *c->cell->fs->type ? step_mkfs(c, c->cell, err) : 0;
}

static int do_mount(struct controller *c, struct err *err)
{
	return *c->cell->fs->type ? step_mount(c, c->cell, err) : 0;
}

static int do_knobs(struct controller *c, struct err *err)
{
	return step_knobs(c, c->cell, err);
}

static int do_caches(struct controller *c, struct err *err)
{
	return step_drop_caches(c, err);
}

static const struct {
	const char *phase;
	int (*run)(struct controller *c, struct err *err);
	bool needs_rig;
} preparation[] = {
	{ "rig-off", do_off, true },
	{ "disks-gone", do_gone, true },
	{ "rig-on", do_on, true },
	{ "wait-disks", do_wait, false },
	{ "inventory", do_inventory, false },
	{ "array", do_array, false },
	{ "mkfs", do_mkfs, false },
	{ "mount", do_mount, false },
	{ "knobs", do_knobs, false },
	{ "drop-caches", do_caches, false },
};

static int prepare(struct controller *c, struct err *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(preparation) / sizeof(preparation[0]); i++) {
		if (preparation[i].needs_rig && !c->rig)
			continue;
		control_phase(c, preparation[i].phase);
		ret = preparation[i].run(c, err);
		control_phase_end(c);
		if (ret < 0)
			break;
	}
	return ret;
}

/* ---- the workload and its result ---------------------------------------- */

static int measure(struct controller *c, Bay__CellResult **r, struct err *err)
{
	uint32_t mask = power_mask(c, c->cell);
	int ret;

	ret = power_watch(c, mask, true, err);
	if (ret < 0)
		return ret;
	control_phase(c, "workload");
	ret = step_workload(c, c->cell, r, err);
	control_phase_end(c);
	c->measuring = false;
	/* A rig that is lost now has cost the rail figures, not the result. */
	if (ret == 0 && power_watch(c, mask, false, NULL) < 0)
		control_taint(c, "the link to the rig was lost");
	return ret;
}

/* The agent's own phases lie inside the workload. */
static int nest_phases(Bay__CellResult *r)
{
	char name[64];
	size_t i;
	int ret = 0;

	for (i = 0; i < r->n_phase && ret == 0; i++) {
		snprintf(name, sizeof(name), "workload/%.50s",
			 r->phase[i]->phase);
		ret = pb_set_string(&r->phase[i]->phase, name);
	}
	return ret;
}

static int add_phases(const struct controller *c, Bay__CellResult *r)
{
	size_t i;

	if (nest_phases(r) < 0)
		return -ENOMEM;
	for (i = 0; i < c->n_phase; i++) {
		Bay__PhaseTime *p = malloc(sizeof(*p));

		if (!p)
			return -ENOMEM;
		bay__phase_time__init(p);
		p->seconds = c->phase[i]->seconds;
		if (pb_set_string(&p->phase, c->phase[i]->phase) < 0 ||
		    pb_add((void ***)&r->phase, &r->n_phase, p) < 0) {
			bay__phase_time__free_unpacked(p, NULL);
			return -ENOMEM;
		}
	}
	return 0;
}

/* What only the controller knows. */
static int complete(struct controller *c, Bay__CellResult *r)
{
	int ret;

	ret = power_report(c, r);
	if (ret == 0)
		ret = add_phases(c, r);
	if (ret == 0 && *c->tainted) {
		r->tainted = true;
		ret = pb_set_string(&r->tainted_why, c->tainted);
	}
	return ret;
}

static int keep(struct controller *c, Bay__CellResult *r, struct err *err)
{
	bool kept;
	int ret;

	ret = complete(c, r);
	if (ret < 0)
		return err_sys(err, ret, "result");
	/* The rig took the disks away: that is not their end. */
	if (r->n_lost_serial && c->rig_failed &&
	    r->state == BAY__CELL_STATE__CELL_FAILED)
		r->state = BAY__CELL_STATE__CELL_PLANNED;
	ret = store_result(c->cfg.store, r, &kept, err);
	if (ret < 0)
		return ret;
	return *r->spool_id ? step_ack(c, r->spool_id, err) : 0;
}

static double metric(const Bay__CellResult *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n_metric; i++)
		if (strcmp(r->metric[i]->name, name) == 0)
			return r->metric[i]->value;
	return 0;
}

static double total_s(const struct controller *c)
{
	double s = 0;
	size_t i;

	for (i = 0; i < c->n_phase; i++)
		s += c->phase[i]->seconds;
	return s;
}

static void tell_end(struct controller *c, const Bay__CellResult *r)
{
	const struct control_watch *w = &c->cfg.watch;

	if (w->ended)
		w->ended(w->arg, c->cell, r->state, total_s(c),
			 metric(r, "write_bw"), r->error_text);
	if (r->tainted)
		control_note(c, "the last cell is tainted: %s", r->tainted_why);
}

/* The result is safe: what fails from here on is the next cell's matter, and
 * is found by its own checks. */
static int tear_down(struct controller *c, struct err *err)
{
	int ret;

	control_phase(c, "teardown");
	ret = step_teardown(c, c->cell, err);
	control_phase_end(c);
	if (ret == 0)
		ret = store_phase(c->cfg.store, c->cell->key, c->attempt,
				  c->phase[c->n_phase - 1]->phase,
				  c->phase[c->n_phase - 1]->seconds, err);
	return ret;
}

int cell_run(struct controller *c, struct err *err)
{
	Bay__CellResult *r = NULL;
	int ret;

	ret = prepare(c, err);
	if (ret == 0)
		ret = measure(c, &r, err);
	if (ret == 0)
		ret = keep(c, r, err);
	if (ret == 0)
		tell_end(c, r);
	if (r)
		bay__cell_result__free_unpacked(r, NULL);
	return ret < 0 ? ret : tear_down(c, err);
}
