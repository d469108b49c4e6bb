#include "host/matrix/control_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/pb.h"

#define AGENT_MS 60000u
#define NS_IN_S  1e9
/* Restoring the machine after Ctrl-C. */
#define ABORT_MS 60000u

/* ---- telling ------------------------------------------------------------ */

void control_phase(struct controller *c, const char *name)
{
	c->phase_name = name;
	c->phase_ns = uv_hrtime();
	if (c->cfg.watch.phase)
		c->cfg.watch.phase(c->cfg.watch.arg, name);
}

/* A phase that cannot be noted for want of memory is left out: the cell is
 * worth more. */
void control_phase_end(struct controller *c)
{
	Bay__PhaseTime *p = malloc(sizeof(*p));

	if (!p)
		return;
	bay__phase_time__init(p);
	p->seconds = (double)(uv_hrtime() - c->phase_ns) / NS_IN_S;
	if (pb_set_string(&p->phase, c->phase_name) < 0 ||
	    pb_add((void ***)&c->phase, &c->n_phase, p) < 0)
		bay__phase_time__free_unpacked(p, NULL);
}

void control_drop_phases(struct controller *c)
{
	size_t i;

	for (i = 0; i < c->n_phase; i++)
		bay__phase_time__free_unpacked(c->phase[i], NULL);
	free(c->phase);
	c->phase = NULL;
	c->n_phase = 0;
}

void control_note(struct controller *c, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list ap;

	if (!c->cfg.watch.note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->cfg.watch.note(c->cfg.watch.arg, text);
}

void control_taint(struct controller *c, const char *why)
{
	if (!*c->tainted)
		snprintf(c->tainted, sizeof(c->tainted), "%s", why);
}

/* ---- events of the agent ------------------------------------------------ */

static void keep_pushed(struct controller *c, const Bay__CellResult *r)
{
	size_t len = bay__cell_result__get_packed_size(r);
	uint8_t *buf = malloc(len ? len : 1);

	if (!buf)
		return; /* it is asked for again */
	bay__cell_result__pack(r, buf);
	if (c->result)
		bay__cell_result__free_unpacked(c->result, NULL);
	c->result = bay__cell_result__unpack(NULL, len, buf);
	free(buf);
}

static void on_agent_event(void *arg, const Bay__AgentEvent *ev)
{
	const struct control_watch *w;
	struct controller *c = arg;

	w = &c->cfg.watch;
	switch (ev->body_case) {
	case BAY__AGENT_EVENT__BODY_PROGRESS:
		if (w->progress && c->cell && ev->progress &&
		    strcmp(ev->progress->cell_key, c->cell->key) == 0)
			w->progress(w->arg, ev->progress->done,
				    ev->progress->rate_mb_s);
		break;
	case BAY__AGENT_EVENT__BODY_RESULT:
		if (c->cell && ev->result &&
		    strcmp(ev->result->key, c->cell->key) == 0)
			keep_pushed(c, ev->result);
		break;
	case BAY__AGENT_EVENT__BODY_LOG:
		if (ev->log && ev->log->level <= 1)
			control_note(c, "agent: %s", ev->log->text);
		break;
	default:
		break;
	}
}

/* ---- opening ------------------------------------------------------------ */

uint32_t control_agent_ms(const struct controller *c)
{
	return c->cfg.times.agent_ms ? c->cfg.times.agent_ms : AGENT_MS;
}

/* A run that resumes another may find what ended that one: a dead guest. */
static int open_agent(struct controller *c, struct err *err)
{
	struct dut_client_cfg dut = { .loop = c->cfg.loop,
				      .bench = c->cfg.bench,
				      .event = on_agent_event,
				      .arg = c,
				      .open_ms = control_agent_ms(c),
				      .ping_ms = c->cfg.times.ping_ms,
				      .silence_ms = c->cfg.times.silence_ms };
	struct err why = { 0 };
	int ret = dut_open(&dut, &c->dut, err);
	int rc;

	if (!dut_is_unreachable(ret) || ret == -EPROTO)
		return ret;
	rc = kernel_start_guest(c, &why);
	if (rc == -ENOTSUP)
		return ret;
	if (rc < 0)
		return err_set(err, rc, "%s", why.text);
	control_note(c, "%s; booted it", err->text);
	return dut_open(&dut, &c->dut, err);
}

static int open_both(struct controller *c, struct err *err)
{
	int ret;

	ret = control_check_kernels(c->cfg.bench, c->cfg.plan, NULL, err);
	if (ret == 0)
		ret = power_open(c, err);
	if (ret == 0)
		ret = open_agent(c, err);
	/* What an earlier run left: results first, then the machine. */
	if (ret == 0)
		ret = step_check_arrays(c, err);
	if (ret == 0)
		ret = step_collect(c, err);
	if (ret == 0)
		ret = step_reset(c, err);
	if (ret == 0)
		ret = power_prepare(c, err);
	c->ours = ret == 0;
	return ret;
}

static void close_both(struct controller *c)
{
	dut_close(c->dut);
	c->dut = NULL;
	power_close(c);
	control_drop_phases(c);
	if (c->result)
		bay__cell_result__free_unpacked(c->result, NULL);
	c->result = NULL;
}

/* ---- all cells ---------------------------------------------------------- */

static bool is_open(struct controller *c, const Bay__Cell *cell)
{
	struct store_cell now;

	if (store_cell(c->cfg.store, cell->key, &now, NULL) < 0)
		return true; /* the next step meets the same error */
	return now.state == BAY__CELL_STATE__CELL_PLANNED;
}

static unsigned count_open(struct controller *c)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < c->cfg.plan->n; i++)
		n += is_open(c, c->cfg.plan->cell[i]);
	return n;
}

static bool has_failed(struct controller *c, const Bay__Cell *cell)
{
	struct store_cell now;

	return store_cell(c->cfg.store, cell->key, &now, NULL) == 0 &&
	       now.state != BAY__CELL_STATE__CELL_DONE;
}

static int run_cells(struct controller *c, struct err *err)
{
	const struct plan *p = c->cfg.plan;
	unsigned i = 0, n = count_open(c);
	size_t k;
	int rc = 0;

	for (k = 0; k < p->n; k++) {
		if (!is_open(c, p->cell[k]))
			continue;
		if (!attempt_cell(c, p->cell[k], ++i, n, &rc, err))
			return rc < 0 ? rc : -ECANCELED;
		if (c->cfg.stop_at_failure && has_failed(c, p->cell[k]))
			return 0;
	}
	return 0;
}

static void count_up(struct controller *c, struct control_sum *sum)
{
	struct store_cell now;
	size_t i;

	for (i = 0; i < c->cfg.plan->n; i++) {
		if (store_cell(c->cfg.store, c->cfg.plan->cell[i]->key, &now,
			       NULL) < 0)
			continue;
		if (now.state == BAY__CELL_STATE__CELL_DONE)
			sum->done++;
		else
			sum->left++;
		sum->failed += now.state == BAY__CELL_STATE__CELL_QUARANTINED ||
			       now.state == BAY__CELL_STATE__CELL_FAILED ||
			       now.state == BAY__CELL_STATE__CELL_HUNG;
	}
	sum->done -= sum->before;
	sum->spooled = c->spooled;
}

static unsigned count_done(struct controller *c)
{
	struct control_sum s = { 0 };

	count_up(c, &s);
	return s.done;
}

/* Ctrl-C: machine and slots as if the cell had not been. */
static void abort_run(struct controller *c)
{
	struct err err = { 0 };

	if (c->stops > 1) {
		control_note(c, "stopped at once: the slots are left to the "
				"rig's policy, the machine to the agent's "
				"next start");
		return;
	}
	control_note(c, "stopping: restoring the machine and the slots "
			"(Ctrl-C again to leave them)");
	dut_resume(c->dut);
	if (c->rig)
		rig_resume(c->rig);
	step_cancel(c);
	if (step_reset(c, &err) < 0)
		control_note(c, "machine not restored: %s", err.text);
	power_leave(c, true);
}

void control_stop(struct controller *c)
{
	c->stops++;
	if (c->dut)
		dut_cancel(c->dut);
	if (c->rig)
		rig_cancel(c->rig);
}

/* The machine is clean after each cell; only the slots are left. */
static void end_run(struct controller *c, enum control_end end)
{
	c->cell = NULL;
	/* Refused before it began: machine and slots are somebody else's. */
	if (!c->ours)
		return;
	if (end == CONTROL_STOPPED && c->dut)
		abort_run(c);
	else if (c->rig && rig_is_connected(c->rig))
		power_leave(c, false);
}

enum control_end control_run(const struct control_cfg *cfg,
			     struct control_sum *sum, struct err *err,
			     struct controller **self)
{
	struct controller *c = calloc(1, sizeof(*c));
	enum control_end end = CONTROL_DONE;
	uint64_t start = uv_hrtime();
	int rc;

	memset(sum, 0, sizeof(*sum));
	if (!c) {
		err_sys(err, -ENOMEM, "run");
		return CONTROL_STORE;
	}
	c->cfg = *cfg;
	*self = c;
	sum->before = count_done(c);
	rc = open_both(c, err);
	if (rc == 0)
		rc = run_cells(c, err);
	if (rc < 0)
		end = attempt_end(c, rc);
	end_run(c, end);
	count_up(c, sum);
	if (end == CONTROL_DONE && sum->left)
		end = CONTROL_FAILED;
	*self = NULL;
	close_both(c);
	free(c);
	sum->seconds = (double)(uv_hrtime() - start) / NS_IN_S;
	return end;
}
