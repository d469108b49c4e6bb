#include "host/store/db.h"

#include <errno.h>

int db_error(struct store *s, int rc)
{
	static const struct {
		int rc, code;
	} map[] = {
		{ SQLITE_FULL, -ENOSPC },       { SQLITE_NOMEM, -ENOMEM },
		{ SQLITE_BUSY, -EBUSY },        { SQLITE_LOCKED, -EBUSY },
		{ SQLITE_READONLY, -EROFS },    { SQLITE_CANTOPEN, -EACCES },
		{ SQLITE_NOTADB, -EBADMSG },    { SQLITE_CORRUPT, -EBADMSG },
		{ SQLITE_CONSTRAINT, -EINVAL }, { SQLITE_PERM, -EACCES },
		{ SQLITE_AUTH, -EACCES },
	};
	int os = s->db ? sqlite3_system_errno(s->db) : 0;
	int code = -EIO;
	size_t i;

	for (i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (map[i].rc == (rc & 0xff))
			code = map[i].code;
	if ((rc & 0xff) == SQLITE_IOERR && (os == ENOSPC || os == EDQUOT))
		code = -ENOSPC;
	if (code == -ENOSPC)
		return err_set(s->err, code,
			       "no space left for %s; free some and use "
			       "--resume, nothing is lost",
			       s->path);
	if ((rc & 0xff) == SQLITE_NOTADB)
		return err_set(s->err, code, "%s is not a journal of bay",
			       s->path);
	if ((rc & 0xff) == SQLITE_CANTOPEN && os)
		return err_sys(s->err, -os, "cannot open %s", s->path);
	return err_set(s->err, code, "%s: %s", s->path,
		       s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
}

int db_exec(struct store *s, const char *sql)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_error(s, rc);
}

int db_prepare(struct store *s, struct db_query *q, const char *sql)
{
	int rc;

	q->s = s;
	q->stmt = NULL;
	rc = sqlite3_prepare_v2(s->db, sql, -1, &q->stmt, NULL);
	return rc == SQLITE_OK ? 0 : db_error(s, rc);
}

/* A value that cannot be bound (out of memory) leaves NULL there, which NOT
 * NULL columns then refuse. */
void db_text(struct db_query *q, int at, const char *value)
{
	if (q->stmt)
		sqlite3_bind_text(q->stmt, at, value, -1, SQLITE_TRANSIENT);
}

void db_int(struct db_query *q, int at, int64_t value)
{
	if (q->stmt)
		sqlite3_bind_int64(q->stmt, at, value);
}

void db_real(struct db_query *q, int at, double value)
{
	if (q->stmt)
		sqlite3_bind_double(q->stmt, at, value);
}

void db_blob(struct db_query *q, int at, const void *data, size_t len)
{
	if (q->stmt)
		sqlite3_bind_blob64(q->stmt, at, data, len, SQLITE_STATIC);
}

int db_step(struct db_query *q)
{
	int rc = sqlite3_step(q->stmt);

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : db_error(q->s, rc);
}

int db_first(struct db_query *q, int ret)
{
	return ret < 0 ? ret : db_step(q);
}

void db_finish(struct db_query *q)
{
	sqlite3_finalize(q->stmt);
	q->stmt = NULL;
}

int db_run(struct db_query *q, int ret)
{
	while (ret >= 0 && (ret = db_step(q)) > 0)
		;
	db_finish(q);
	return ret;
}

const char *db_column(struct db_query *q, int at)
{
	const char *s = (const char *)sqlite3_column_text(q->stmt, at);

	return s ? s : "";
}

int db_begin(struct store *s)
{
	return db_exec(s, "BEGIN IMMEDIATE");
}

int db_end(struct store *s, int ret)
{
	struct err *err = s->err;

	if (ret == 0)
		ret = db_exec(s, "COMMIT");
	if (ret < 0) {
		/* Its own error must not hide the first. */
		s->err = NULL;
		if (!sqlite3_get_autocommit(s->db))
			db_exec(s, "ROLLBACK");
		s->err = err;
	}
	return ret;
}
