/* Inventory, and waiting for disks to come or go. */
#include "host/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/agent/disk.h"
#include "host/agent/probe.h"
#include "host/util/clock.h"

#define INVENTORY_WAIT_MAX_MS 600000u
#define INVENTORY_POLL_MS     250 /* should an uevent be missed */

/* -1: cannot be opened, so nothing can be said of its signatures. */
static int inventory_open(const struct agent *a, const struct disk *d)
{
	char path[FS_PATH_BYTES];
	int fd = -1;

	if (disk_path(a->cfg.root, d, path) == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		probe_prefetch(fd);
	return fd;
}

static void inventory_signatures(int fd, struct arena *arena,
				 Bay__BlockDev *dev)
{
	struct probe_result found;

	if (probe_read(fd, &found, NULL) == 0 && found.count) {
		dev->signature = arena_array(arena, found.count,
					     sizeof(*dev->signature));
		for (size_t i = 0; i < found.count; i++) {
			const struct probe_sig *s = &found.sig[i];
			Bay__Signature *w = arena_alloc(arena, sizeof(*w));

			bay__signature__init(w);
			w->type = arena_strdup(arena, s->type);
			w->usage = arena_strdup(arena, s->usage);
			w->offset_bytes = s->offset_bytes;
			w->label = arena_strdup(arena, s->label);
			w->uuid = arena_strdup(arena, s->uuid);
			w->ours = s->ours;
			dev->signature[dev->n_signature++] = w;
		}
	}
}

static Bay__BlockDev *inventory_dev(const struct agent *a, const struct disk *d,
				    struct arena *arena)
{
	Bay__BlockDev *dev = arena_alloc(arena, sizeof(*dev));
	char by[600] = "";

	bay__block_dev__init(dev);
	dev->serial = arena_strdup(arena, d->serial);
	dev->wwn = arena_strdup(arena, d->wwn);
	dev->name = arena_strdup(arena, d->name);
	dev->model = arena_strdup(arena, d->model);
	dev->size_bytes = d->size_bytes;
	dev->logical_block_bytes = d->logical_block_bytes;
	dev->physical_block_bytes = d->physical_block_bytes;
	dev->rotational = d->rotational;
	dev->write_cache = arena_strdup(arena, d->write_cache);
	dev->fua = d->fua;
	dev->read_only = d->read_only;
	dev->allowed = agent_allows(a, d->serial) || agent_allows(a, d->wwn);
	(void)disk_in_use(a->cfg.root, d, "", by, sizeof(by));
	dev->in_use = by[0] != '\0';
	dev->in_use_by = arena_strdup(arena, by);
	return dev;
}

static bool inventory_wanted(const Bay__InventoryReq *req, const struct disk *d)
{
	for (size_t i = 0; i < req->n_serial; i++) {
		if (disk_has_id(d, req->serial[i]))
			return true;
	}
	return req->n_serial == 0;
}

int svc_inventory(struct call *call)
{
	const struct agent *a = call->agent;
	Bay__Inventory *inv = arena_alloc(call->arena, sizeof(*inv));
	struct disk *list = NULL;
	size_t count = 0;
	int *fd;
	int rc = disk_scan(a->cfg.root, &list, &count);

	if (rc)
		return err_sys(&call->err, rc, "cannot list the disks");
	bay__inventory__init(inv);
	inv->dev = arena_array(call->arena, count + 1, sizeof(*inv->dev));
	fd = arena_array(call->arena, count + 1, sizeof(*fd));
	for (size_t i = 0; i < count; i++) {
		if (!inventory_wanted(call->req->inventory, &list[i]))
			continue;
		/* All are opened first: their reads run side by side. */
		fd[inv->n_dev] = inventory_open(a, &list[i]);
		inv->dev[inv->n_dev++] =
			inventory_dev(a, &list[i], call->arena);
	}
	for (size_t i = 0; i < inv->n_dev; i++) {
		if (fd[i] < 0)
			continue;
		inventory_signatures(fd[i], call->arena, inv->dev[i]);
		close(fd[i]);
	}
	free(list);
	call->reply->body_case = BAY__REPLY__BODY_INVENTORY;
	call->reply->inventory = inv;
	return 0;
}

/* The kernel's own uevents: no udev needed. -1: only polling then. */
static int wait_open_uevents(void)
{
	const struct sockaddr_nl addr = { .nl_family = AF_NETLINK,
					  .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 &&
	    bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void wait_drain(int fd)
{
	char part[4096];

	while (fd >= 0 && recv(fd, part, sizeof(part), MSG_DONTWAIT) > 0)
		;
}

/* First disk whose presence is not what is wanted; NULL: all are. */
static const char *wait_first_wrong(const struct agent *a,
				    const Bay__WaitDisksReq *w)
{
	for (size_t i = 0; i < w->n_serial; i++) {
		struct disk d = { 0 };
		char path[FS_PATH_BYTES];
		bool there = disk_find(a->cfg.root, w->serial[i], &d, NULL) !=
			     -ENODEV;

		/* Its node follows sysfs by a moment. */
		if (there && !w->gone && d.size_bytes == 0)
			there = false;
		if (there && !w->gone &&
		    (disk_path(a->cfg.root, &d, path) || !fs_exists(path)))
			there = false;
		if (there == w->gone)
			return w->serial[i];
	}
	return NULL;
}

static int wait_loop(struct call *call, const Bay__WaitDisksReq *w, int fd)
{
	struct deadline end = deadline_in_ms(w->timeout_ms);
	const char *wrong;

	while ((wrong = wait_first_wrong(call->agent, w))) {
		struct pollfd p[2] = { { call->agent->cancel_fd, POLLIN, 0 },
				       { fd, POLLIN, 0 } };
		int left = deadline_poll_ms(end);

		if (left == 0)
			return err_set(&call->err, -ETIMEDOUT,
				       "disk %s did not %s within %u ms; check "
				       "its serial number, slot and power",
				       wrong, w->gone ? "go away" : "appear",
				       w->timeout_ms);
		(void)poll(p, 2,
			   left < INVENTORY_POLL_MS ? left : INVENTORY_POLL_MS);
		if (p[0].revents)
			return err_set(&call->err, -ECANCELED,
				       "the wait for disk %s was cancelled",
				       wrong);
		wait_drain(fd);
	}
	return 0;
}

int svc_wait_disks(struct call *call)
{
	const Bay__WaitDisksReq *w = call->req->wait_disks;
	int fd;
	int rc;

	if (w->timeout_ms < 1 || w->timeout_ms > INVENTORY_WAIT_MAX_MS)
		return err_set(&call->err, -EINVAL,
			       "timeout_ms %u is not from 1 to %u",
			       w->timeout_ms, INVENTORY_WAIT_MAX_MS);
	fd = wait_open_uevents();
	rc = wait_loop(call, w, fd);
	if (fd >= 0)
		close(fd);
	return rc;
}
