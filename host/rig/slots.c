/* Switching slots and seeing it through. */
#include "host/rig/client.h"

#include <errno.h>
#include <string.h>

/* A look at a slot without an event: only a safety net. */
#define LOOK_AGAIN_MS 1000u

struct seeing {
	uint32_t pending; /* slots not there yet */
	uint32_t faulted; /* slots that will not get there */
	bool on;
	uint64_t start_us;
	uint32_t boot_id;
	struct rig_slot_report *report;
};

static void fill(struct rig_slot_report *rep, const SlotStatus *s,
		 uint64_t start_us)
{
	*rep = (struct rig_slot_report){
		.state = s->state,
		.fault = s->fault,
		.at_us = s->since_us,
		.fall_us = s->fall_us,
		.residual_5v_mv = s->residual_5v_mv,
		.residual_12v_mv = s->residual_12v_mv,
		.cycles = s->cycles,
		.took_s = (double)(client_now_us() - start_us) / 1e6,
	};
}

/* Ask one slot. 0, or why the wait is over. */
static int look(struct rig *r, unsigned slot, struct seeing *w, struct err *err)
{
	struct rig_slot_report *rep = &w->report[slot];
	Result *res;
	int rc = rig_get_status(r, slot, &res, err);

	if (rc < 0)
		return rc;
	fill(rep, res->slot_status, w->start_us);
	result__free_unpacked(res, NULL);
	if (rep->state == SLOT_STATE__SLOT_FAULT) {
		w->pending &= ~(1u << slot);
		w->faulted |= 1u << slot;
	}
	if (rep->state == (w->on ? SLOT_STATE__SLOT_ON : SLOT_STATE__SLOT_OFF))
		w->pending &= ~(1u << slot);
	return 0;
}

static int look_at_all(struct rig *r, uint32_t slots, struct seeing *w,
		       struct err *err)
{
	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++) {
		int rc;

		if (!(slots & w->pending & 1u << i))
			continue;
		rc = look(r, i, w, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A rig that was reset has all slots off and has forgotten what is wanted. */
static int check_boot(struct rig *r, const struct seeing *w, struct err *err)
{
	const struct control_info *hello = rig_hello(r);

	if (hello->boot_id == w->boot_id)
		return 0;
	return err_set(err, -ECONNRESET,
		       "the rig was reset (%s) while slots switched",
		       rig_reset_name((ResetCause)hello->reset_cause));
}

/* Once all others are where they shall be: a fault of one slot is no reason
 * not to see to the rest. */
static int end_of_seeing(struct rig *r, const struct seeing *w, struct err *err)
{
	unsigned slot;

	if (!w->faulted)
		return 0;
	slot = (unsigned)__builtin_ctz(w->faulted);
	r->refusal = RIG_STATUS__RIG_FAULT;
	r->refusal_detail = slot;
	return err_set(
		err, -EREMOTEIO,
		"slot %u is in FAULT (%s) and not %s; look at the cause, "
		"then 'bay rig clear %u'",
		slot, rig_fault_name(w->report[slot].fault),
		w->on ? "ON" : "OFF", slot);
}

static bool has_news(struct rig *r)
{
	return r->dirty_slots != 0;
}

static int not_in_time(const struct seeing *w, uint32_t timeout_ms,
		       struct err *err)
{
	unsigned slot = (unsigned)__builtin_ctz(w->pending);

	return err_set(err, -ETIME, "slot %u is %s and not %s after %u ms",
		       slot, rig_state_name(w->report[slot].state),
		       w->on ? "ON" : "OFF", timeout_ms);
}

static int see_through(struct rig *r, struct seeing *w, uint32_t timeout_ms,
		       struct err *err)
{
	uint64_t end = w->start_us + (uint64_t)timeout_ms * 1000;
	uint32_t news = UINT32_MAX;

	for (;;) {
		uint64_t now;
		int rc;

		/* Taken before looking: news that comes meanwhile stays. */
		r->dirty_slots = 0;
		rc = look_at_all(r, news, w, err);
		if (rc == 0)
			rc = check_boot(r, w, err);
		if (rc < 0)
			return rc;
		if (!w->pending)
			return end_of_seeing(r, w, err);
		now = client_now_us();
		if (now >= end)
			return not_in_time(w, timeout_ms, err);
		now = (end - now + 999) / 1000;
		rc = client_wait(r, has_news,
				 now < LOOK_AGAIN_MS ? now : LOOK_AGAIN_MS);
		if (rc == -ECANCELED)
			return err_set(err, rc,
				       "interrupted while slots switched");
		news = rc ? UINT32_MAX : r->dirty_slots;
	}
}

int rig_slot_set_and_wait(struct rig *r, uint32_t mask, bool on,
			  uint32_t timeout_ms, struct rig_slot_report *reports,
			  struct err *err)
{
	struct rig_slot_report own[RIG_SLOTS_MAX] = { { 0 } };
	struct seeing w = {
		.pending = mask,
		.on = on,
		.start_us = client_now_us(),
		.boot_id = rig_hello(r)->boot_id,
		.report = reports ? reports : own,
	};
	int rc;

	if (!mask || mask >> RIG_SLOTS_MAX)
		return err_set(err, -EINVAL, "no such slots: mask 0x%x", mask);
	rc = rig_slot_set(r, mask, on, 0, err);
	if (rc < 0)
		return rc;
	return see_through(r, &w, timeout_ms, err);
}

int rig_slot_cycle(struct rig *r, uint32_t mask, uint32_t timeout_ms,
		   struct rig_slot_report *reports, struct err *err)
{
	uint64_t start = client_now_us();
	uint64_t spent_ms;
	int rc =
		rig_slot_set_and_wait(r, mask, false, timeout_ms, reports, err);

	if (rc < 0)
		return rc;
	spent_ms = (client_now_us() - start) / 1000;
	timeout_ms =
		spent_ms < timeout_ms ? timeout_ms - (uint32_t)spent_ms : 1;
	return rig_slot_set_and_wait(r, mask, true, timeout_ms, reports, err);
}
