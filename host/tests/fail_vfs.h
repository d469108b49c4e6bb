/* host/tests/fail_vfs.h - an SQLite VFS on top of the default one that lets
 * the n-th change of a file fail, or ends the process there. */
#ifndef HOST_TESTS_FAIL_VFS_H
#define HOST_TESTS_FAIL_VFS_H

#include <stdbool.h>

enum fail_how {
	FAIL_ONCE,  /* SQLITE_IOERR, then all is well */
	FAIL_FULL,  /* SQLITE_FULL from there on */
	FAIL_DEATH, /* _exit(FAIL_DEATH_CODE): what kill -9 leaves */
};
#define FAIL_DEATH_CODE 99

#define FAIL_VFS_NAME "fail"

void fail_vfs_register(void);
/* Let the n-th write, sync, truncate or create from now on fail; 0 = none. */
void fail_vfs_arm(unsigned n, enum fail_how how);
/* Did it come to that? */
bool fail_vfs_fired(void);

#endif
