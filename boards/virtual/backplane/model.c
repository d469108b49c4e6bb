#include "boards/virtual/backplane/model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Figures of a 3.5" disk on a hot-swap channel; the fall is that of about
 * 470 uF at the disk with its own load. The rise is over before the first
 * reading is shown: a busy machine must not leave a rail half way up. */
const struct bp_rail_spec bp_rail_specs[BP_RAILS] = {
	[BP_5V] = { 5000, 1000, 40000, 4500, 4000, 400 },
	[BP_12V] = { 12000, 2000, 80000, 10800, 9000, 600 },
};

/* Below this a decaying rail is 0: the monitor cannot tell. */
#define REST_MV 4.0
/* A stalled motor on the 12 V rail. */
#define STALL_MA 2400
/* Board temperature: ambient, rise per watt of load, time constant. */
#define AMBIENT_MDEGC  28000.0
#define MDEGC_PER_WATT 350.0
#define BOARD_TAU_US   20e6

void bp_model_init(struct bp_model *m, unsigned int slots, uint64_t now_us)
{
	memset(m, 0, sizeof(*m));
	m->now_us = now_us;
	m->board_mdegc = AMBIENT_MDEGC;
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		m->slot[i].used = slots & (1u << i);
		m->slot[i].activity = true;
		m->slot[i].out.activity = true;
	}
	bp_model_advance(m, now_us);
}

static bool rail_driven(const struct bp_slot *s, unsigned int rail)
{
	if (s->fx.open[rail])
		return false;
	return s->rail[rail].gate || s->fx.closed[rail];
}

static double rail_target_mv(const struct bp_slot *s, unsigned int rail)
{
	double mv = bp_rail_specs[rail].nominal_mv;

	if (!rail_driven(s, rail))
		return s->fx.floor_mv[rail];
	mv -= mv * s->fx.sag_percent / 100;
	if (s->fx.limit_mv[rail] && mv > s->fx.limit_mv[rail])
		mv = s->fx.limit_mv[rail];
	return mv;
}

/* Up is the switch's soft start, down is the load emptying a capacitor. */
static void rail_advance(struct bp_slot *s, unsigned int rail, double dt_us)
{
	const struct bp_rail_spec *spec = &bp_rail_specs[rail];
	double target = rail_target_mv(s, rail);
	double *mv = &s->rail[rail].mv;

	if (*mv <= target) {
		*mv += spec->nominal_mv * dt_us / spec->rise_us;
		if (*mv > target)
			*mv = target;
		return;
	}
	dt_us /= s->fx.slow_fall ? s->fx.slow_fall : 1;
	*mv *= exp(-dt_us / spec->tau_us);
	if (*mv < target || *mv < REST_MV)
		*mv = target;
}

static void slot_power(struct bp_slot *s)
{
	bool up = s->used;
	bool down = !s->used;

	for (unsigned int i = 0; i < BP_RAILS; i++) {
		up = up && s->rail[i].mv >= bp_rail_specs[i].up_mv;
		down = down || s->rail[i].mv < bp_rail_specs[i].down_mv;
	}
	if (up)
		s->powered = true;
	if (!down)
		return;
	s->powered = false;
	/* What it told before it lost power is not true any more. */
	s->disk.power = BP_DISK_OFF;
}

/* spun is a memory: no-spin and no-return take effect where a disk starts,
 * so planting them leaves a running disk alone. */
static void slot_spin(struct bp_slot *s)
{
	if (!s->powered || s->fx.dead || !s->disk.known ||
	    s->disk.power == BP_DISK_OFF || s->disk.power == BP_DISK_FALLING)
		s->spun = false;
	else if (s->disk.power == BP_DISK_ON && !s->fx.no_spin &&
		 !s->fx.no_return)
		s->spun = true;
}

/* A disk that has power and has not been heard of since is starting. */
static int32_t disk_ma(const struct bp_slot *s, unsigned int rail)
{
	if (s->disk.power == BP_DISK_OFF)
		return bp_rail_specs[rail].inrush_ma;
	return s->disk.ma[rail];
}

static int32_t rail_ma(const struct bp_slot *s, unsigned int rail)
{
	const struct bp_rail_spec *spec = &bp_rail_specs[rail];
	double mv = s->rail[rail].mv;
	int32_t ma = 0;

	if (!rail_driven(s, rail) || mv < REST_MV)
		return 0;
	if (s->used && !s->fx.dead) {
		if (mv < rail_target_mv(s, rail))
			ma = spec->inrush_ma;
		else if (s->powered && s->disk.known)
			ma = disk_ma(s, rail);
		if (s->powered && !s->spun && s->fx.no_spin && rail == BP_12V)
			ma = STALL_MA;
	}
	return ma + s->fx.extra_ma[rail];
}

static void slot_publish(struct bp_slot *s)
{
	struct bp_outputs *out = &s->out;

	for (unsigned int i = 0; i < BP_RAILS && !s->fx.frozen; i++) {
		out->mv[i] = (int32_t)lround(s->rail[i].mv);
		out->ma[i] = rail_ma(s, i);
		out->vin_mv[i] = bp_rail_specs[i].nominal_mv *
				 (100 - s->fx.sag_percent) / 100;
	}
	out->disk_power = s->powered && !s->fx.dead;
	out->present = s->spun;
	out->activity = s->activity;
}

static void slot_activity(struct bp_slot *s)
{
	if (!s->activity) {
		s->activity = true;
	} else if (s->pulses) {
		s->activity = false;
		s->pulses--;
	}
}

static void slot_advance(struct bp_slot *s, double dt_us)
{
	for (unsigned int i = 0; i < BP_RAILS; i++)
		rail_advance(s, i, dt_us);
	slot_power(s);
	slot_spin(s);
	if (dt_us > 0)
		slot_activity(s);
	slot_publish(s);
}

static void board_advance(struct bp_model *m, double dt_us)
{
	double watts = 0;
	double target;

	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		for (unsigned int r = 0; r < BP_RAILS; r++)
			watts +=
				m->slot[i].rail[r].mv * rail_ma(&m->slot[i], r);
	}
	watts /= 1e6;
	target = AMBIENT_MDEGC + watts * MDEGC_PER_WATT;
	m->board_mdegc +=
		(target - m->board_mdegc) * (1 - exp(-dt_us / BOARD_TAU_US));
}

void bp_model_advance(struct bp_model *m, uint64_t now_us)
{
	double dt_us = 0;

	if (now_us > m->now_us) {
		dt_us = (double)(now_us - m->now_us);
		m->now_us = now_us;
	}
	for (unsigned int i = 0; i < BP_SLOTS; i++)
		slot_advance(&m->slot[i], dt_us);
	board_advance(m, dt_us);
}

void bp_model_gate(struct bp_model *m, unsigned int slot, unsigned int rail,
		   bool on, uint64_t now_us)
{
	if (slot >= BP_SLOTS || rail >= BP_RAILS)
		return;
	bp_model_advance(m, now_us);
	m->slot[slot].rail[rail].gate = on;
}

void bp_model_gates_off(struct bp_model *m, uint64_t now_us)
{
	bp_model_advance(m, now_us);
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		for (unsigned int r = 0; r < BP_RAILS; r++)
			m->slot[i].rail[r].gate = false;
	}
}

void bp_model_disk(struct bp_model *m, unsigned int slot,
		   const struct bp_disk_state *disk)
{
	struct bp_slot *s;

	if (slot >= BP_SLOTS)
		return;
	s = &m->slot[slot];
	if (s->disk.known && disk->known && disk->ops > s->disk.ops)
		s->pulses = 1;
	s->disk = *disk;
}

bool bp_model_moving(const struct bp_model *m)
{
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		const struct bp_slot *s = &m->slot[i];

		if (s->pulses || !s->activity)
			return true;
		for (unsigned int r = 0; r < BP_RAILS; r++) {
			if (fabs(s->rail[r].mv - rail_target_mv(s, r)) > 0.5)
				return true;
		}
	}
	return false;
}

const struct bp_outputs *bp_model_outputs(const struct bp_model *m,
					  unsigned int slot)
{
	return &m->slot[slot].out;
}

int32_t bp_model_board_mdegc(const struct bp_model *m)
{
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		if (m->slot[i].fx.board_mdegc)
			return m->slot[i].fx.board_mdegc;
	}
	return (int32_t)lround(m->board_mdegc);
}

bool bp_model_silent(const struct bp_model *m)
{
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		if (m->slot[i].fx.silent)
			return true;
	}
	return false;
}

static bool fault_hits(const struct bp_fault *f, unsigned int slot)
{
	return f->slot == slot || f->slot == BP_ALL_SLOTS;
}

static void effects_rebuild(struct bp_model *m)
{
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		struct bp_effects *fx = &m->slot[i].fx;

		memset(fx, 0, sizeof(*fx));
		for (unsigned int k = 0; k < m->faults; k++) {
			if (fault_hits(&m->fault[k], i))
				m->fault[k].kind->apply(fx, &m->fault[k]);
		}
	}
}

static struct bp_fault *fault_slot(struct bp_model *m, const struct bp_fault *f)
{
	for (unsigned int i = 0; i < m->faults; i++) {
		struct bp_fault *old = &m->fault[i];

		if (old->kind == f->kind && old->slot == f->slot &&
		    old->rail == f->rail)
			return old;
	}
	return m->faults < BP_FAULTS_MAX ? &m->fault[m->faults++] : NULL;
}

int bp_model_plant(struct bp_model *m, const struct bp_fault *f)
{
	struct bp_fault *place;

	if (f->slot >= BP_SLOTS && f->slot != BP_ALL_SLOTS)
		return -EINVAL;
	place = fault_slot(m, f);
	if (!place)
		return -ENOSPC;
	*place = *f;
	effects_rebuild(m);
	return 0;
}

unsigned int bp_model_clear(struct bp_model *m, unsigned int slot,
			    const struct bp_fault_kind *kind)
{
	unsigned int kept = 0;
	unsigned int gone;

	for (unsigned int i = 0; i < m->faults; i++) {
		bool go = slot == BP_ALL_SLOTS || m->fault[i].slot == slot;

		if (!go || (kind && m->fault[i].kind != kind))
			m->fault[kept++] = m->fault[i];
	}
	gone = m->faults - kept;
	m->faults = kept;
	effects_rebuild(m);
	return gone;
}
