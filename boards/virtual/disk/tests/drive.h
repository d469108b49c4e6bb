/* boards/virtual/disk/tests/drive.h - requests to a model, one after another,
 * in virtual time. For tests alone. */
#ifndef BOARDS_VIRTUAL_DISK_TESTS_DRIVE_H
#define BOARDS_VIRTUAL_DISK_TESTS_DRIVE_H

#include "boards/virtual/disk/vdisk.h"

#define MIB 1048576ull
#define MS  1000000ull

/* A disk of 64 MiB with serial T1, on, otherwise with the defaults. */
void drive_cfg(struct vdisk_cfg *cfg);

/* Let events happen until the request is done or nothing more happens. */
void drive_finish(struct vdisk *d, struct vdisk_op *op);

/* Submit, finish, give the result; -EINPROGRESS: not done. */
int drive_write(struct vdisk *d, uint64_t offset, uint64_t n,
		unsigned char fill);
int drive_write_fua(struct vdisk *d, uint64_t offset, uint64_t n,
		    unsigned char fill);
int drive_flush(struct vdisk *d);
int drive_erase(struct vdisk *d, enum vdisk_op_kind kind, uint64_t offset,
		uint64_t n);

/* The byte that fills the whole range, 256 if it holds several, or a negative
 * result. */
int drive_read(struct vdisk *d, uint64_t offset, uint64_t n);

/* A done callback that does nothing. */
void drive_done(struct vdisk_op *op);

/* Until nothing happens by itself any more. */
void drive_idle(struct vdisk *d);

struct vdisk_status drive_status(const struct vdisk *d);

/* Off and through the hold-up, on and through the spin-up. */
void drive_power_cycle(struct vdisk *d);

#endif
