/* host/matrix/matrix.h - matrix.yaml(5): which cells to run.
 *
 *   experiment: writeback
 *   seed: 1
 *   layout: [single, JBOD-2HDD, RAID0-2HDD, RAID1-2HDD]
 *   fs: [xfs, ext4]
 *   workload: dd-write
 *   params: {n: [1, 10], seconds: 30}
 *   thresh: [100M, 1000M]
 *   kernel: ["6.1", "6.12"]
 *
 * Every key with a list is an axis; axes multiply. */
#ifndef HOST_MATRIX_MATRIX_H
#define HOST_MATRIX_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/bench/conf.h"
#include "host/util/err.h"

/* A free key with its alternatives: a parameter, a sysctl, a rule's part. */
struct matrix_pair {
	char *name;
	char **values;
	unsigned n_values;
};

#define MATRIX_RULES_MAX 256

struct matrix_rule {
	struct matrix_pair *pairs; /* all of them must match */
	unsigned n_pairs;
};

/* The file as it stands; defaults are filled in where noted. */
struct matrix {
	char *experiment;
	uint64_t seed;
	uint32_t repeats; /* 1 */
	char *compare;    /* axis that runs A B B A; NULL = none */
	char **disks;     /* members in order; empty: the bench's order */
	unsigned n_disks;
	char **layout;
	unsigned n_layout;
	char **chunk;
	unsigned n_chunk;
	char **bitmap;
	unsigned n_bitmap;
	char **initial_sync;
	unsigned n_initial_sync;
	char **fs;
	unsigned n_fs;
	struct matrix_pair *mkfs; /* name = file system */
	unsigned n_mkfs;
	struct matrix_pair *mount;
	unsigned n_mount;
	char **workload;
	unsigned n_workload;
	struct matrix_pair *params;
	unsigned n_params;
	char **thresh;
	unsigned n_thresh;
	char **background;
	unsigned n_background;
	char **read_ahead_kb;
	unsigned n_read_ahead_kb;
	char **max_sectors_kb;
	unsigned n_max_sectors_kb;
	char **nr_requests;
	unsigned n_nr_requests;
	char **scheduler;
	unsigned n_scheduler;
	struct matrix_pair *sysctl;
	unsigned n_sysctl;
	char **kernel;
	unsigned n_kernel;
	struct matrix_rule *include;
	unsigned n_include;
	struct matrix_rule *exclude;
	unsigned n_exclude;
	uint32_t sample_hz; /* 10 */
	uint32_t timeout_s; /* 0 = from the workload's seconds */

	struct axis *axes; /* made of the above; see host/matrix/axis.h */
	unsigned n_axes;
	struct conf *file; /* for errors: conf_fail() */
};

/* Read and check a matrix.
 *   out  freed with matrix_free(); untouched on failure
 *   err  one sentence with file, line and what to do
 * 0; an error of open(2) or read(2); -EINVAL; -ENOMEM. */
int matrix_load(const char *path, struct matrix **out, struct err *err);
int matrix_parse(const char *name, const char *text, size_t len,
		 struct matrix **out, struct err *err);
void matrix_free(struct matrix *m);

/* How many disks a layout's name asks for: single 1, RAID0-2HDD 2.
 *   kind  out: single, jbod, raid0, raid1 (static); may be NULL
 * 0: not a layout. */
unsigned matrix_layout_disks(const char *layout, const char **kind);

/* ext4, xfs, btrfs, or raw for none. */
bool matrix_is_fs(const char *name);

#endif
