#include "host/rig/rig_bench.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int serial_address(const struct bench *b, struct rig_address *a,
			  struct err *err)
{
	const struct bench_rig *r = &b->rig;

	*a = (struct rig_address){ .carrier = RIG_SERIAL,
				   .path = r->path,
				   .usb_serial = r->usb_serial,
				   .baud = r->baud };
	if (!r->usb || !rig_parse_usb_id(r->usb, &a->usb_vid, &a->usb_pid))
		return 0;
	return conf_fail(b->file, err, -EINVAL, "rig.usb",
			 "'%s' is not VID:PID in hexadecimal", r->usb);
}

static int virtual_address(const struct bench *b, struct rig_address *a,
			   char *path, size_t size, struct err *err)
{
	char dir[256];

	if (bench_run_dir(b, dir, sizeof(dir)) < 0 ||
	    snprintf(path, size, "%s/rig.sock", dir) >= (int)size)
		return err_set(err, -ENAMETOOLONG,
			       "the name of the run directory is too long");
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return err_set(err, -ENOENT, BENCH_NOT_UP, dir);
	*a = (struct rig_address){ .carrier = RIG_SOCKET, .path = path };
	return 0;
}

int rig_bench_address(const struct bench *b, struct rig_address *a, char *path,
		      size_t size, struct err *err)
{
	switch (b->rig.type) {
	case BENCH_RIG_SERIAL:
		return serial_address(b, a, err);
	case BENCH_RIG_SOCKET:
		*a = (struct rig_address){ .carrier = RIG_SOCKET,
					   .path = b->rig.path };
		return 0;
	case BENCH_RIG_VIRTUAL:
		return virtual_address(b, a, path, size, err);
	case BENCH_RIG_NONE:
		break;
	}
	return err_set(err, -EINVAL, "%s says that this bench has no rig",
		       b->source);
}
