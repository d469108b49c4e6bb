#include "host/agent/probe.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/util/parse.h"

#define PROBE_MAX_WIPES 64u
/* Superblocks lie in the first half MiB and the last (ZFS has two labels of
 * 256 KiB at each end, md 0.90 and BIOS RAIDs theirs in the last 128 KiB). */
#define PROBE_END_BYTES (512 * 1024)

bool probe_is_ours(const char *type, const char *label)
{
	/* --homehost=bay makes the array's name "bay:NAME". */
	if (strcmp(type, "linux_raid_member") == 0)
		return str_starts(label, "bay:");
	return str_starts(label, "bay-");
}

static blkid_probe probe_open(int fd)
{
	blkid_probe pr = blkid_new_probe();

	if (!pr)
		return NULL;
	if (blkid_probe_set_device(pr, fd, 0, 0) != 0) {
		blkid_free_probe(pr);
		return NULL;
	}
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(
		pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
			    BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID |
			    BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC |
						     BLKID_PARTS_FORCE_GPT);
	return pr;
}

static const char *probe_value(blkid_probe pr, const char *name)
{
	const char *data = NULL;

	if (blkid_probe_lookup_value(pr, name, &data, NULL) != 0 || !data)
		return "";
	return data;
}

static void probe_fill(blkid_probe pr, struct probe_sig *s)
{
	const char *type = probe_value(pr, "TYPE");
	bool table = !*type;
	const char *offset = table ? "PTMAGIC_OFFSET" : "SBMAGIC_OFFSET";

	*s = (struct probe_sig){ 0 };
	(void)str_copy(s->type, sizeof(s->type),
		       table ? probe_value(pr, "PTTYPE") : type);
	(void)str_copy(s->usage, sizeof(s->usage),
		       table ? "partition table" : probe_value(pr, "USAGE"));
	(void)str_copy(s->label, sizeof(s->label), probe_value(pr, "LABEL"));
	(void)str_copy(s->uuid, sizeof(s->uuid),
		       probe_value(pr, table ? "PTUUID" : "UUID"));
	(void)parse_u64(probe_value(pr, offset), &s->offset_bytes);
	s->ours = !table && probe_is_ours(s->type, s->label);
}

void probe_prefetch(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);

	(void)posix_fadvise(fd, 0, PROBE_END_BYTES, POSIX_FADV_WILLNEED);
	if (end > 2 * PROBE_END_BYTES)
		(void)posix_fadvise(fd, end - PROBE_END_BYTES, PROBE_END_BYTES,
				    POSIX_FADV_WILLNEED);
}

int probe_read(int fd, struct probe_result *out, struct err *err)
{
	blkid_probe pr = probe_open(fd);
	int rc = 0;

	out->count = 0;
	if (!pr)
		return err_set(err, -EIO,
			       "cannot read the device's signatures");
	while (out->count < PROBE_MAX && (rc = blkid_do_probe(pr)) == 0)
		probe_fill(pr, &out->sig[out->count++]);
	blkid_free_probe(pr);
	if (rc < 0)
		return err_set(err, -EIO,
			       "reading the device's signatures failed");
	return 0;
}

void probe_uuid(int fd, const char *type, char *uuid)
{
	char *only[] = { (char *)(uintptr_t)type, NULL };
	blkid_probe pr = probe_open(fd);

	uuid[0] = '\0';
	if (!pr)
		return;
	blkid_probe_enable_partitions(pr, 0);
	if (blkid_probe_filter_superblocks_type(pr, BLKID_FLTR_ONLYIN, only) ==
		    0 &&
	    blkid_do_probe(pr) == 0)
		(void)str_copy(uuid, PROBE_UUID_BYTES, probe_value(pr, "UUID"));
	blkid_free_probe(pr);
}

int probe_wipe_ours(int fd, struct err *err)
{
	blkid_probe pr = probe_open(fd);
	struct probe_sig s;
	int rc = 0;

	if (!pr)
		return err_set(err, -EIO,
			       "cannot read the device's signatures");
	for (unsigned n = 0; !rc && blkid_do_probe(pr) == 0; n++) {
		probe_fill(pr, &s);
		if (!s.ours)
			rc = err_set(err, -EPERM,
				     "a %s signature that bay did not write "
				     "lies at byte %llu",
				     s.type,
				     (unsigned long long)s.offset_bytes);
		else if (n == PROBE_MAX_WIPES || blkid_do_wipe(pr, 0) != 0)
			rc = err_set(err, -EIO,
				     "the %s signature cannot be erased",
				     s.type);
	}
	blkid_free_probe(pr);
	if (!rc && fsync(fd) < 0 && errno != EINVAL)
		rc = err_sys(err, -errno, "erasing the signatures failed");
	return rc;
}
