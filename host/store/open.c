/* A journal's file: made, recognised, or refused. */
#include "host/store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/store/db.h"
#include "host/store/schema.h"

#define BUSY_MS 10000

static int user_version(struct store *s, int *version, int *application)
{
	struct db_query q;
	int ret;

	ret = db_prepare(s, &q,
			 "SELECT user_version, application_id FROM "
			 "pragma_user_version, pragma_application_id");
	ret = db_first(&q, ret);
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
	ret = db_first(&q, ret);
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
	struct stat st;
	struct store *s;
	int rc, ret;

	if (!*path)
		return err_set(err, -EINVAL,
			       "the results need a file, its name is empty");
	rc = stat(path, &st);
	if (rc < 0 && mode == STORE_READ)
		return err_sys(err, -errno, "no results in %s", path);
	if (rc == 0 && S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR,
			       "%s is a folder; results are kept in a file",
			       path);
	if (rc == 0 && !S_ISREG(st.st_mode))
		return err_set(
			err, -EINVAL,
			"%s is a pipe or a device; results are kept in a "
			"file",
			path);
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
