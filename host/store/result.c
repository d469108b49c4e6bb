#include "host/store/result.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/store/db.h"

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
	ret = db_first(&q, ret);
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

int result_enter(struct store *s, const Bay__CellResult *r)
{
	int64_t environment = 0;
	int ret = enter_environment(s, r, &environment);

	return ret < 0 ? ret : enter_result(s, r, environment);
}
