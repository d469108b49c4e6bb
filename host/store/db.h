/* host/store/db.h - SQLite with our errors; inside host/store only. */
#ifndef HOST_STORE_DB_H
#define HOST_STORE_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/err.h"

struct store {
	sqlite3 *db;
	char *path;
	struct err *err; /* of the call that runs */
};

struct db_query {
	struct store *s;
	sqlite3_stmt *stmt; /* NULL after a failed prepare; all take it */
};

/* -errno of an SQLite code, with the sentence stored. The only place where
 * these codes are translated. */
int db_error(struct store *s, int rc);

int db_exec(struct store *s, const char *sql);
int db_prepare(struct store *s, struct db_query *q, const char *sql);
void db_text(struct db_query *q, int at, const char *value);
void db_int(struct db_query *q, int at, int64_t value);
void db_real(struct db_query *q, int at, double value);
void db_blob(struct db_query *q, int at, const void *data, size_t len);
/* 1: a row; 0: no more; or an error. */
int db_step(struct db_query *q);
/* The first step, unless ret is an error already. */
int db_first(struct db_query *q, int ret);
void db_finish(struct db_query *q);
/* Run to the end and finish, unless ret is an error already. 0 or an error. */
int db_run(struct db_query *q, int ret);
const char *db_column(struct db_query *q, int at);

/* A write transaction: db_end() commits on ret = 0, else rolls back and
 * returns ret. */
int db_begin(struct store *s);
int db_end(struct store *s, int ret);

#endif
