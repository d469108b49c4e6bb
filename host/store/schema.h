/* host/store/schema.h - the tables of a journal. PRAGMA user_version is
 * STORE_SCHEMA, PRAGMA application_id is STORE_APPLICATION_ID. */
#ifndef HOST_STORE_SCHEMA_H
#define HOST_STORE_SCHEMA_H

#define STORE_APPLICATION_ID 0x42415931 /* "BAY1" */

static const char store_schema_sql[] =
	"CREATE TABLE experiment ("
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" bench TEXT NOT NULL, matrix TEXT NOT NULL,"
	" created_ns INTEGER NOT NULL);"
	/* state, and every other enum: as in result.proto */
	"CREATE TABLE cell ("
	" key TEXT PRIMARY KEY,"
	" experiment INTEGER NOT NULL REFERENCES experiment(id),"
	" case_name TEXT NOT NULL, repeat INTEGER NOT NULL,"
	" kernel TEXT NOT NULL, ord INTEGER NOT NULL,"
	" in_plan INTEGER NOT NULL, state INTEGER NOT NULL,"
	" attempts INTEGER NOT NULL, error_text TEXT NOT NULL,"
	" cell BLOB NOT NULL) WITHOUT ROWID;"
	"CREATE INDEX cell_experiment ON cell(experiment, ord);"
	"CREATE TABLE attempt ("
	" id INTEGER PRIMARY KEY, cell TEXT NOT NULL REFERENCES cell(key),"
	" n INTEGER NOT NULL, state INTEGER NOT NULL,"
	" counts INTEGER NOT NULL, boot TEXT NOT NULL,"
	" started_ns INTEGER NOT NULL, ended_ns INTEGER,"
	" error_text TEXT NOT NULL, UNIQUE(cell, n));"
	/* One row a distinct state of the machine. */
	"CREATE TABLE environment ("
	" id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE);"
	"CREATE TABLE setting ("
	" environment INTEGER NOT NULL REFERENCES environment(id),"
	" name TEXT NOT NULL, value TEXT NOT NULL,"
	" PRIMARY KEY(environment, name)) WITHOUT ROWID;"
	"CREATE TABLE result ("
	" id INTEGER PRIMARY KEY, cell TEXT NOT NULL REFERENCES cell(key),"
	" attempt INTEGER NOT NULL, state INTEGER NOT NULL,"
	" release TEXT NOT NULL, boot_id TEXT NOT NULL,"
	" start_realtime_ns INTEGER NOT NULL, tainted INTEGER NOT NULL,"
	" environment INTEGER NOT NULL REFERENCES environment(id),"
	" blob BLOB NOT NULL, UNIQUE(cell, attempt));"
	"CREATE TABLE metric ("
	" result INTEGER NOT NULL REFERENCES result(id),"
	" name TEXT NOT NULL, value REAL NOT NULL, unit TEXT NOT NULL,"
	" PRIMARY KEY(result, name)) WITHOUT ROWID;"
	"CREATE TABLE phase ("
	" attempt INTEGER NOT NULL REFERENCES attempt(id),"
	" ord INTEGER NOT NULL, phase TEXT NOT NULL, seconds REAL NOT NULL,"
	" PRIMARY KEY(attempt, ord)) WITHOUT ROWID;";

#endif
