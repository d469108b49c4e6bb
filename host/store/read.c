/* What the journal tells: rows for lists, comparisons and estimates. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/store/db.h"
#include "host/store/store.h"

int store_metrics(struct store *s,
		  int (*fn)(void *arg, const struct store_metric *m), void *arg,
		  struct err *err)
{
	struct db_query q;
	int ret, stop = 0;

	s->err = err;
	ret = db_prepare(
		s, &q,
		"SELECT e.name, c.case_name, c.kernel, r.release, c.repeat, "
		"m.name, m.unit, m.value, r.environment, r.tainted FROM "
		"cell c JOIN "
		"experiment e ON e.id = c.experiment JOIN result r ON r.cell = "
		"c.key AND r.state = ?1 JOIN metric m ON m.result = r.id WHERE "
		"c.state = ?1 ORDER BY c.case_name, r.release, c.repeat, "
		"m.name");
	db_int(&q, 1, BAY__CELL_STATE__CELL_DONE);
	while (ret >= 0 && !stop && (ret = db_step(&q)) > 0) {
		struct store_metric m = {
			.experiment = db_column(&q, 0),
			.case_name = db_column(&q, 1),
			.kernel = db_column(&q, 2),
			.release = db_column(&q, 3),
			.repeat = (unsigned)sqlite3_column_int(q.stmt, 4),
			.name = db_column(&q, 5),
			.unit = db_column(&q, 6),
			.value = sqlite3_column_double(q.stmt, 7),
			.environment = sqlite3_column_int64(q.stmt, 8),
			.tainted = sqlite3_column_int(q.stmt, 9),
		};

		stop = fn(arg, &m);
	}
	db_finish(&q);
	return ret < 0 ? ret : stop;
}

static double double_or_nan(const struct db_query *q, int column)
{
	if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL)
		return NAN;
	return sqlite3_column_double(q->stmt, column);
}

int store_rows(struct store *s, int (*fn)(void *arg, const struct store_row *r),
	       void *arg, struct err *err)
{
	struct db_query q;
	int ret, stop = 0;

	s->err = err;
	ret = db_prepare(
		s, &q,
		"SELECT e.name, c.key, c.case_name, c.kernel, "
		"coalesce(r.release, ''), c.repeat, c.attempts, c.state, "
		"c.error_text, c.in_plan, coalesce(r.id, 0), (SELECT "
		"value FROM metric m WHERE m.result = r.id AND m.name = "
		"'write_bw'), r.tainted FROM cell c JOIN experiment e ON e.id "
		"= "
		"c.experiment LEFT JOIN result r ON r.id = (SELECT max(id) FROM"
		" result WHERE cell = c.key) ORDER BY e.id, c.ord");
	while (ret >= 0 && !stop && (ret = db_step(&q)) > 0) {
		struct store_row r = {
			.experiment = db_column(&q, 0),
			.key = db_column(&q, 1),
			.case_name = db_column(&q, 2),
			.kernel = db_column(&q, 3),
			.release = db_column(&q, 4),
			.repeat = (unsigned)sqlite3_column_int(q.stmt, 5),
			.attempts = (unsigned)sqlite3_column_int(q.stmt, 6),
			.state = (Bay__CellState)sqlite3_column_int(q.stmt, 7),
			.error_text = db_column(&q, 8),
			.in_plan = sqlite3_column_int(q.stmt, 9),
			.result = sqlite3_column_int64(q.stmt, 10),
			.write_bw = double_or_nan(&q, 11),
			.tainted = sqlite3_column_int(q.stmt, 12),
		};

		stop = fn(arg, &r);
	}
	db_finish(&q);
	return ret < 0 ? ret : stop;
}

static int unpack(struct store *s, struct db_query *q, const char *key,
		  Bay__CellResult **out)
{
	const uint8_t *blob = sqlite3_column_blob(q->stmt, 0);
	int len = sqlite3_column_bytes(q->stmt, 0);

	*out = bay__cell_result__unpack(NULL, (size_t)len, blob);
	if (!*out)
		return err_set(s->err, -EBADMSG,
			       "%s: the result of %s is damaged", s->path, key);
	return 0;
}

/* Has key more than one cell that starts with it? */
static int count_keys(struct store *s, const char *key, int *n)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "SELECT count(*) FROM cell WHERE substr(key, 1, "
			 "length(?1)) = ?1");
	db_text(&q, 1, key);
	ret = db_first(&q, ret);
	*n = ret > 0 ? sqlite3_column_int(q.stmt, 0) : 0;
	db_finish(&q);
	return ret < 0 ? ret : 0;
}

int store_get(struct store *s, const char *key, Bay__CellResult **out,
	      struct err *err)
{
	struct db_query q;
	int ret, n;

	s->err = err;
	ret = count_keys(s, key, &n);
	if (ret < 0)
		return ret;
	if (n > 1)
		return err_set(err, -ENOTUNIQ,
			       "%s is the start of %d keys in %s; give more of "
			       "it",
			       key, n, s->path);
	if (!n)
		return err_set(err, -ENOENT,
			       "no cell's key in %s begins with "
			       "'%s'; bay results list shows them",
			       s->path, key);
	ret = db_prepare(s, &q,
			 "SELECT blob FROM result WHERE substr(cell, 1, "
			 "length(?1)) = ?1 ORDER BY id DESC LIMIT 1");
	db_text(&q, 1, key);
	ret = db_first(&q, ret);
	if (ret > 0)
		ret = unpack(s, &q, key, out);
	else if (ret == 0)
		ret = err_set(err, -ENOENT, "cell %s has no result yet", key);
	db_finish(&q);
	return ret;
}

int store_environment(struct store *s, int64_t id,
		      int (*fn)(void *arg, const char *name, const char *value),
		      void *arg, struct err *err)
{
	struct db_query q;
	int ret, stop = 0;

	s->err = err;
	ret = db_prepare(s, &q,
			 "SELECT name, value FROM setting WHERE environment = "
			 "?1 ORDER BY name");
	db_int(&q, 1, id);
	while (ret >= 0 && !stop && (ret = db_step(&q)) > 0)
		stop = fn(arg, db_column(&q, 0), db_column(&q, 1));
	db_finish(&q);
	return ret < 0 ? ret : stop;
}

int store_mean_seconds(struct store *s, double *seconds, struct err *err)
{
	struct db_query q;
	int ret;

	s->err = err;
	*seconds = 0;
	ret = db_prepare(s, &q,
			 "SELECT coalesce(avg(total), 0) FROM (SELECT "
			 "sum(seconds) AS total FROM phase p JOIN attempt a ON "
			 "a.id = p.attempt WHERE a.state = ?1 AND p.phase NOT "
			 "LIKE '%/%' GROUP BY a.id)");
	db_int(&q, 1, BAY__CELL_STATE__CELL_DONE);
	ret = db_first(&q, ret);
	if (ret > 0)
		*seconds = sqlite3_column_double(q.stmt, 0);
	db_finish(&q);
	return ret < 0 ? ret : 0;
}

int store_phases(struct store *s, const char *experiment,
		 int (*fn)(void *arg, const char *phase, double mean_s,
			   unsigned n),
		 void *arg, struct err *err)
{
	struct db_query q;
	int ret, stop = 0;

	s->err = err;
	ret = db_prepare(
		s, &q,
		"SELECT p.phase, avg(p.seconds), count(*) FROM phase p"
		" JOIN attempt a ON a.id = p.attempt JOIN cell c ON "
		"c.key = a.cell JOIN experiment e ON e.id = "
		"c.experiment WHERE e.name = ?1 AND a.state = ?2 GROUP "
		"BY p.phase ORDER BY avg(p.ord)");
	db_text(&q, 1, experiment);
	db_int(&q, 2, BAY__CELL_STATE__CELL_DONE);
	while (ret >= 0 && !stop && (ret = db_step(&q)) > 0)
		stop = fn(arg, db_column(&q, 0),
			  sqlite3_column_double(q.stmt, 1),
			  (unsigned)sqlite3_column_int(q.stmt, 2));
	db_finish(&q);
	return ret < 0 ? ret : stop;
}
