#include "host/matrix/control_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix/pb.h"

#define AGENT_MS 60000u
/* In a row, before a rig that comes and goes ends the run. */
#define RIG_FAILURES_MAX 2u
#define NS_IN_S          1e9
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

static void drop_phases(struct controller *c)
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

static uint32_t agent_ms(const struct controller *c)
{
	return c->cfg.times.agent_ms ? c->cfg.times.agent_ms : AGENT_MS;
}

int control_check_kernels(const struct bench *b, const struct plan *p,
			  struct err *err)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		const char *k = p->cell[i]->kernel;

		if (*k && !kernel_known(b, k))
			return err_set(err, -ENOTSUP,
				       "%s has no kernel '%s'; list it under "
				       "'kernels'",
				       b->source, k);
	}
	return 0;
}

static int open_both(struct controller *c, struct err *err)
{
	struct dut_client_cfg dut = { .loop = c->cfg.loop,
				      .bench = c->cfg.bench,
				      .event = on_agent_event,
				      .arg = c,
				      .open_ms = agent_ms(c),
				      .ping_ms = c->cfg.times.ping_ms,
				      .silence_ms = c->cfg.times.silence_ms };
	int ret;

	ret = control_check_kernels(c->cfg.bench, c->cfg.plan, err);
	if (ret == 0)
		ret = power_open(c, err);
	if (ret == 0)
		ret = dut_open(&dut, &c->dut, err);
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
	drop_phases(c);
	if (c->result)
		bay__cell_result__free_unpacked(c->result, NULL);
	c->result = NULL;
}

/* ---- after a failure ---------------------------------------------------- */

/* The agent back in a clean machine; a reboot when it stays away or something
 * cannot be undone. */
static int restore_agent(struct controller *c, struct err *err)
{
	struct err why = { 0 };
	int ret;

	step_cancel(c);
	ret = dut_is_connected(c->dut) ? step_reset(c, err) : -ENOTCONN;
	if (ret < 0 && dut_is_unreachable(ret)) {
		ret = dut_reopen(c->dut, agent_ms(c), err);
		if (ret == 0)
			ret = step_reset(c, err);
	}
	if (ret == 0 || ret == -ECANCELED || ret == -EPROTO)
		return ret;
	control_note(c, "%s; booting the machine", err->text);
	ret = kernel_reboot(c, &why);
	if (ret == -ENOTSUP)
		return -ENOTCONN; /* err still tells why it is away */
	return ret < 0 ? err_set(err, ret, "%s", why.text) : 0;
}

static int recover(struct controller *c, struct err *err)
{
	int ret;

	ret = power_back(c, err);
	if (ret == 0)
		ret = restore_agent(c, err);
	if (ret == 0)
		ret = step_collect(c, err);
	return ret;
}

/* ---- one cell ----------------------------------------------------------- */

enum verdict {
	GO_ON,     /* the cell has its end, good or bad */
	ONCE_MORE, /* the same cell */
	END_RUN,
};

static bool is_store_error(int rc)
{
	return rc == -ENOSPC || rc == -EIO || rc == -EBUSY || rc == -EBADMSG ||
	       rc == -EROFS;
}

static bool is_refusal(const struct controller *c, int rc)
{
	return rc == -EPERM ||
	       (rc == -EREMOTEIO && !c->rig_failed && c->dut &&
		dut_refusal(c->dut) == BAY__AGENT_STATUS__AGENT_REFUSED);
}

static enum control_end end_of(const struct controller *c, int rc)
{
	if (c->stops || rc == -ECANCELED)
		return CONTROL_STOPPED;
	if (is_refusal(c, rc))
		return CONTROL_REFUSED;
	if (rc == -ENOTSUP || rc == -EINVAL || rc == -ENAMETOOLONG)
		return CONTROL_CONFIG;
	if (is_store_error(rc))
		return CONTROL_STORE;
	return CONTROL_UNREACHABLE;
}

/* Note a failed attempt, unless its result is safe already; 1: it was noted.
 * *state: what the cell is now. */
static int note_failure(struct controller *c, int rc, const char *why,
			Bay__CellState *state, struct err *err)
{
	Bay__CellState attempt = BAY__CELL_STATE__CELL_FAILED;
	struct store_cell now;
	int ret;

	ret = store_cell(c->cfg.store, c->cell->key, &now, err);
	if (ret < 0)
		return ret;
	*state = now.state;
	if (now.state != BAY__CELL_STATE__CELL_RUNNING)
		return 0;
	/* Neither Ctrl-C nor a refusal or a dead rig is the cell's fault. */
	if (rc == -ECANCELED || is_refusal(c, rc) || is_store_error(rc) ||
	    rc == -ENOTSUP || c->rig_failed)
		attempt = BAY__CELL_STATE__CELL_PLANNED;
	ret = store_fail(c->cfg.store, c->cell->key, c->attempt, attempt, why,
			 c->phase, c->n_phase, state, err);
	return ret < 0 ? ret : 1;
}

static void tell_end(struct controller *c, Bay__CellState state,
		     const char *why)
{
	const struct control_watch *w = &c->cfg.watch;

	if (w->ended)
		w->ended(w->arg, c->cell, state, 0, 0, why);
}

/* What a failed attempt means for the run; rc and err are of the attempt, and
 * become those of the run when it ends. */
static enum verdict after_failure(struct controller *c, int *rc,
				  struct err *err)
{
	Bay__CellState state = BAY__CELL_STATE__CELL_FAILED;
	struct err more = { 0 };
	struct store_cell now;
	int ret;

	ret = note_failure(c, *rc, err->text, &state, &more);
	if (ret < 0) {
		/* A full disk has been told about already. */
		if (!is_store_error(*rc)) {
			*rc = ret;
			*err = more;
		}
		return END_RUN;
	}
	if (c->stops || *rc == -ECANCELED || is_refusal(c, *rc) ||
	    is_store_error(*rc) || *rc == -EPROTO || *rc == -ENOTSUP)
		return END_RUN;
	if (ret > 0)
		tell_end(c, state, err->text);
	else
		control_note(c, "%s", err->text);
	if (c->rig_failed && ++c->rig_failures == RIG_FAILURES_MAX)
		return END_RUN;
	ret = recover(c, &more);
	if (ret < 0) {
		*rc = ret;
		*err = more;
		return END_RUN;
	}
	/* The spool may have had the result. */
	ret = store_cell(c->cfg.store, c->cell->key, &now, &more);
	if (ret < 0) {
		*rc = ret;
		*err = more;
		return END_RUN;
	}
	return now.state == BAY__CELL_STATE__CELL_PLANNED ? ONCE_MORE : GO_ON;
}

static void begin_cell(struct controller *c, const Bay__Cell *cell)
{
	c->cell = cell;
	drop_phases(c);
	memset(c->rail, 0, sizeof(c->rail));
	memset(c->off, 0, sizeof(c->off));
	c->tainted[0] = '\0';
	c->rig_failed = false;
}

/* One attempt. 0: its result is stored and the machine is clean. */
static int try_cell(struct controller *c, const Bay__Cell *cell, unsigned i,
		    unsigned n, struct err *err)
{
	const struct control_watch *w = &c->cfg.watch;
	int ret;

	begin_cell(c, cell);
	ret = store_begin(c->cfg.store, cell->key, c->cfg.boot_id, &c->attempt,
			  err);
	if (ret < 0)
		return ret;
	if (w->cell)
		w->cell(w->arg, cell, c->attempt, i, n);
	ret = kernel_ensure(c, cell->kernel, err);
	return ret < 0 ? ret : cell_run(c, err);
}

/* The cell's state after a stored result: a failed workload is tried again. */
static enum verdict after_result(struct controller *c, int *rc, struct err *err)
{
	struct store_cell now;

	c->rig_failures = 0;
	*rc = store_cell(c->cfg.store, c->cell->key, &now, err);
	if (*rc < 0)
		return END_RUN;
	return now.state == BAY__CELL_STATE__CELL_PLANNED ? ONCE_MORE : GO_ON;
}

static enum verdict run_cell(struct controller *c, const Bay__Cell *cell,
			     unsigned i, unsigned n, int *rc, struct err *err)
{
	enum verdict v;

	do {
		*rc = try_cell(c, cell, i, n, err);
		v = *rc < 0 ? after_failure(c, rc, err)
			    : after_result(c, rc, err);
	} while (v == ONCE_MORE && !c->stops);
	return c->stops && v == ONCE_MORE ? END_RUN : v;
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
		if (run_cell(c, p->cell[k], ++i, n, &rc, err) == END_RUN)
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
		end = end_of(c, rc);
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
