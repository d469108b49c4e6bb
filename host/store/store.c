#include "host/store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/store/db.h"
#include "host/store/schema.h"
#include "host/util/clock.h"

#define BUSY_MS 10000

/* ---- opening ----------------------------------------------------------- */

static int user_version(struct store *s, int *version, int *application)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "SELECT user_version, application_id FROM "
			 "pragma_user_version, pragma_application_id");
	if (ret == 0)
		ret = db_step(&q);
	if (ret > 0) {
		*version = sqlite3_column_int(q.stmt, 0);
		*application = sqlite3_column_int(q.stmt, 1);
	}
	db_finish(&q);
	return ret < 0 ? ret : 0;
}

static int create_tables(struct store *s)
{
	char sql[128];
	int ret;

	ret = db_exec(s, store_schema_sql);
	snprintf(sql, sizeof(sql),
		 "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		 STORE_APPLICATION_ID, STORE_SCHEMA);
	return ret < 0 ? ret : db_exec(s, sql);
}

static int is_empty(struct store *s)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q, "SELECT 1 FROM sqlite_schema LIMIT 1");
	if (ret == 0)
		ret = db_step(&q);
	db_finish(&q);
	return ret < 0 ? ret : ret == 0;
}

/* Under BEGIN IMMEDIATE, so that two starters do not both create. */
static int check_schema(struct store *s, enum store_mode mode)
{
	int version = 0, application = 0, ret;

	ret = user_version(s, &version, &application);
	if (ret < 0)
		return ret;
	if (application == STORE_APPLICATION_ID && version == STORE_SCHEMA)
		return 0;
	if (application == STORE_APPLICATION_ID)
		return err_set(s->err, -ENOTSUP,
			       "%s has journal version %d, this bay knows %d",
			       s->path, version, STORE_SCHEMA);
	ret = is_empty(s);
	if (ret < 0)
		return ret;
	if (!ret || version || application || mode == STORE_READ)
		return err_set(s->err, -EBADMSG, "%s is not a journal of bay",
			       s->path);
	return create_tables(s);
}

static int prepare_journal(struct store *s, enum store_mode mode)
{
	int ret;

	sqlite3_busy_timeout(s->db, BUSY_MS);
	if (mode == STORE_READ)
		return check_schema(s, mode);
	ret = db_exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
			 "PRAGMA foreign_keys = ON;");
	if (ret == 0)
		ret = db_begin(s);
	if (ret == 0)
		ret = db_end(s, check_schema(s, mode));
	return ret;
}

int store_open(const char *path, enum store_mode mode, const char *vfs,
	       struct store **out, struct err *err)
{
	int flags = mode == STORE_READ
			    ? SQLITE_OPEN_READONLY
			    : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	struct store *s;
	int rc, ret;

	if (mode == STORE_READ && access(path, F_OK) < 0)
		return err_sys(err, -errno, "no results in %s", path);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_sys(err, -ENOMEM, "%s", path);
	s->path = strdup(path);
	s->err = err;
	rc = s->path ? sqlite3_open_v2(path, &s->db, flags, vfs) : SQLITE_NOMEM;
	ret = rc == SQLITE_OK ? prepare_journal(s, mode) : db_error(s, rc);
	if (ret < 0) {
		store_close(s);
		return ret;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

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
	if (ret == 0)
		ret = db_step(&q);
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
			 "ord = ?6, in_plan = 1, cell = ?7");
	db_text(&q, 1, c->key);
	db_int(&q, 2, experiment);
	db_text(&q, 3, c->case_name);
	db_int(&q, 4, c->repeat);
	db_text(&q, 5, c->kernel);
	db_int(&q, 6, c->order);
	db_blob(&q, 7, blob, len);
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
	if (ret == 0)
		ret = db_step(&q);
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
	if (ret == 0)
		ret = db_step(&q);
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

static int end_attempt(struct store *s, const char *key, unsigned attempt,
		       Bay__CellState state, const char *why)
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
	db_int(&q, 6, state != BAY__CELL_STATE__CELL_PLANNED);
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
	if (ret == 0)
		ret = db_step(&q);
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

/* NOLINTNEXTLINE(readability-function-size): the columns of one row */
int store_fail(struct store *s, const char *key, unsigned attempt,
	       Bay__CellState state, const char *why,
	       Bay__PhaseTime *const *phases, size_t n_phases,
	       Bay__CellState *end, struct err *err)
{
	Bay__CellState after = state;
	int ret;

	s->err = err;
	ret = db_begin(s);
	if (ret < 0)
		return ret;
	ret = end_attempt(s, key, attempt, state, why);
	if (ret == 0)
		ret = enter_phases(s, key, attempt, phases, n_phases);
	if (ret == 0)
		ret = state_after(s, key, &after);
	if (ret == 0)
		ret = set_state(s, key, after, why);
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

/* ---- results ------------------------------------------------------------ */

/* FNV-1a, 64 bits, of a string and its end. */
static uint64_t hash_more(uint64_t h, const char *text)
{
	do
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return h;
}

static int by_name(const void *a, const void *b)
{
	const Bay__Param *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* All facts of the machine as one sorted list. Entries point into r and into
 * fixed, which has room for four. */
static size_t list_settings(const Bay__CellResult *r, Bay__Param *fixed,
			    Bay__Param **list)
{
	const char *const facts[][2] = {
		{ "kernel.release", r->kernel_release },
		{ "kernel.version", r->kernel_version },
		{ "agent.version", r->agent_version },
	};
	size_t n = 0, i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		bay__param__init(&fixed[i]);
		fixed[i].name = (char *)facts[i][0];
		fixed[i].value = (char *)facts[i][1];
		list[n++] = &fixed[i];
	}
	for (i = 0; i < r->n_tool_version; i++)
		list[n++] = r->tool_version[i];
	for (i = 0; i < r->n_environment; i++)
		list[n++] = r->environment[i];
	qsort(list, n, sizeof(*list), by_name);
	return n;
}

static int enter_settings(struct store *s, int64_t id, Bay__Param *const *list,
			  size_t n)
{
	struct db_query q;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && ret == 0; i++) {
		ret = db_prepare(s, &q,
				 "INSERT OR REPLACE INTO setting(environment, "
				 "name, value) VALUES(?1, ?2, ?3)");
		db_int(&q, 1, id);
		db_text(&q, 2, list[i]->name);
		db_text(&q, 3, list[i]->value);
		ret = db_run(&q, ret);
	}
	return ret;
}

static int find_environment(struct store *s, const char *hash, int64_t *id)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q, "SELECT id FROM environment WHERE hash = ?1");
	db_text(&q, 1, hash);
	if (ret == 0)
		ret = db_step(&q);
	if (ret > 0)
		*id = sqlite3_column_int64(q.stmt, 0);
	db_finish(&q);
	return ret;
}

static int new_environment(struct store *s, const char *hash,
			   Bay__Param *const *list, size_t n, int64_t *id)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q, "INSERT INTO environment(hash) VALUES(?1)");
	db_text(&q, 1, hash);
	ret = db_run(&q, ret);
	if (ret < 0)
		return ret;
	*id = sqlite3_last_insert_rowid(s->db);
	return enter_settings(s, *id, list, n);
}

static int enter_environment(struct store *s, const Bay__CellResult *r,
			     int64_t *id)
{
	uint64_t a = UINT64_C(0xcbf29ce484222325), b = a ^ 0x5a;
	Bay__Param fixed[4], **list;
	char hash[40];
	size_t n, i;
	int ret;

	list = malloc((4 + r->n_tool_version + r->n_environment) *
		      sizeof(*list));
	if (!list)
		return err_sys(s->err, -ENOMEM, "%s", s->path);
	n = list_settings(r, fixed, list);
	for (i = 0; i < n; i++) {
		a = hash_more(hash_more(a, list[i]->name), list[i]->value);
		b = hash_more(hash_more(b, list[i]->name), list[i]->value);
	}
	snprintf(hash, sizeof(hash), "%016llx%016llx", (unsigned long long)a,
		 (unsigned long long)b);
	ret = find_environment(s, hash, id);
	if (ret == 0)
		ret = new_environment(s, hash, list, n, id);
	free(list);
	return ret < 0 ? ret : 0;
}

static int enter_metrics(struct store *s, int64_t result,
			 const Bay__CellResult *r)
{
	struct db_query q;
	size_t i;
	int ret = 0;

	for (i = 0; i < r->n_metric && ret == 0; i++) {
		ret = db_prepare(s, &q,
				 "INSERT OR REPLACE INTO metric(result, name, "
				 "value, unit) VALUES(?1, ?2, ?3, ?4)");
		db_int(&q, 1, result);
		db_text(&q, 2, r->metric[i]->name);
		db_real(&q, 3, r->metric[i]->value);
		db_text(&q, 4, r->metric[i]->unit);
		ret = db_run(&q, ret);
	}
	return ret;
}

static int enter_result(struct store *s, const Bay__CellResult *r,
			int64_t environment)
{
	size_t len = bay__cell_result__get_packed_size(r);
	uint8_t *blob = malloc(len ? len : 1);
	struct db_query q;
	int ret;

	if (!blob)
		return err_sys(s->err, -ENOMEM, "%s", s->path);
	bay__cell_result__pack(r, blob);
	ret = db_prepare(s, &q,
			 "INSERT INTO result(cell, attempt, state, release, "
			 "boot_id, start_realtime_ns, tainted, environment, "
			 "blob) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
	db_text(&q, 1, r->key);
	db_int(&q, 2, r->attempt);
	db_int(&q, 3, r->state);
	db_text(&q, 4, r->kernel_release);
	db_text(&q, 5, r->boot_id);
	db_int(&q, 6, (int64_t)r->start_realtime_ns);
	db_int(&q, 7, r->tainted);
	db_int(&q, 8, environment);
	db_blob(&q, 9, blob, len);
	ret = db_run(&q, ret);
	free(blob);
	if (ret < 0)
		return ret;
	return enter_metrics(s, sqlite3_last_insert_rowid(s->db), r);
}

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
	if (ret == 0)
		ret = db_step(&q);
	if (ret > 0)
		ret = !sqlite3_column_int(q.stmt, 0);
	else if (ret == 0)
		ret = err_set(s->err, -ENOENT, "no cell %s in %s", r->key,
			      s->path);
	db_finish(&q);
	return ret;
}

static int keep_result(struct store *s, const Bay__CellResult *r)
{
	bool done = r->state == BAY__CELL_STATE__CELL_DONE;
	Bay__CellState after = BAY__CELL_STATE__CELL_DONE;
	int64_t environment = 0;
	int ret;

	ret = enter_environment(s, r, &environment);
	if (ret == 0)
		ret = enter_result(s, r, environment);
	if (ret == 0)
		ret = end_attempt(s, r->key, r->attempt, r->state,
				  r->error_text);
	if (ret == 0)
		ret = enter_phases(s, r->key, r->attempt, r->phase, r->n_phase);
	if (ret == 0 && !done)
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
