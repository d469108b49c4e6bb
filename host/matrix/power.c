/* The rig's part in a run. A bench without a rig has all of this succeed
 * without doing anything. */
#include "host/matrix/control_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/pb.h"
#include "host/rig/rig_bench.h"

#define RIG_MS       120000u
#define RIG_BACK_MS  10000u
#define TELEMETRY_MS 100u
#define SWITCH_TRIES 3u
/* The most that a rig takes. Rails that are modelled rise late when the machine
 * gives the model no turn, which is no fault of a slot. */
#define VIRTUAL_RAMP_MS 2000u

#define LOG_LEVEL_WARNING 1u /* LogLine.level */

static uint32_t or_default(uint32_t ms, uint32_t fallback)
{
	return ms ? ms : fallback;
}

/* ---- what the rig tells ------------------------------------------------- */

static void add_window(struct rail_sum *s, const RailWindow *w)
{
	if (!w)
		return;
	if (!s->windows) {
		s->mv_min = s->ma_min = INT32_MAX;
		s->mv_max = s->ma_max = INT32_MIN;
		s->energy_first_uj = w->energy_uj;
	}
	s->mv_min = w->mv_min < s->mv_min ? w->mv_min : s->mv_min;
	s->mv_max = w->mv_max > s->mv_max ? w->mv_max : s->mv_max;
	s->ma_min = w->ma_min < s->ma_min ? w->ma_min : s->ma_min;
	s->ma_max = w->ma_max > s->ma_max ? w->ma_max : s->ma_max;
	s->mv_total += w->mv_mean;
	s->ma_total += w->ma_mean;
	s->energy_last_uj = w->energy_uj;
	s->windows++;
}

static void on_telemetry(void *arg, const Telemetry *t)
{
	struct controller *c = arg;

	if (!c->measuring || t->slot >= RIG_SLOTS_MAX)
		return;
	if (!c->rail[t->slot][0].windows)
		c->dropped_first = t->dropped;
	c->dropped_last = t->dropped;
	add_window(&c->rail[t->slot][0], t->v5);
	add_window(&c->rail[t->slot][1], t->v12);
}

static bool is_of_cell(const struct controller *c, uint32_t slot)
{
	return c->cell && slot < 32 && (power_mask(c, c->cell) >> slot & 1);
}

static void on_event(void *arg, const Event *ev)
{
	struct controller *c = arg;
	char why[128];

	if (!c->cell)
		return;
	switch (ev->kind) {
	case EVENT_KIND__EVENT_FAULT:
	case EVENT_KIND__EVENT_SHED:
		if (!is_of_cell(c, ev->slot))
			return;
		snprintf(why, sizeof(why), "slot %u: %s", ev->slot,
			 ev->kind == EVENT_KIND__EVENT_SHED
				 ? "shed, the supply sagged"
				 : rig_fault_name(ev->fault));
		control_taint(c, why);
		break;
	case EVENT_KIND__EVENT_BOOT:
		control_taint(c, "the rig was reset");
		c->rig_failed = true; /* all slots went dark */
		break;
	case EVENT_KIND__EVENT_HOST_LOST:
		control_taint(c, "the rig lost its host");
		break;
	default:
		break;
	}
}

static void on_lost(void *arg, const char *why)
{
	struct controller *c = arg;

	(void)why;
	if (c->cell)
		control_taint(c, "the link to the rig was lost");
}

/* What it had to say before the first cell was about another use of it. */
static void on_log(void *arg, const LogLine *l)
{
	struct controller *c = arg;

	if (c->cell && l->level <= LOG_LEVEL_WARNING)
		control_note(c, "rig: %s", l->text);
}

static const struct rig_ops ops = {
	.event = on_event,
	.log = on_log,
	.telemetry = on_telemetry,
	.lost = on_lost,
};

/* ---- opening ------------------------------------------------------------ */

static int note_failure(struct controller *c, int ret)
{
	c->rig_failed |= ret < 0 && rig_is_unreachable(ret);
	return ret;
}

/* A rig that was reset has forgotten what is wanted: say it again. */
static int switch_slots(struct controller *c, uint32_t mask, bool on,
			struct rig_slot_report *reports, struct err *err)
{
	uint32_t ms = or_default(c->cfg.times.rig_ms, RIG_MS);
	unsigned i;
	int ret = -ECONNRESET;

	for (i = 0; i < SWITCH_TRIES && ret == -ECONNRESET; i++)
		ret = rig_slot_set_and_wait(c->rig, mask, on, ms, reports, err);
	return note_failure(c, ret);
}

static uint32_t all_slots(const struct bench *b)
{
	uint32_t mask = 0;
	unsigned i;

	for (i = 0; i < b->n_disks; i++)
		if (b->disks[i].slot >= 0)
			mask |= 1u << b->disks[i].slot;
	return mask;
}

/* Set what the bench knows of its disks. */
static int fill_config(const struct controller *c, struct rig_config *config,
		       struct err *err)
{
	const struct bench *b = c->cfg.bench;
	char path[64];
	unsigned i;
	int ret = 0;

	for (i = 0; i < b->n_disks && ret == 0; i++) {
		const struct bench_disk *d = &b->disks[i];

		if (d->slot < 0)
			continue;
		if ((unsigned)d->slot >= config->slots) {
			snprintf(path, sizeof(path), "disks[%u].slot", i);
			return conf_fail(b->file, err, -EINVAL, path,
					 "disk %s is in slot %d, the rig has "
					 "slots 0..%u",
					 d->serial, d->slot, config->slots - 1);
		}
		if (b->rig.type == BENCH_RIG_VIRTUAL)
			config->slot[d->slot].ramp_timeout_ms = VIRTUAL_RAMP_MS;
		ret = rig_config_set_serial(config, (unsigned)d->slot,
					    d->serial);
		if (ret < 0)
			err_sys(err, ret, "disk %s", d->serial);
	}
	return ret;
}

/* A configuration is only taken with its slots off. */
static bool wants_slots_off(const struct rig *r)
{
	RigStatus why = rig_refusal(r, NULL);

	return why == RIG_STATUS__RIG_STATE || why == RIG_STATUS__RIG_BUSY;
}

/* The rig gets to know which disk it expects where. */
static int sync_config(struct controller *c, struct err *err)
{
	struct rig_config config;
	int ret;

	ret = rig_config_get(c->rig, &config, err);
	if (ret == 0)
		ret = fill_config(c, &config, err);
	if (ret == 0)
		ret = rig_config_sync(c->rig, &config, NULL, err);
	if (ret != -EREMOTEIO || !wants_slots_off(c->rig))
		return ret;
	ret = switch_slots(c, all_slots(c->cfg.bench), false, NULL, err);
	return ret < 0 ? ret : rig_config_sync(c->rig, &config, NULL, err);
}

int power_open(struct controller *c, struct err *err)
{
	const struct bench *b = c->cfg.bench;
	struct rig_cfg cfg = { .loop = c->cfg.loop,
			       .ops = &ops,
			       .arg = c,
			       .events_since = RIG_EVENTS_NEW };
	char path[256];
	int ret;

	if (b->rig.type == BENCH_RIG_NONE)
		return 0;
	ret = rig_bench_address(b, &cfg.address, path, sizeof(path), err);
	if (ret == 0)
		ret = rig_open(&cfg, &c->rig, err);
	/* As codes these two belong to the journal. */
	return ret == -EBUSY || ret == -EIO ? -ENOTCONN : ret;
}

/* A latched fault is the rig's word that something is wrong with a disk or
 * its slot: nothing goes on until somebody has cleared it. */
static int refuse_fault(const struct controller *c, int ret)
{
	RigStatus why = rig_refusal(c->rig, NULL);

	return ret == -EREMOTEIO && (why == RIG_STATUS__RIG_FAULT ||
				     why == RIG_STATUS__RIG_LOCKED)
		       ? -EPERM
		       : ret;
}

/* Now, and not by each cell of its disk in turn. */
static int check_slot(const struct controller *c, unsigned slot,
		      struct err *err)
{
	Result *res;
	int ret = rig_get_status(c->rig, slot, &res, err);

	if (ret < 0)
		return ret;
	if (res->slot_status->state == SLOT_STATE__SLOT_FAULT)
		ret = err_set(err, -EPERM,
			      "slot %u holds a latched fault (%s); look at the "
			      "cause, then 'bay rig clear %u'",
			      slot, rig_fault_name(res->slot_status->fault),
			      slot);
	result__free_unpacked(res, NULL);
	return ret;
}

static int check_slots(const struct controller *c, struct err *err)
{
	uint32_t mask = 0;
	unsigned slot;
	size_t i;
	int ret = 0;

	for (i = 0; i < c->cfg.plan->n; i++)
		mask |= power_mask(c, c->cfg.plan->cell[i]);
	for (slot = 0; slot < RIG_SLOTS_MAX && ret == 0; slot++)
		if (mask >> slot & 1)
			ret = check_slot(c, slot, err);
	return ret;
}

int power_prepare(struct controller *c, struct err *err)
{
	const struct bench *b = c->cfg.bench;
	int ret;

	if (!c->rig)
		return 0;
	ret = check_slots(c, err);
	if (ret == 0)
		ret = refuse_fault(c, sync_config(c, err));
	if (ret < 0)
		return ret;
	return rig_arm_silence(c->rig, all_slots(b),
			       b->abort == BENCH_ABORT_HOLD
				       ? SILENCE_POLICY__SILENCE_HOLD
				       : SILENCE_POLICY__SILENCE_SAFE_OFF,
			       err);
}

void power_close(struct controller *c)
{
	rig_close(c->rig);
	c->rig = NULL;
}

/* Up means that it answers, not that a connection stands. */
int power_back(struct controller *c, struct err *err)
{
	uint64_t end = uv_hrtime() / 1000000 +
		       or_default(c->cfg.times.rig_back_ms, RIG_BACK_MS);
	int ret;

	if (!c->rig)
		return 0;
	while ((ret = rig_get_info(c->rig, NULL, err)) < 0 &&
	       rig_is_unreachable(ret)) {
		if (uv_hrtime() / 1000000 >= end)
			return ret;
		ret = rig_run(c->rig, 100, err);
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* ---- slots -------------------------------------------------------------- */

uint32_t power_mask(const struct controller *c, const Bay__Cell *cell)
{
	uint32_t mask = 0;
	size_t i;

	for (i = 0; i < cell->array->n_serial; i++) {
		const struct bench_disk *d =
			bench_disk_find(c->cfg.bench, cell->array->serial[i]);

		if (d && d->slot >= 0)
			mask |= 1u << d->slot;
	}
	return mask;
}

int power_off(struct controller *c, uint32_t mask, struct err *err)
{
	return c->rig ? switch_slots(c, mask, false, c->off, err) : 0;
}

int power_on(struct controller *c, uint32_t mask, struct err *err)
{
	return c->rig ? switch_slots(c, mask, true, NULL, err) : 0;
}

int power_watch(struct controller *c, uint32_t mask, bool on, struct err *err)
{
	if (!c->rig)
		return 0;
	c->measuring = on;
	if (on)
		memset(c->rail, 0, sizeof(c->rail));
	return note_failure(
		c, rig_set_telemetry(c->rig, on ? TELEMETRY_MS : 0, mask, err));
}

void power_leave(struct controller *c, bool aborted)
{
	struct err err = { 0 };
	uint32_t mask = all_slots(c->cfg.bench);
	int ret;

	if (!c->rig)
		return;
	rig_set_telemetry(c->rig, 0, 0, NULL);
	if (c->cfg.bench->abort == BENCH_ABORT_HOLD)
		return;
	ret = refuse_fault(c, switch_slots(c, mask, false, NULL, &err));
	if (ret == -EPERM)
		control_note(c, "all slots are without power; %s", err.text);
	else if (ret < 0)
		control_note(c, "slots may be on: %s", err.text);
	else if (aborted)
		control_note(c, "all slots are off");
}

/* ---- report ------------------------------------------------------------- */

static int add_rail(const struct controller *c, Bay__CellResult *r,
		    const struct bench_disk *d, int rail)
{
	const struct rail_sum *s = &c->rail[d->slot][rail];
	const struct rig_slot_report *off = &c->off[d->slot];
	Bay__RailSummary *m = malloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	bay__rail_summary__init(m);
	m->slot = (uint32_t)d->slot;
	m->windows = s->windows;
	m->dropped = c->dropped_last - c->dropped_first;
	m->fall_us = off->fall_us;
	m->residual_mv = rail ? off->residual_12v_mv : off->residual_5v_mv;
	if (s->windows) {
		m->mv_min = s->mv_min;
		m->mv_mean = (int32_t)(s->mv_total / s->windows);
		m->mv_max = s->mv_max;
		m->ma_min = s->ma_min;
		m->ma_mean = (int32_t)(s->ma_total / s->windows);
		m->ma_max = s->ma_max;
		m->energy_uj = s->energy_last_uj - s->energy_first_uj;
	}
	if (pb_set_string(&m->serial, d->serial) < 0 ||
	    pb_set_string(&m->rail, rail ? "12V" : "5V") < 0 ||
	    pb_add((void ***)&r->rail, &r->n_rail, m) < 0) {
		bay__rail_summary__free_unpacked(m, NULL);
		return -ENOMEM;
	}
	return 0;
}

int power_report(const struct controller *c, Bay__CellResult *r)
{
	size_t i;
	int ret = 0;

	for (i = 0; c->rig && i < c->cell->array->n_serial && ret == 0; i++) {
		const struct bench_disk *d = bench_disk_find(
			c->cfg.bench, c->cell->array->serial[i]);

		if (!d || d->slot < 0 || d->slot >= (int)RIG_SLOTS_MAX)
			continue;
		ret = add_rail(c, r, d, 0);
		if (ret == 0)
			ret = add_rail(c, r, d, 1);
	}
	return ret;
}
