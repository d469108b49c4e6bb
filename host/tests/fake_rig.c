#include "host/tests/fake_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/rig/rig_bench.h"

struct rig {
	struct rig_cfg cfg;
	bool cancelled;
};

struct fake_rig fake_rig;
static struct rig *the_rig;

void fake_rig_reset(void)
{
	memset(&fake_rig, 0, sizeof(fake_rig));
}

static int command(struct rig *r, struct err *err)
{
	if (r->cancelled)
		return err_set(err, -ECANCELED, "cancelled");
	fake_rig.commands++;
	if (!fake_rig.fail_at || fake_rig.commands < fake_rig.fail_at ||
	    fake_rig.commands - fake_rig.fail_at > fake_rig.fail_more)
		return 0;
	fake_rig.fired = true;
	return err_set(err, fake_rig.fail_code, "the rig is out of sorts");
}

int rig_parse_usb_id(const char *text, uint16_t *vid, uint16_t *pid)
{
	(void)text;
	*vid = *pid = 1;
	return 0;
}

int rig_open(const struct rig_cfg *cfg, struct rig **out, struct err *err)
{
	struct rig *r = calloc(1, sizeof(*r));
	int ret;

	r->cfg = *cfg;
	ret = command(r, err);
	if (ret < 0) {
		free(r);
		return ret;
	}
	*out = the_rig = r;
	return 0;
}

void rig_close(struct rig *r)
{
	if (r)
		the_rig = NULL;
	free(r);
}

void rig_cancel(struct rig *r)
{
	r->cancelled = true;
}

void rig_resume(struct rig *r)
{
	r->cancelled = false;
}

bool rig_is_connected(const struct rig *r)
{
	(void)r;
	return true;
}

const char *rig_where(const struct rig *r)
{
	(void)r;
	return "fake";
}

RigStatus rig_refusal(const struct rig *r, uint32_t *detail)
{
	(void)r;
	(void)detail;
	return RIG_STATUS__RIG_FAULT;
}

bool rig_is_unreachable(int rc)
{
	return rc == -ETIMEDOUT || rc == -ENOTCONN || rc == -EPROTO;
}

int rig_run(struct rig *r, uint64_t ms, struct err *err)
{
	(void)ms;
	return r->cancelled ? err_set(err, -ECANCELED, "cancelled") : 0;
}

int rig_get_info(struct rig *r, Result **out, struct err *err)
{
	int ret = command(r, err);

	if (ret < 0 || !out)
		return ret;
	*out = malloc(sizeof(**out));
	result__init(*out);
	(*out)->body_case = RESULT__BODY_INFO;
	(*out)->info = malloc(sizeof(*(*out)->info));
	info__init((*out)->info);
	(*out)->info->slots = 8;
	return 0;
}

int rig_arm_silence(struct rig *r, uint32_t mask, SilencePolicy policy,
		    struct err *err)
{
	(void)policy;
	fake_rig.policy_armed = mask != 0;
	return command(r, err);
}

int rig_set_telemetry(struct rig *r, uint32_t period_ms, uint32_t mask,
		      struct err *err)
{
	int ret = command(r, err);

	if (ret == 0)
		fake_rig.telemetry_mask = period_ms ? mask : 0;
	return ret;
}

void fake_rig_tick(void)
{
	RailWindow v5 = RAIL_WINDOW__INIT, v12 = RAIL_WINDOW__INIT;
	Telemetry t = TELEMETRY__INIT;
	LogLine line = LOG_LINE__INIT;

	t.v5 = &v5;
	t.v12 = &v12;
	v5.mv_min = 4990;
	v5.mv_mean = 5000;
	v5.mv_max = 5010;
	v12.ma_mean = 500;
	for (t.slot = 0; t.slot < 8 && the_rig; t.slot++)
		if (fake_rig.telemetry_mask >> t.slot & 1)
			the_rig->cfg.ops->telemetry(the_rig->cfg.arg, &t);
	if (!the_rig || !fake_rig.log)
		return;
	line.level = fake_rig.log_level;
	line.text = (char *)fake_rig.log;
	the_rig->cfg.ops->log(the_rig->cfg.arg, &line);
}

void fake_rig_boot(void)
{
	Event boot = EVENT__INIT;

	fake_rig.on = 0;
	boot.kind = EVENT_KIND__EVENT_BOOT;
	the_rig->cfg.ops->event(the_rig->cfg.arg, &boot);
}

int rig_slot_set_and_wait(struct rig *r, uint32_t mask, bool on,
			  uint32_t timeout_ms, struct rig_slot_report *reports,
			  struct err *err)
{
	int ret = command(r, err);
	unsigned i;

	(void)timeout_ms;
	if (ret < 0)
		return ret;
	fake_rig.on = on ? fake_rig.on | mask : fake_rig.on & ~mask;
	*(on ? &fake_rig.ons : &fake_rig.offs) += 1;
	for (i = 0; reports && i < RIG_SLOTS_MAX; i++)
		reports[i].fall_us = 88000;
	return 0;
}

int rig_bench_address(const struct bench *b, struct rig_address *a, char *path,
		      size_t size, struct err *err)
{
	(void)b;
	(void)path;
	(void)size;
	(void)err;
	memset(a, 0, sizeof(*a));
	return 0;
}

int rig_get_status(struct rig *r, unsigned slot, Result **out, struct err *err)
{
	int ret = command(r, err);

	if (ret < 0)
		return ret;
	*out = malloc(sizeof(**out));
	result__init(*out);
	(*out)->body_case = RESULT__BODY_SLOT_STATUS;
	(*out)->slot_status = malloc(sizeof(*(*out)->slot_status));
	slot_status__init((*out)->slot_status);
	(*out)->slot_status->state = fake_rig.faulted >> slot & 1
					     ? SLOT_STATE__SLOT_FAULT
					     : SLOT_STATE__SLOT_OFF;
	return 0;
}

int rig_config_get(struct rig *r, struct rig_config *c, struct err *err)
{
	memset(c, 0, sizeof(*c));
	c->slots = 8;
	return command(r, err);
}

int rig_config_set_serial(struct rig_config *c, unsigned slot,
			  const char *serial)
{
	(void)c;
	(void)slot;
	(void)serial;
	return 0;
}

int rig_config_sync(struct rig *r, const struct rig_config *c,
		    uint32_t *generation, struct err *err)
{
	(void)generation;
	fake_rig.ramp_timeout_ms = c->slot[0].ramp_timeout_ms;
	return command(r, err);
}

const char *rig_fault_name(SlotFault f)
{
	(void)f;
	return "FAULT";
}
