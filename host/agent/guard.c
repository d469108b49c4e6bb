#include "host/agent/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/util/parse.h"

static void guard_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void guard_close(struct guard *g)
{
	guard_close_fd(&g->fd);
	guard_close_fd(&g->pin_fd);
}

void guard_close_all(struct guard *g, size_t count)
{
	for (size_t i = 0; i < count; i++)
		guard_close(&g[i]);
}

static int guard_find(struct guard *g, const struct agent *a, struct err *err)
{
	char by[600];
	int rc;

	if (!agent_allows(a, g->serial))
		return err_set(
			err, -EPERM,
			"disk %s is not on the bench's list of disks, so "
			"nothing was done; add it to bench.yaml if it is "
			"meant",
			g->serial);
	rc = disk_find(a->cfg.root, g->serial, &g->disk, err);
	if (rc)
		return rc;
	rc = disk_in_use(a->cfg.root, &g->disk, "", by, sizeof(by));
	if (rc)
		return err_sys(err, rc, "cannot tell whether disk %s is in use",
			       g->serial);
	if (by[0])
		return err_set(err, -EPERM,
			       "disk %s is in use (%s), so nothing was done; "
			       "unmount or stop that first",
			       g->serial, by);
	if (g->disk.read_only)
		return err_set(err, -EPERM, "disk %s is read-only", g->serial);
	return disk_path(a->cfg.root, &g->disk, g->path);
}

static int guard_claim(struct guard *g, struct err *err)
{
	g->fd = open(g->path, O_RDWR | O_EXCL | O_CLOEXEC);
	if (g->fd < 0 && errno == EBUSY)
		return err_set(err, -EPERM,
			       "disk %s is held by another program or device, "
			       "so nothing was done; find it with lsof %s",
			       g->serial, g->path);
	if (g->fd < 0)
		return err_sys(err, -errno, "disk %s cannot be opened",
			       g->serial);
	g->pin_fd = open(g->path, O_RDONLY | O_CLOEXEC);
	if (g->pin_fd < 0)
		return err_sys(err, -errno, "disk %s cannot be opened",
			       g->serial);
	return 0;
}

static int guard_foreign(const struct guard *g, const struct probe_sig *s,
			 struct err *err)
{
	return err_set(err, -EPERM,
		       "disk %s (%s now) carries a %s signature%s%s%s that bay "
		       "did not write, so nothing was done; save what you need "
		       "and run wipefs --all on it",
		       g->serial, g->disk.name, s->type,
		       s->label[0] ? " with label \"" : "", s->label,
		       s->label[0] ? "\"" : "");
}

static int guard_judge(struct guard *g, struct err *err)
{
	int rc = probe_read(g->fd, &g->sigs, err);

	for (size_t i = 0; !rc && i < g->sigs.count; i++) {
		if (!g->sigs.sig[i].ours)
			return guard_foreign(g, &g->sigs.sig[i], err);
	}
	g->ours = !rc && g->sigs.count > 0;
	return rc;
}

/* All but the signatures. */
static int guard_take(struct guard *g, const struct agent *a,
		      const char *serial, struct err *err)
{
	int rc;

	*g = (struct guard){ .fd = -1, .pin_fd = -1 };
	if (!str_copy(g->serial, sizeof(g->serial), serial))
		return err_set(err, -EINVAL, "serial \"%.40s...\" is too long",
			       serial);
	rc = guard_find(g, a, err);
	if (!rc)
		rc = guard_claim(g, err);
	if (!rc)
		rc = guard_verify(g, a, err);
	if (rc)
		guard_close(g);
	return rc;
}

int guard_open(struct guard *g, const struct agent *a, const char *serial,
	       struct err *err)
{
	char *serials[] = { (char *)(uintptr_t)serial };

	return guard_open_all(g, a, serials, 1, err);
}

int guard_open_all(struct guard *g, const struct agent *a, char *const *serials,
		   size_t count, struct err *err)
{
	size_t taken = 0;
	int rc = 0;

	while (!rc && taken < count) {
		rc = guard_take(&g[taken], a, serials[taken], err);
		if (!rc)
			probe_prefetch(g[taken++].fd);
	}
	for (size_t i = 0; !rc && i < count; i++)
		rc = guard_judge(&g[i], err);
	if (rc)
		guard_close_all(g, taken);
	return rc;
}

/* Kernel name of an open block device by its number. A fixture's node is a
 * regular file: there the file's name is the kernel's. */
static int guard_node_name(const struct guard *g, const struct agent *a, int fd,
			   char *name, size_t size)
{
	char path[FS_PATH_BYTES];
	char target[FS_PATH_BYTES];
	struct stat st;
	char *slash;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) && a->cfg.root[0])
		return str_copy(name, size, g->disk.name) ? 0 : -ENAMETOOLONG;
	if (!S_ISBLK(st.st_mode))
		return -ENOTBLK;
	(void)fs_path(path, "%s/sys/dev/block/%u:%u", a->cfg.root,
		      major(st.st_rdev), minor(st.st_rdev));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	slash = strrchr(target, '/');
	return slash && str_copy(name, size, slash + 1) ? 0 : -ENODEV;
}

int guard_verify(const struct guard *g, const struct agent *a, struct err *err)
{
	int fd = g->fd >= 0 ? g->fd : g->pin_fd;
	char name[32];
	int rc = guard_node_name(g, a, fd, name, sizeof(name));

	if (rc)
		return err_sys(err, rc,
			       "disk %s went away while it was being prepared",
			       g->serial);
	if (disk_is(a->cfg.root, name, g->serial))
		return 0;
	return err_set(err, -EPERM,
		       "%s is not disk %s any more, so nothing was done; check "
		       "its cable and power and try again",
		       name, g->serial);
}

int guard_wipe(struct guard *g, const struct agent *a, struct err *err)
{
	struct err detail = { 0 };
	int rc = guard_verify(g, a, err);

	if (rc || !g->ours)
		return rc;
	rc = probe_wipe_ours(g->fd, &detail);
	if (rc)
		return err_set(err, rc, "disk %s: %s", g->serial, detail.text);
	g->ours = false;
	return 0;
}

int guard_hand_over(struct guard *g, const struct agent *a, struct err *err)
{
	int rc = guard_verify(g, a, err);

	if (!rc)
		guard_close_fd(&g->fd);
	return rc;
}
