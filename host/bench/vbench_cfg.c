/* From a bench description and the place of this program to the settings of
 * a virtual bench. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boards/virtual/dut/dut.h"
#include "host/bench/vbench.h"
#include "host/util/fs.h"

#define DEFAULT_BOARD     "lm3s6965evb"
#define DEFAULT_KERNEL    "6.1"
#define DEFAULT_MEMORY_MB 1024
#define DEFAULT_CPUS      2
#define DEFAULT_DISK_MB   1024
#define DEFAULT_RATE_MB_S 30
#define DEFAULT_BOOT_S    (DUT_READY_TCG_MS / 1000)

/* A product of the build: beside the program in the build tree, or below lib/
 * of an installed one. %s is the board where there is one. */
struct product {
	const char *what;
	const char *env;
	const char *places[2];
	size_t at;
};

static const struct product posix_firmware = {
	"firmware program",
	"BAY_FIRMWARE",
	{ "bay-firmware-posix", "../lib/bay/bay-firmware-posix" },
	offsetof(struct vbench_cfg, firmware)
};

static const struct product products[] = {
	{ "backplane",
	  "BAY_BACKPLANE",
	  { "bay-backplane", "../lib/bay/bay-backplane" },
	  offsetof(struct vbench_cfg, backplane) },
	{ "firmware image",
	  "BAY_FIRMWARE",
	  { "../%s/bay-firmware-%s.elf", "../lib/bay/bay-firmware-%s.elf" },
	  offsetof(struct vbench_cfg, firmware) },
	{ "disk model",
	  "BAY_DISK_PLUGIN",
	  { "nbdkit-bay-disk-plugin.so",
	    "../lib/bay/nbdkit-bay-disk-plugin.so" },
	  offsetof(struct vbench_cfg, disk_plugin) },
	{ "guest image folder",
	  "BAY_IMAGES",
	  { "../dut", "../lib/bay/dut" },
	  offsetof(struct vbench_cfg, image_dir) },
};

static bool board_is_posix(const struct vbench_cfg *cfg)
{
	return !strcmp(cfg->board, "posix");
}

static int program_dir(char dir[VBENCH_PATH_MAX], struct err *err)
{
	char exe[VBENCH_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0)
		return err_sys(err, -errno, "/proc/self/exe");
	exe[n] = '\0';
	snprintf(dir, VBENCH_PATH_MAX, "%s", dirname(exe));
	return 0;
}

/* Replace each %s of place by the board, and "../" at its start. */
static void place_path(char path[FS_PATH_BYTES], const char *dir,
		       const char *place, const char *board)
{
	char parent[VBENCH_PATH_MAX];
	int n;

	snprintf(parent, sizeof(parent), "%s", dir);
	if (!strncmp(place, "../", 3)) {
		snprintf(parent, sizeof(parent), "%s", dir);
		dirname(parent);
		place += 3;
	}
	n = snprintf(path, FS_PATH_BYTES, "%s/", parent);
	for (; *place && n < FS_PATH_BYTES - 1; place++) {
		if (place[0] == '%' && place[1] == 's') {
			n += snprintf(path + n, FS_PATH_BYTES - (size_t)n,
				      "%.64s", board);
			place++;
		} else {
			path[n++] = *place;
			path[n] = '\0';
		}
	}
}

static int find_product(struct vbench_cfg *cfg, const struct product *p,
			const char *dir, struct err *err)
{
	char *out = (char *)cfg + p->at;
	const char *given = getenv(p->env);
	char path[FS_PATH_BYTES] = "";

	if (given && *given) {
		snprintf(out, VBENCH_PATH_MAX, "%s", given);
		return fs_exists(out) ? 0
				      : err_set(err, -ENOENT,
						"%s: %s=%s does not exist",
						p->what, p->env, given);
	}
	for (size_t i = 0; i < 2; i++) {
		place_path(path, dir, p->places[i], cfg->board);
		if (fs_exists(path)) {
			snprintf(out, VBENCH_PATH_MAX, "%.*s",
				 VBENCH_PATH_MAX - 1, path);
			return 0;
		}
	}
	place_path(path, dir, p->places[0], cfg->board);
	return err_set(err, -ENOENT,
		       "no %s: %s is not built (%s names another)", p->what,
		       path, p->env);
}

/* %s twice in a row of a path would be easy to misread; keep names plain. */
#define NAME_RULE "1..36 letters, digits, - _ . wanted"

/* It becomes part of a path and of QEMU's options. */
static bool is_name(const char *name)
{
	static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t n = strlen(name);

	return n && n <= 36 && strspn(name, legal) == n && name[0] != '.';
}

static int fill_board(struct vbench_cfg *cfg, const struct bench *b,
		      struct err *err)
{
	struct err why = { 0 };

	if (!is_name(cfg->board))
		return conf_fail(b->file, err, -EINVAL, "virtual.board",
				 "board '%s': " NAME_RULE, cfg->board);
	if (vboard_find(&cfg->wiring, cfg->board, &why))
		return conf_fail(b->file, err, -ENOENT, "virtual.board",
				 "virtual.board: %s", why.text);
	if (!cfg->wiring.machine && !board_is_posix(cfg))
		return conf_fail(b->file, err, -EINVAL, "virtual.board",
				 "virtual.board: nothing emulates the "
				 "microcontroller of '%s'",
				 cfg->board);
	return 0;
}

static int fill_disks(struct vbench_cfg *cfg, const struct bench *b,
		      struct err *err)
{
	unsigned int used = 0;
	char path[64];

	if (!b->n_disks || b->n_disks > cfg->wiring.slots)
		return conf_fail(b->file, err, -EINVAL, "disks",
				 "a virtual bench with board %s has 1..%u "
				 "disks, not %u",
				 cfg->board, cfg->wiring.slots, b->n_disks);
	for (unsigned int i = 0; i < b->n_disks; i++) {
		const struct bench_disk *d = &b->disks[i];

		snprintf(path, sizeof(path), "disks[%u].slot", i);
		if (!is_name(d->serial))
			return conf_fail(b->file, err, -EINVAL, path,
					 "disk serial '%s': " NAME_RULE,
					 d->serial);
		if (d->slot < 0 || (unsigned int)d->slot >= cfg->wiring.slots ||
		    used & (1u << d->slot))
			return conf_fail(b->file, err, -EINVAL, path,
					 "disk %s needs a slot of its own, "
					 "0..%u",
					 d->serial, cfg->wiring.slots - 1);
		used |= 1u << d->slot;
		snprintf(cfg->disk[i].serial, sizeof(cfg->disk[i].serial), "%s",
			 d->serial);
		cfg->disk[i].slot = (unsigned int)d->slot;
	}
	cfg->disks = b->n_disks;
	return 0;
}

static int fill_run(struct vbench_cfg *cfg, const struct bench *b,
		    struct err *err)
{
	int rc = bench_run_dir_check(b, err);

	return rc ? rc : bench_run_dir(b, cfg->run, sizeof(cfg->run));
}

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static void fill_numbers(struct vbench_cfg *cfg, const struct bench *b)
{
	static const struct bench_virtual none;
	const struct bench_virtual *v = b->virt ? b->virt : &none;

	snprintf(cfg->name, sizeof(cfg->name), "%s", b->name);
	snprintf(cfg->board, sizeof(cfg->board), "%s",
		 v->board ? v->board : DEFAULT_BOARD);
	cfg->memory_mb = or_default(v->memory_mb, DEFAULT_MEMORY_MB);
	cfg->cpus = or_default(v->cpus, DEFAULT_CPUS);
	cfg->disk_mb = or_default(v->disk_mb, DEFAULT_DISK_MB);
	cfg->rate_mb_s = or_default(v->rate_mb_s, DEFAULT_RATE_MB_S);
	cfg->boot_wait_s = or_default(b->boot_wait_s, DEFAULT_BOOT_S);
	for (unsigned int i = 0; i < v->n_kernels && i < VBENCH_KERNELS_MAX;
	     i++)
		snprintf(cfg->kernels[i], sizeof(cfg->kernels[i]), "%s",
			 v->kernels[i]);
	if (!v->n_kernels)
		snprintf(cfg->kernels[0], sizeof(cfg->kernels[0]), "%s",
			 DEFAULT_KERNEL);
}

/* What QEMU, the guest or the disk model would refuse when half of the bench
 * has started, or take and then crawl. */
static int check_numbers(const struct vbench_cfg *cfg, const struct bench *b,
			 struct err *err)
{
	const struct {
		const char *key;
		uint32_t value, min, max;
	} all[] = {
		{ "memory_mb", cfg->memory_mb, 256, 65536 },
		{ "cpus", cfg->cpus, 1, 64 },
		{ "disk_mb", cfg->disk_mb, 1, 1u << 20 },
		{ "rate_mb_s", cfg->rate_mb_s, 1, 10000 },
	};
	char path[64];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].value >= all[i].min && all[i].value <= all[i].max)
			continue;
		snprintf(path, sizeof(path), "virtual.%s", all[i].key);
		return conf_fail(b->file, err, -ERANGE, path,
				 "%s: %u is not in %u..%u", path, all[i].value,
				 all[i].min, all[i].max);
	}
	return 0;
}

bool vbench_has_kernel(const struct vbench_cfg *cfg, const char *kernel)
{
	for (unsigned int i = 0; i < VBENCH_KERNELS_MAX; i++) {
		if (cfg->kernels[i][0] && !strcmp(cfg->kernels[i], kernel))
			return true;
	}
	return false;
}

static int fill_kernel(struct vbench_cfg *cfg, const struct bench *b,
		       const char *kernel, struct err *err)
{
	if (!kernel)
		kernel = cfg->kernels[0];
	if (!vbench_has_kernel(cfg, kernel))
		return conf_fail(b->file, err, -ENOENT, "virtual.kernels",
				 "kernel '%s' is not in virtual.kernels",
				 kernel);
	snprintf(cfg->kernel, sizeof(cfg->kernel), "%s", kernel);
	return 0;
}

static int fill_products(struct vbench_cfg *cfg, struct err *err)
{
	char dir[VBENCH_PATH_MAX];
	int rc = program_dir(dir, err);

	for (size_t i = 0; !rc && i < sizeof(products) / sizeof(products[0]);
	     i++) {
		if (cfg->no_guest &&
		    products[i].at == offsetof(struct vbench_cfg, image_dir))
			continue;
		if (board_is_posix(cfg) && products[i].at == posix_firmware.at)
			rc = find_product(cfg, &posix_firmware, dir, err);
		else
			rc = find_product(cfg, &products[i], dir, err);
	}
	return rc;
}

/* Of all kernels, not only of the first: a run that needs the others is hours
 * ahead. */
static int check_images(const struct vbench_cfg *cfg, const struct bench *b,
			struct err *err)
{
	struct err why = { 0 };
	char path[64];
	int rc;

	for (unsigned int i = 0;
	     !cfg->no_guest && i < VBENCH_KERNELS_MAX && cfg->kernels[i][0];
	     i++) {
		rc = dut_image_check(cfg->image_dir, cfg->kernels[i], &why);
		if (!rc)
			continue;
		snprintf(path, sizeof(path), "virtual.kernels[%u]", i);
		return conf_fail(b->file, err, rc, path, "kernel %s: %s",
				 cfg->kernels[i], why.text);
	}
	return 0;
}

int vbench_is_described(const struct bench *b, struct err *err)
{
	if (bench_is_virtual(b))
		return 0;
	return conf_fail(b->file, err, -EINVAL, "agent.type",
			 "the file describes no virtual bench: its rig and "
			 "agent are real");
}

int vbench_cfg_fill(struct vbench_cfg *cfg, const struct bench *b,
		    const char *kernel, struct err *err)
{
	int rc = vbench_is_described(b, err);

	if (rc)
		return rc;
	fill_numbers(cfg, b);
	rc = check_numbers(cfg, b, err);
	if (!rc)
		rc = fill_board(cfg, b, err);
	if (!rc)
		rc = fill_disks(cfg, b, err);
	if (!rc)
		rc = fill_run(cfg, b, err);
	if (!rc)
		rc = fill_kernel(cfg, b, kernel, err);
	if (!rc)
		rc = fill_products(cfg, err);
	if (!rc)
		rc = check_images(cfg, b, err);
	return rc;
}
