/* A cell until it has its end, good or bad: its attempts, and what a failed one
 * means for it and for the run. */
#include "host/matrix/control_priv.h"

#include <errno.h>
#include <string.h>

/* In a row, before a rig that comes and goes ends the run. */
#define RIG_FAILURES_MAX 2u

/* The agent back in a clean machine; a reboot when it stays away or something
 * cannot be undone. */
static int restore_agent(struct controller *c, struct err *err)
{
	struct err why = { 0 };
	int ret;

	step_cancel(c);
	ret = dut_is_connected(c->dut) ? step_reset(c, err) : -ENOTCONN;
	if (ret < 0 && dut_is_unreachable(ret)) {
		ret = dut_reopen(c->dut, control_agent_ms(c), err);
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

enum control_end attempt_end(const struct controller *c, int rc)
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
	struct store_failure failure = {
		.state = BAY__CELL_STATE__CELL_FAILED,
		.disk_away = c->disk_away,
		.why = why,
		.phase = c->phase,
		.n_phase = c->n_phase,
	};
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
		failure.state = BAY__CELL_STATE__CELL_PLANNED;
	ret = store_fail(c->cfg.store, c->cell->key, c->attempt, &failure,
			 state, err);
	return ret < 0 ? ret : 1;
}

static void tell_end(struct controller *c, Bay__CellState state,
		     const char *why)
{
	const struct control_watch *w = &c->cfg.watch;

	if (w->ended)
		w->ended(w->arg, c->cell, state, 0, 0, why);
}

/* Whether the rig ends the run; rc and err then say so. */
static bool rig_gives_out(struct controller *c, int *rc, struct err *err)
{
	if (!c->rig_failed || ++c->rig_failures < RIG_FAILURES_MAX)
		return false;
	/* What failed behind a reset of the rig is not the cause. */
	if (!rig_is_unreachable(*rc))
		*rc = err_set(err, -ECONNRESET,
			      "the rig was reset in %u attempts in a row; see "
			      "'bay rig log'",
			      RIG_FAILURES_MAX);
	return true;
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
	if (rig_gives_out(c, rc, err))
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
	control_drop_phases(c);
	memset(c->rail, 0, sizeof(c->rail));
	memset(c->off, 0, sizeof(c->off));
	c->tainted[0] = '\0';
	c->rig_failed = false;
	c->disk_away = false;
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
	bool again;

	*rc = store_cell(c->cfg.store, c->cell->key, &now, err);
	if (*rc < 0)
		return END_RUN;
	again = now.state == BAY__CELL_STATE__CELL_PLANNED;
	if (!again || !c->rig_failed)
		c->rig_failures = 0;
	if (again && rig_gives_out(c, rc, err))
		return END_RUN;
	return again ? ONCE_MORE : GO_ON;
}

bool attempt_cell(struct controller *c, const Bay__Cell *cell, unsigned i,
		  unsigned n, int *rc, struct err *err)
{
	enum verdict v;

	do {
		*rc = try_cell(c, cell, i, n, err);
		v = *rc < 0 ? after_failure(c, rc, err)
			    : after_result(c, rc, err);
	} while (v == ONCE_MORE && !c->stops);
	return v == GO_ON;
}
