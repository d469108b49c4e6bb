#include "host/store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "host/store/db.h"
#include "host/store/result.h"
#include "host/util/clock.h"

/* ---- plan --------------------------------------------------------------- */

int store_count(struct store *s, const char *experiment,
		struct store_counts *out, struct err *err)
{
	struct db_query q;
	int ret;

	s->err = err;
	memset(out, 0, sizeof(*out));
	ret = db_prepare(s, &q,
			 "SELECT c.state, count(*) FROM cell c JOIN experiment "
			 "e ON e.id = c.experiment WHERE e.name = ?1 GROUP BY "
			 "c.state");
	db_text(&q, 1, experiment);
	while (ret >= 0 && (ret = db_step(&q)) > 0) {
		unsigned n = (unsigned)sqlite3_column_int(q.stmt, 1);
		unsigned *const by_state[] = {
			[BAY__CELL_STATE__CELL_PLANNED] = &out->planned,
			[BAY__CELL_STATE__CELL_RUNNING] = &out->running,
			[BAY__CELL_STATE__CELL_DONE] = &out->done,
			[BAY__CELL_STATE__CELL_FAILED] = &out->failed,
			[BAY__CELL_STATE__CELL_HUNG] = &out->hung,
			[BAY__CELL_STATE__CELL_QUARANTINED] = &out->quarantined,
		};
		int state = sqlite3_column_int(q.stmt, 0);

		if (state >= 0 &&
		    (size_t)state < sizeof(by_state) / sizeof(by_state[0]))
			*by_state[state] = n;
	}
	db_finish(&q);
	return ret < 0 ? ret : 0;
}

static int enter_experiment(struct store *s, const char *name,
			    const char *bench, const char *matrix, int64_t *id)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "INSERT INTO experiment(name, bench, matrix, "
			 "created_ns) VALUES(?1, ?2, ?3, ?4) ON CONFLICT(name) "
			 "DO UPDATE SET matrix = ?3 RETURNING id");
	db_text(&q, 1, name);
	db_text(&q, 2, bench);
	db_text(&q, 3, matrix);
	db_int(&q, 4, (int64_t)clock_real_ns());
	ret = db_first(&q, ret);
	if (ret > 0) {
		*id = sqlite3_column_int64(q.stmt, 0);
		ret = db_step(&q);
	}
	db_finish(&q);
	return ret;
}

static int forget_plan(struct store *s, int64_t experiment)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "UPDATE cell SET in_plan = 0 WHERE experiment = ?1");
	db_int(&q, 1, experiment);
	return db_run(&q, ret);
}

static int enter_cell(struct store *s, int64_t experiment, const Bay__Cell *c)
{
	size_t len = bay__cell__get_packed_size(c);
	uint8_t *blob = malloc(len ? len : 1);
	struct db_query q;
	int ret;

	if (!blob)
		return err_sys(s->err, -ENOMEM, "%s", s->path);
	bay__cell__pack(c, blob);
	ret = db_prepare(s, &q,
			 "INSERT INTO cell(key, experiment, case_name, repeat, "
			 "kernel, ord, in_plan, state, attempts, error_text, "
			 "cell) VALUES(?1, ?2, ?3, ?4, ?5, ?6, 1, 0, 0, '', ?7)"
			 " ON CONFLICT(key) DO UPDATE SET case_name = ?3, "
			 "ord = ?6, in_plan = 1, cell = ?7, state = iif(state "
			 "= ?8, 0, state)");
	db_text(&q, 1, c->key);
	db_int(&q, 2, experiment);
	db_text(&q, 3, c->case_name);
	db_int(&q, 4, c->repeat);
	db_text(&q, 5, c->kernel);
	db_int(&q, 6, c->order);
	db_blob(&q, 7, blob, len);
	db_int(&q, 8, BAY__CELL_STATE__CELL_FAILED);
	ret = db_run(&q, ret);
	free(blob);
	return ret;
}

/* NOLINTNEXTLINE(readability-function-size): the columns of one row */
int store_plan(struct store *s, const char *experiment, const char *bench,
	       const char *matrix, Bay__Cell *const *cells, size_t n,
	       struct err *err)
{
	int64_t id = 0;
	size_t i;
	int ret;

	s->err = err;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = enter_experiment(s, experiment, bench, matrix, &id);
	if (ret == 0)
		ret = forget_plan(s, id);
	for (i = 0; i < n && ret == 0; i++)
		ret = enter_cell(s, id, cells[i]);
	return db_end(s, ret);
}

int store_cell(struct store *s, const char *key, struct store_cell *out,
	       struct err *err)
{
	struct db_query q;
	int ret;

	s->err = err;
	ret = db_prepare(s, &q,
			 "SELECT state, attempts, EXISTS(SELECT 1 FROM result r"
			 " WHERE r.cell = cell.key) FROM cell WHERE key = ?1");
	db_text(&q, 1, key);
	ret = db_first(&q, ret);
	if (ret > 0) {
		out->state = (Bay__CellState)sqlite3_column_int(q.stmt, 0);
		out->attempts = (unsigned)sqlite3_column_int(q.stmt, 1);
		out->has_result = sqlite3_column_int(q.stmt, 2);
	} else if (ret == 0) {
		ret = err_set(err, -ENOENT, "no cell %s in %s", key, s->path);
	}
	db_finish(&q);
	return ret < 0 ? ret : 0;
}

/* ---- run ---------------------------------------------------------------- */

static int set_state(struct store *s, const char *key, Bay__CellState state,
		     const char *why)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "UPDATE cell SET state = ?2, error_text = ?3 WHERE "
			 "key = ?1");
	db_text(&q, 1, key);
	db_int(&q, 2, state);
	db_text(&q, 3, why);
	return db_run(&q, ret);
}

static int next_attempt(struct store *s, const char *key, unsigned *attempt)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "UPDATE cell SET attempts = attempts + 1, state = ?2, "
			 "error_text = '' WHERE key = ?1 RETURNING attempts");
	db_text(&q, 1, key);
	db_int(&q, 2, BAY__CELL_STATE__CELL_RUNNING);
	ret = db_first(&q, ret);
	if (ret > 0) {
		*attempt = (unsigned)sqlite3_column_int(q.stmt, 0);
		ret = db_step(&q);
	} else if (ret == 0) {
		ret = err_set(s->err, -ENOENT, "no cell %s in %s", key,
			      s->path);
	}
	db_finish(&q);
	return ret;
}

static int enter_attempt(struct store *s, const char *key, const char *boot,
			 unsigned attempt)
{
	struct db_query q;
	int ret;

	ret = db_prepare(
		s, &q,
		"INSERT INTO attempt(cell, n, state, counts, boot, started_ns, "
		"error_text) VALUES(?1, ?2, ?3, 1, ?5, ?4, '')");
	db_text(&q, 1, key);
	db_int(&q, 2, attempt);
	db_int(&q, 3, BAY__CELL_STATE__CELL_RUNNING);
	db_int(&q, 4, (int64_t)clock_real_ns());
	db_text(&q, 5, boot);
	return db_run(&q, ret);
}

int store_begin(struct store *s, const char *key, const char *boot,
		unsigned *attempt, struct err *err)
{
	unsigned n = 0;
	int ret;

	s->err = err;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = next_attempt(s, key, &n);
	if (ret == 0)
		ret = enter_attempt(s, key, boot, n);
	ret = db_end(s, ret);
	if (ret == 0)
		*attempt = n;
	return ret;
}

/* counts: towards the quarantine. */
static int end_attempt(struct store *s, const char *key, unsigned attempt,
		       Bay__CellState state, bool counts, const char *why)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "UPDATE attempt SET state = ?3, error_text = ?4, "
			 "ended_ns = ?5, counts = ?6 WHERE cell = ?1 AND n = "
			 "?2");
	db_text(&q, 1, key);
	db_int(&q, 2, attempt);
	db_int(&q, 3, state);
	db_text(&q, 4, why);
	db_int(&q, 5, (int64_t)clock_real_ns());
	db_int(&q, 6, counts);
	return db_run(&q, ret);
}

static int enter_phases(struct store *s, const char *key, unsigned attempt,
			Bay__PhaseTime *const *phases, size_t n)
{
	struct db_query q;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && ret == 0; i++) {
		ret = db_prepare(s, &q,
				 "INSERT OR REPLACE INTO phase(attempt, ord, "
				 "phase, seconds) SELECT id, ?3, ?4, ?5 FROM "
				 "attempt WHERE cell = ?1 AND n = ?2");
		db_text(&q, 1, key);
		db_int(&q, 2, attempt);
		db_int(&q, 3, (int64_t)i);
		db_text(&q, 4, phases[i]->phase);
		db_real(&q, 5, phases[i]->seconds);
		ret = db_run(&q, ret);
	}
	return ret;
}

int store_phase(struct store *s, const char *key, unsigned attempt,
		const char *phase, double seconds, struct err *err)
{
	struct db_query q;
	int ret;

	s->err = err;
	ret = db_prepare(
		s, &q,
		"INSERT INTO phase(attempt, ord, phase, seconds) "
		"SELECT id, (SELECT count(*) FROM phase p WHERE "
		"p.attempt = a.id), ?3, ?4 FROM attempt a WHERE cell = "
		"?1 AND n = ?2");
	db_text(&q, 1, key);
	db_int(&q, 2, attempt);
	db_text(&q, 3, phase);
	db_real(&q, 4, seconds);
	return db_run(&q, ret);
}

static int count_failures(struct store *s, const char *key, unsigned *n)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "SELECT count(*) FROM attempt WHERE cell = ?1 AND "
			 "counts AND state IN (?2, ?3)");
	db_text(&q, 1, key);
	db_int(&q, 2, BAY__CELL_STATE__CELL_FAILED);
	db_int(&q, 3, BAY__CELL_STATE__CELL_HUNG);
	ret = db_first(&q, ret);
	if (ret > 0)
		*n = (unsigned)sqlite3_column_int(q.stmt, 0);
	db_finish(&q);
	return ret < 0 ? ret : 0;
}

/* What a cell becomes after an attempt without a good result. */
static int state_after(struct store *s, const char *key, Bay__CellState *state)
{
	unsigned failures = 0;
	int ret;

	ret = count_failures(s, key, &failures);
	*state = failures >= STORE_ATTEMPTS_MAX
			 ? BAY__CELL_STATE__CELL_QUARANTINED
			 : BAY__CELL_STATE__CELL_PLANNED;
	return ret;
}

int store_fail(struct store *s, const char *key, unsigned attempt,
	       const struct store_failure *f, Bay__CellState *end,
	       struct err *err)
{
	bool failed = f->state != BAY__CELL_STATE__CELL_PLANNED;
	bool stays = failed && f->disk_away;
	Bay__CellState after = f->state;
	int ret;

	s->err = err;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = end_attempt(s, key, attempt, f->state, failed && !stays, f->why);
	if (ret == 0)
		ret = enter_phases(s, key, attempt, f->phase, f->n_phase);
	if (ret == 0 && !stays)
		ret = state_after(s, key, &after);
	if (ret == 0)
		ret = set_state(s, key, after, f->why);
	ret = db_end(s, ret);
	if (ret == 0 && end)
		*end = after;
	return ret;
}

/* An attempt that its bay did not survive counts only if the machine did not
 * survive it either. */
static int end_orphans(struct store *s, const char *boot)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "UPDATE attempt SET state = iif(boot = ?2, 0, ?3), "
			 "counts = boot <> ?2, error_text = iif(boot = ?2, "
			 "'bay died', 'the controller''s machine went down') "
			 "WHERE state = ?1");
	db_int(&q, 1, BAY__CELL_STATE__CELL_RUNNING);
	db_text(&q, 2, boot);
	db_int(&q, 3, BAY__CELL_STATE__CELL_FAILED);
	return db_run(&q, ret);
}

int store_recover(struct store *s, const char *boot, unsigned *n,
		  struct err *err)
{
	struct db_query q;
	int ret;

	s->err = err;
	*n = 0;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = end_orphans(s, boot);
	if (ret == 0) {
		ret = db_prepare(s, &q,
				 "UPDATE cell SET state = iif((SELECT count(*) "
				 "FROM attempt a WHERE a.cell = cell.key AND "
				 "a.counts AND a.state = ?2) >= ?3, ?4, 0) "
				 "WHERE state = ?1");
		db_int(&q, 1, BAY__CELL_STATE__CELL_RUNNING);
		db_int(&q, 2, BAY__CELL_STATE__CELL_FAILED);
		db_int(&q, 3, STORE_ATTEMPTS_MAX);
		db_int(&q, 4, BAY__CELL_STATE__CELL_QUARANTINED);
		ret = db_run(&q, ret);
		*n = (unsigned)sqlite3_changes(s->db);
	}
	return db_end(s, ret);
}

#define QUARANTINED_OF                                                         \
	"state = ?2 AND in_plan AND experiment = (SELECT id FROM "             \
	"experiment WHERE name = ?1)"

static int run_on_quarantined(struct store *s, const char *experiment,
			      const char *sql)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q, sql);
	db_text(&q, 1, experiment);
	db_int(&q, 2, BAY__CELL_STATE__CELL_QUARANTINED);
	return db_run(&q, ret);
}

int store_retry(struct store *s, const char *experiment, unsigned *n,
		struct err *err)
{
	int ret;

	s->err = err;
	*n = 0;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = run_on_quarantined(s, experiment,
				 "UPDATE attempt SET counts = 0 WHERE cell IN "
				 "(SELECT key FROM cell WHERE " QUARANTINED_OF
				 ")");
	if (ret == 0) {
		ret = run_on_quarantined(
			s, experiment,
			"UPDATE cell SET state = 0, "
			"error_text = '' WHERE " QUARANTINED_OF);
		*n = (unsigned)sqlite3_changes(s->db);
	}
	return db_end(s, ret);
}

/* ---- results ------------------------------------------------------------ */

/* 1: keep it; 0: it is there, or the cell is done; or an error. */
static int is_new(struct store *s, const Bay__CellResult *r)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "SELECT state = ?3 OR EXISTS(SELECT 1 FROM result r "
			 "WHERE r.cell = ?1 AND r.attempt = ?2) FROM cell WHERE"
			 " key = ?1");
	db_text(&q, 1, r->key);
	db_int(&q, 2, r->attempt);
	db_int(&q, 3, BAY__CELL_STATE__CELL_DONE);
	ret = db_first(&q, ret);
	if (ret > 0)
		ret = !sqlite3_column_int(q.stmt, 0);
	else if (ret == 0)
		ret = err_set(s->err, -ENOENT, "no cell %s in %s", r->key,
			      s->path);
	db_finish(&q);
	return ret;
}

/* A disk that went away is not the cell's fault and does not come back by
 * trying: the cell stays failed until somebody says --resume, or is planned
 * again at once when the result says so. */
static int keep_result(struct store *s, const Bay__CellResult *r)
{
	bool done = r->state == BAY__CELL_STATE__CELL_DONE;
	bool lost = !done && r->n_lost_serial;
	Bay__CellState after = lost ? r->state : BAY__CELL_STATE__CELL_DONE;
	int ret;

	ret = result_enter(s, r);
	if (ret == 0)
		ret = end_attempt(s, r->key, r->attempt, r->state, !lost,
				  r->error_text);
	if (ret == 0)
		ret = enter_phases(s, r->key, r->attempt, r->phase, r->n_phase);
	if (ret == 0 && !done && !lost)
		ret = state_after(s, r->key, &after);
	if (ret == 0)
		ret = set_state(s, r->key, after, r->error_text);
	return ret;
}

int store_result(struct store *s, const Bay__CellResult *r, bool *kept,
		 struct err *err)
{
	int ret;

	s->err = err;
	*kept = false;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = is_new(s, r);
	if (ret <= 0)
		return db_end(s, ret);
	ret = db_end(s, keep_result(s, r));
	*kept = ret == 0;
	return ret;
}
