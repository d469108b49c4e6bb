/* boards/virtual/disk/tests/drive.c - requests to a model. */
#include "boards/virtual/disk/tests/drive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void drive_cfg(struct vdisk_cfg *cfg)
{
	vdisk_cfg_defaults(cfg);
	strcpy(cfg->serial, "T1");
	cfg->size_bytes = 64 * MIB;
}

void drive_done(struct vdisk_op *op)
{
	(void)op;
}

void drive_finish(struct vdisk *d, struct vdisk_op *op)
{
	uint64_t next = vdisk_next_ns(d);

	while (op->state != VDISK_OP_DONE && next != VDISK_NEVER_NS) {
		vdisk_advance(d, next);
		next = vdisk_next_ns(d);
	}
}

static int run(struct vdisk *d, struct vdisk_op *op)
{
	op->done = drive_done;
	vdisk_submit(d, op);
	drive_finish(d, op);
	if (op->state == VDISK_OP_DONE)
		return op->result;
	vdisk_cancel(d, op);
	return -EINPROGRESS;
}

static int write_filled(struct vdisk *d, struct vdisk_op *op,
			unsigned char fill)
{
	void *data = malloc(op->n);
	int err;

	if (data == NULL)
		abort();
	memset(data, fill, op->n);
	op->kind = VDISK_WRITE;
	op->data = data;
	err = run(d, op);
	free(data);
	return err;
}

int drive_write(struct vdisk *d, uint64_t offset, uint64_t n,
		unsigned char fill)
{
	struct vdisk_op op = { .offset = offset, .n = n };

	return write_filled(d, &op, fill);
}

int drive_write_fua(struct vdisk *d, uint64_t offset, uint64_t n,
		    unsigned char fill)
{
	struct vdisk_op op = { .offset = offset, .n = n, .fua = true };

	return write_filled(d, &op, fill);
}

int drive_flush(struct vdisk *d)
{
	struct vdisk_op op = { .kind = VDISK_FLUSH };

	return run(d, &op);
}

int drive_erase(struct vdisk *d, enum vdisk_op_kind kind, uint64_t offset,
		uint64_t n)
{
	struct vdisk_op op = { .kind = kind, .offset = offset, .n = n };

	return run(d, &op);
}

int drive_read(struct vdisk *d, uint64_t offset, uint64_t n)
{
	struct vdisk_op op = { .kind = VDISK_READ, .offset = offset, .n = n };
	unsigned char *buf = malloc(n);
	int value;

	if (buf == NULL)
		abort();
	op.buf = buf;
	value = run(d, &op);
	if (value == 0)
		value = memcmp(buf, buf + 1, n - 1) == 0 ? buf[0] : 256;
	free(buf);
	return value;
}

void drive_idle(struct vdisk *d)
{
	uint64_t next = vdisk_next_ns(d);

	while (next != VDISK_NEVER_NS) {
		vdisk_advance(d, next);
		next = vdisk_next_ns(d);
	}
}

struct vdisk_status drive_status(const struct vdisk *d)
{
	struct vdisk_status st;

	vdisk_status(d, &st);
	return st;
}

void drive_power_cycle(struct vdisk *d)
{
	vdisk_power(d, false);
	drive_idle(d);
	vdisk_power(d, true);
	drive_idle(d);
}
