#include "host/tests/fail_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fail_file {
	sqlite3_file base;
	sqlite3_file *real; /* behind this struct */
};

/* One VFS a process: SQLite registers them globally, too. */
static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	unsigned left;
	enum fail_how how;
	bool fired;
} fv;

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct fail_file *)f)->real;
}

static int change(void)
{
	if (fv.fired && fv.how == FAIL_FULL)
		return SQLITE_FULL;
	if (!fv.left || --fv.left)
		return SQLITE_OK;
	fv.fired = true;
	if (fv.how == FAIL_DEATH)
		_exit(FAIL_DEATH_CODE);
	return fv.how == FAIL_FULL ? SQLITE_FULL : SQLITE_IOERR;
}

static int f_close(sqlite3_file *f)
{
	sqlite3_file *r = real_of(f);

	return r->pMethods ? r->pMethods->xClose(r) : SQLITE_OK;
}

static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	int rc = change();

	return rc ? rc : real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = change();

	return rc ? rc : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

/* Not passed on: no test cuts the power of this machine. */
static int f_sync(sqlite3_file *f, int flags)
{
	(void)f;
	(void)flags;
	return change();
}

static int f_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int f_lock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int f_unlock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int f_reserved(sqlite3_file *f, int *out)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int f_control(sqlite3_file *f, int op, void *arg)
{
	return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int f_sector(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int f_traits(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int f_shm_map(sqlite3_file *f, int page, int size, int extend,
		     void volatile **p)
{
	return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, p);
}

static int f_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void f_shm_barrier(sqlite3_file *f)
{
	real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int f_shm_unmap(sqlite3_file *f, int del)
{
	return real_of(f)->pMethods->xShmUnmap(real_of(f), del);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = f_close,
	.xRead = f_read,
	.xWrite = f_write,
	.xTruncate = f_truncate,
	.xSync = f_sync,
	.xFileSize = f_size,
	.xLock = f_lock,
	.xUnlock = f_unlock,
	.xCheckReservedLock = f_reserved,
	.xFileControl = f_control,
	.xSectorSize = f_sector,
	.xDeviceCharacteristics = f_traits,
	.xShmMap = f_shm_map,
	.xShmLock = f_shm_lock,
	.xShmBarrier = f_shm_barrier,
	.xShmUnmap = f_shm_unmap,
};

static int v_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f,
		  int flags, int *out_flags)
{
	struct fail_file *ff = (struct fail_file *)f;
	int rc;

	(void)vfs;
	memset(ff, 0, sizeof(*ff));
	ff->real = (sqlite3_file *)(ff + 1);
	if (flags & SQLITE_OPEN_CREATE) {
		rc = change();
		if (rc)
			return rc == SQLITE_FULL ? rc : SQLITE_CANTOPEN;
	}
	rc = fv.real->xOpen(fv.real, name, ff->real, flags, out_flags);
	if (rc == SQLITE_OK)
		ff->base.pMethods = &methods;
	return rc;
}

void fail_vfs_register(void)
{
	if (fv.real)
		return;
	fv.real = sqlite3_vfs_find(NULL);
	fv.vfs = *fv.real;
	fv.vfs.zName = FAIL_VFS_NAME;
	fv.vfs.pNext = NULL;
	fv.vfs.szOsFile = (int)sizeof(struct fail_file) + fv.real->szOsFile;
	fv.vfs.xOpen = v_open;
	sqlite3_vfs_register(&fv.vfs, 0);
}

void fail_vfs_arm(unsigned n, enum fail_how how)
{
	fv.left = n;
	fv.how = how;
	fv.fired = false;
}

bool fail_vfs_fired(void)
{
	return fv.fired;
}
