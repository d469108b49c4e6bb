#include "host/agent/disk.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/agent/mounts.h"
#include "host/util/parse.h"

#define DISK_VPD_HEADER 4u
#define DISK_VPD_MAX    1024u

/* Kinds of block device that are never a member disk. */
static const char *const disk_skip[] = { "loop", "ram", "zram", "md",
					 "dm-",  "sr",  "fd",   "nbd" };

static bool disk_skipped(const char *name)
{
	for (size_t i = 0; i < sizeof(disk_skip) / sizeof(*disk_skip); i++) {
		if (str_starts(name, disk_skip[i]))
			return true;
	}
	return name[0] == '.';
}

static int disk_attr(const char *root, const char *name, const char *attr,
		     char *text, size_t size)
{
	char path[FS_PATH_BYTES];
	int rc = fs_path(path, "%s/sys/block/%s/%s", root, name, attr);

	text[0] = '\0';
	return rc ? rc : fs_read_line(path, text, size);
}

static uint64_t disk_attr_u64(const char *root, const char *name,
			      const char *attr)
{
	char text[32];
	uint64_t v = 0;

	if (disk_attr(root, name, attr, text, sizeof(text)) ||
	    parse_u64(text, &v))
		return 0;
	return v;
}

/* SCSI VPD page 0x80 (SPC-4 7.8.15): byte 1 page code, bytes 2..3 length,
 * then the serial in ASCII, padded with blanks. libata makes this page from
 * IDENTIFY DEVICE, so it covers ATA disks too. */
static int disk_vpd80(const char *root, const char *name, char *serial,
		      size_t size)
{
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	size_t len;
	int rc = fs_path(path, "%s/sys/block/%s/device/vpd_pg80", root, name);

	if (!rc)
		rc = fs_read(path, DISK_VPD_MAX, &b);
	if (!rc && (b.len < DISK_VPD_HEADER || (uint8_t)b.data[1] != 0x80))
		rc = -EBADMSG;
	if (!rc) {
		len = (size_t)(uint8_t)b.data[2] << 8 | (uint8_t)b.data[3];
		if (len > b.len - DISK_VPD_HEADER)
			len = b.len - DISK_VPD_HEADER;
		b.data[DISK_VPD_HEADER + len] = '\0';
		if (!str_copy(serial, size, str_trim(b.data + DISK_VPD_HEADER)))
			rc = -EMSGSIZE;
	}
	buf_free(&b);
	return rc;
}

/* Bridges that hide page 0x80 from the kernel: udev may have asked the disk
 * itself. Its database has a line E:ID_SERIAL_SHORT=... */
static int disk_udev_serial(const char *root, const struct disk *d,
			    char *serial, size_t size)
{
	static const char key[] = "\nE:ID_SERIAL_SHORT=";
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	char *p;
	int rc = fs_path(path, "%s/run/udev/data/b%u:%u", root, d->major,
			 d->minor);

	if (!rc)
		rc = fs_read(path, 65536, &b);
	p = rc ? NULL : strstr(buf_str(&b), key);
	if (!rc && !p)
		rc = -ENOENT;
	if (!rc) {
		p += strlen(key);
		p[strcspn(p, "\n")] = '\0';
		if (!str_copy(serial, size, p))
			rc = -EMSGSIZE;
	}
	buf_free(&b);
	return rc;
}

/* An identity is printable and has no blanks inside that could be confused. */
static bool disk_id_ok(const char *id)
{
	if (!*id)
		return false;
	for (; *id; id++) {
		if (!isprint((unsigned char)*id))
			return false;
	}
	return true;
}

static void disk_read_serial(const char *root, struct disk *d)
{
	char *s = d->serial;
	size_t size = sizeof(d->serial);

	if (disk_vpd80(root, d->name, s, size) == 0 && disk_id_ok(s))
		return;
	/* virtio-blk, then NVMe and MMC */
	if (disk_attr(root, d->name, "serial", s, size) == 0 && disk_id_ok(s))
		return;
	if (disk_attr(root, d->name, "device/serial", s, size) == 0 &&
	    disk_id_ok(s))
		return;
	if (disk_udev_serial(root, d, s, size) == 0 && disk_id_ok(s))
		return;
	s[0] = '\0';
}

static void disk_read_wwn(const char *root, struct disk *d)
{
	size_t size = sizeof(d->wwn);

	if (disk_attr(root, d->name, "wwid", d->wwn, size) == 0 &&
	    disk_id_ok(d->wwn))
		return;
	if (disk_attr(root, d->name, "device/wwid", d->wwn, size) == 0 &&
	    disk_id_ok(d->wwn))
		return;
	d->wwn[0] = '\0';
}

static void disk_read_devno(const char *root, struct disk *d)
{
	char text[32];

	if (disk_attr(root, d->name, "dev", text, sizeof(text)) ||
	    sscanf(text, "%u:%u", &d->major, &d->minor) != 2)
		d->major = d->minor = 0;
}

/* False: no identity. */
static bool disk_read_id(const char *root, const char *name, struct disk *d)
{
	*d = (struct disk){ 0 };
	if (!str_copy(d->name, sizeof(d->name), name))
		return false;
	disk_read_devno(root, d);
	disk_read_serial(root, d);
	disk_read_wwn(root, d);
	return d->serial[0] || d->wwn[0];
}

static void disk_read_rest(const char *root, struct disk *d)
{
	const char *n = d->name;

	/* The size attribute counts units of 512 bytes on every disk. */
	d->size_bytes = disk_attr_u64(root, n, "size") * 512;
	d->logical_block_bytes =
		(uint32_t)disk_attr_u64(root, n, "queue/logical_block_size");
	d->physical_block_bytes =
		(uint32_t)disk_attr_u64(root, n, "queue/physical_block_size");
	d->rotational = disk_attr_u64(root, n, "queue/rotational") != 0;
	d->fua = disk_attr_u64(root, n, "queue/fua") != 0;
	d->read_only = disk_attr_u64(root, n, "ro") != 0;
	(void)disk_attr(root, n, "queue/write_cache", d->write_cache,
			sizeof(d->write_cache));
	(void)disk_attr(root, n, "device/model", d->model, sizeof(d->model));
}

static int disk_by_name(const void *a, const void *b)
{
	return strcmp(((const struct disk *)a)->name,
		      ((const struct disk *)b)->name);
}

static int disk_push(struct disk **list, size_t *count, const struct disk *d)
{
	struct disk *grown = reallocarray(*list, *count + 1, sizeof(**list));

	if (!grown)
		return -ENOMEM;
	grown[(*count)++] = *d;
	*list = grown;
	return 0;
}

static int disk_scan_ids(const char *root, struct disk **out, size_t *count)
{
	char path[FS_PATH_BYTES];
	struct dirent *e;
	DIR *dir;
	int rc = fs_path(path, "%s/sys/block", root);

	*out = NULL;
	*count = 0;
	if (rc)
		return rc;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!rc && (e = readdir(dir))) {
		struct disk d;

		if (!disk_skipped(e->d_name) &&
		    disk_read_id(root, e->d_name, &d))
			rc = disk_push(out, count, &d);
	}
	closedir(dir);
	if (*count)
		qsort(*out, *count, sizeof(**out), disk_by_name);
	return rc;
}

int disk_scan(const char *root, struct disk **out, size_t *count)
{
	int rc = disk_scan_ids(root, out, count);

	for (size_t i = 0; !rc && i < *count; i++)
		disk_read_rest(root, &(*out)[i]);
	return rc;
}

bool disk_has_id(const struct disk *disk, const char *id)
{
	if (!*id)
		return false;
	return strcmp(disk->serial, id) == 0 || strcmp(disk->wwn, id) == 0;
}

int disk_find(const char *root, const char *id, struct disk *out,
	      struct err *err)
{
	struct disk *list = NULL;
	size_t count = 0;
	size_t hits = 0;
	int rc = disk_scan_ids(root, &list, &count);

	for (size_t i = 0; !rc && i < count; i++) {
		if (disk_has_id(&list[i], id) && ++hits == 1)
			*out = list[i];
	}
	free(list);
	if (rc)
		return err_sys(err, rc, "cannot list the disks");
	if (hits == 0)
		return err_set(err, -ENODEV,
			       "disk %s is not there; check its power, its "
			       "cable and the serial in bench.yaml",
			       id);
	if (hits > 1)
		return err_set(err, -ENOTUNIQ,
			       "%zu devices answer to serial %s; use their WWN",
			       hits, id);
	disk_read_rest(root, out);
	return 0;
}

bool disk_is(const char *root, const char *name, const char *id)
{
	struct disk d;

	return disk_read_id(root, name, &d) && disk_has_id(&d, id);
}

int disk_path(const char *root, const struct disk *disk,
	      char path[FS_PATH_BYTES])
{
	return fs_path(path, "%s/dev/%s", root, disk->name);
}

/* First entry of a holders folder that is not allow. */
static bool disk_first_holder(const char *folder, const char *allow,
			      char *holder, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	bool found = false;

	holder[0] = '\0';
	while (dir && !found && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || strcmp(e->d_name, allow) == 0)
			continue;
		found = str_copy(holder, size, e->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

void disk_md_holder(const char *root, const char *name, char *md, size_t size)
{
	char path[FS_PATH_BYTES];

	md[0] = '\0';
	if (fs_path(path, "%s/sys/block/%s/holders", root, name) == 0)
		(void)disk_first_holder(path, "", md, size);
	if (!str_starts(md, "md"))
		md[0] = '\0';
}

/* One node: the disk itself (part = "") or a partition of it. */
static int disk_node_in_use(const char *root, const struct disk *disk,
			    const char *part, const char *allow_holder,
			    char *by, size_t size)
{
	const char *node = *part ? part : disk->name;
	char path[FS_PATH_BYTES];
	char holder[64];
	int rc = fs_path(path, "%s/sys/block/%s%s%s/holders", root, disk->name,
			 *part ? "/" : "", part);

	if (rc)
		return rc;
	if (disk_first_holder(path, allow_holder, holder, sizeof(holder))) {
		(void)snprintf(by, size, "%s is held by %s", node, holder);
		return 0;
	}
	return mounts_user_of(root, disk->name, part, by, size);
}

int disk_in_use(const char *root, const struct disk *disk,
		const char *allow_holder, char *by, size_t size)
{
	char path[FS_PATH_BYTES];
	struct dirent *e;
	DIR *dir;
	int rc;

	by[0] = '\0';
	rc = disk_node_in_use(root, disk, "", allow_holder, by, size);
	if (rc || by[0])
		return rc;
	rc = fs_path(path, "%s/sys/block/%s", root, disk->name);
	dir = rc ? NULL : opendir(path);
	if (!dir)
		return rc ? rc : -errno;
	while (!rc && !by[0] && (e = readdir(dir))) {
		if (str_starts(e->d_name, disk->name))
			rc = disk_node_in_use(root, disk, e->d_name,
					      allow_holder, by, size);
	}
	closedir(dir);
	return rc;
}
