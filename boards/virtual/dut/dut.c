#include "boards/virtual/dut/dut.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/util/buf.h"
#include "host/util/fs.h"

/* No mitigations: they cost emulated time and protect nobody here. A panic
 * ends QEMU at once (-no-reboot), which the supervisor sees. Init brings the
 * other processors up: while the kernel still patches its own code (static
 * keys, late in the boot), one that TCG runs beside it can meet a breakpoint
 * of the patching that is there no more, and panics: once in some 80 boots of
 * QEMU 7.2 with two processors. */
#define KERNEL_PARAMETERS                                                      \
	"console=ttyS0 loglevel=5 mitigations=off panic=-1 maxcpus=1"

#define ARGS_MAX 192

struct args {
	char *v[ARGS_MAX + 1];
	size_t n;
	int rc; /* first failure; later calls then do nothing */
};

static void args_drop(struct args *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	a->n = 0;
}

__attribute__((format(printf, 2, 3))) static void add(struct args *a,
						      const char *fmt, ...)
{
	va_list ap;

	if (a->rc)
		return;
	if (a->n == ARGS_MAX) {
		a->rc = -E2BIG;
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&a->v[a->n], fmt, ap) < 0)
		a->rc = -ENOMEM;
	else
		a->n++;
	va_end(ap);
}

/* A path inside an option list: QEMU reads ",," as a comma. */
struct quoted {
	char text[2 * FS_PATH_BYTES];
};

static const char *quote(struct quoted *q, const char *path)
{
	size_t n = 0;

	for (; *path && n < sizeof(q->text) - 2; path++) {
		q->text[n++] = *path;
		if (*path == ',')
			q->text[n++] = ',';
	}
	q->text[n] = '\0';
	return q->text;
}

void dut_disk_id(char id[DUT_ID_BYTES], const char *serial)
{
	snprintf(id, DUT_ID_BYTES, "disk-%s", serial);
}

void dut_node_name(char node[DUT_ID_BYTES], const char *serial)
{
	snprintf(node, DUT_ID_BYTES, "nb-%s", serial);
}

static int check_name(const char *what, const char *name, size_t max,
		      struct err *err)
{
	static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t len = name ? strlen(name) : 0;

	if (!len || len > max || strspn(name, legal) != len)
		return err_set(err, -EINVAL,
			       "%s '%s': 1..%zu letters, digits, - _ . wanted",
			       what, name ? name : "", max);
	return 0;
}

static int check_path(const char *what, const char *path, size_t max,
		      struct err *err)
{
	if (!path || !*path || *path == ':')
		return err_set(err, -EINVAL, "%s: '%s' is not a path", what,
			       path ? path : "");
	if (strlen(path) >= max)
		return err_set(err, -ENAMETOOLONG,
			       "%s: path '%s' is longer than %zu bytes", what,
			       path, max - 1);
	return 0;
}

static int check_socket(const char *what, const char *path, struct err *err)
{
	return check_path(what, path, sizeof(((struct sockaddr_un){}).sun_path),
			  err);
}

static int check_disks(const struct dut_cfg *cfg, struct err *err)
{
	int rc;

	if (cfg->n_disks > DUT_DISKS_MAX)
		return err_set(err, -EINVAL, "%zu disks: at most %d fit",
			       cfg->n_disks, DUT_DISKS_MAX);
	for (size_t i = 0; i < cfg->n_disks; i++) {
		rc = check_name("disk serial", cfg->disks[i].serial,
				DUT_SERIAL_BYTES - 1, err);
		if (!rc)
			rc = check_socket("disk", cfg->disks[i].nbd_path, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_cfg(const struct dut_cfg *cfg, struct err *err)
{
	int rc = check_path("image folder", cfg->image_dir, FS_PATH_BYTES / 2,
			    err);

	if (!rc)
		rc = check_name("kernel", cfg->kernel, 64, err);
	if (!rc)
		rc = check_socket("QMP socket", cfg->qmp_path, err);
	if (!rc)
		rc = check_socket("agent socket", cfg->agent_path, err);
	if (!rc && cfg->shell_path)
		rc = check_socket("shell socket", cfg->shell_path, err);
	if (!rc && cfg->rig_path)
		rc = check_socket("rig socket", cfg->rig_path, err);
	if (!rc)
		rc = check_path("console log", cfg->console_path, FS_PATH_BYTES,
				err);
	if (!rc && cfg->state_path)
		rc = check_path("state disk", cfg->state_path, FS_PATH_BYTES,
				err);
	if (rc)
		return rc;
	if (cfg->memory_mb < DUT_MEMORY_MIN_MB)
		return err_set(err, -EINVAL,
			       "guest memory: %u MB, at least %d needed",
			       cfg->memory_mb, DUT_MEMORY_MIN_MB);
	if (!cfg->vcpus || cfg->vcpus > DUT_VCPUS_MAX)
		return err_set(err, -EINVAL,
			       "guest processors: %u, 1..%d possible",
			       cfg->vcpus, DUT_VCPUS_MAX);
	return check_disks(cfg, err);
}

/* The board. qemu64 is the plainest CPU: its kernel skips what TCG emulates
 * slowly (measured: "max" boots slower and copies slower). */
static void add_machine(struct args *a, const struct dut_cfg *cfg)
{
	add(a, "qemu-system-x86_64");
	add(a, "-name");
	add(a, "bay-dut");
	add(a, "-nodefaults");
	add(a, "-no-user-config");
	add(a, "-nographic");
	add(a, "-no-reboot");
	add(a, "-machine");
	add(a, "q35");
	add(a, "-accel");
	add(a, cfg->accel == DUT_ACCEL_KVM ? "kvm" : "tcg,thread=multi");
	add(a, "-cpu");
	add(a, cfg->accel == DUT_ACCEL_KVM ? "host" : "qemu64");
	add(a, "-smp");
	add(a, "%u", cfg->vcpus);
	add(a, "-m");
	add(a, "%u", cfg->memory_mb);
	add(a, "-bios");
	add(a, "qboot.rom");
	add(a, "-nic");
	add(a, "none");
}

static void add_kernel(struct args *a, const struct dut_cfg *cfg)
{
	add(a, "-kernel");
	add(a, "%s/%s/vmlinux", cfg->image_dir, cfg->kernel);
	add(a, "-initrd");
	add(a, "%s/%s/initramfs.cpio", cfg->image_dir, cfg->kernel);
	add(a, "-append");
	add(a, "%s%s%s", KERNEL_PARAMETERS, cfg->append ? " " : "",
	    cfg->append ? cfg->append : "");
}

static void add_root(struct args *a, const struct dut_cfg *cfg)
{
	struct quoted q;

	add(a, "-blockdev");
	add(a,
	    "driver=file,node-name=root-file,read-only=on,auto-read-only=off,"
	    "filename=%s/root.squashfs",
	    quote(&q, cfg->image_dir));
	add(a, "-blockdev");
	add(a, "driver=raw,node-name=root,read-only=on,file=root-file");
	add(a, "-device");
	add(a, "virtio-blk-pci,drive=root,serial=bay-root");
	if (!cfg->state_path)
		return;
	add(a, "-blockdev");
	add(a, "driver=file,node-name=state-file,filename=%s",
	    quote(&q, cfg->state_path));
	add(a, "-blockdev");
	add(a, "driver=raw,node-name=state,file=state-file");
	add(a, "-device");
	add(a, "virtio-blk-pci,drive=state,serial=bay-state,write-cache=on");
}

static void add_port(struct args *a, unsigned nr, const char *name,
		     const char *path)
{
	struct quoted q;

	add(a, "-chardev");
	add(a, "socket,id=port%u,server=on,wait=off,path=%s", nr,
	    quote(&q, path));
	add(a, "-device");
	add(a, "virtserialport,nr=%u,id=port%u,chardev=port%u,name=%s", nr, nr,
	    nr, name);
}

static void add_channels(struct args *a, const struct dut_cfg *cfg)
{
	struct quoted q;

	add(a, "-qmp");
	add(a, "unix:%s,server=on,wait=off", quote(&q, cfg->qmp_path));
	add(a, "-chardev");
	add(a, "file,id=console,path=%s", quote(&q, cfg->console_path));
	add(a, "-serial");
	add(a, "chardev:console");
	add(a, "-device");
	add(a, "virtio-serial-pci");
	add_port(a, 1, "org.bay.agent", cfg->agent_path);
	if (cfg->shell_path)
		add_port(a, 2, "org.bay.shell", cfg->shell_path);
}

/* open-timeout: the disk models may be starting at the same time. No
 * reconnect-delay: device_add on a node whose server is away would stop the
 * guest that long. */
static void add_disks(struct args *a, const struct dut_cfg *cfg)
{
	add(a, "-device");
	add(a, "virtio-scsi-pci,id=scsi0");
	for (size_t i = 0; i < cfg->n_disks; i++) {
		struct quoted q;

		add(a, "-blockdev");
		add(a,
		    "driver=nbd,node-name=nb-%s,discard=unmap,open-timeout=10,"
		    "server.type=unix,server.path=%s",
		    cfg->disks[i].serial, quote(&q, cfg->disks[i].nbd_path));
	}
}

static void add_rig(struct args *a, const struct dut_cfg *cfg)
{
	struct quoted q;

	if (!cfg->rig_path)
		return;
	add(a, "-chardev");
	add(a, "socket,id=rig,path=%s", quote(&q, cfg->rig_path));
	add(a, "-device");
	add(a, "qemu-xhci,id=usb");
	add(a, "-device");
	add(a,
	    "usb-serial,id=rig-usb,bus=usb.0,chardev=rig,always-plugged=on,"
	    "serial=%s",
	    DUT_RIG_USB_SERIAL);
}

int dut_argv_new(const struct dut_cfg *cfg, char ***argv, struct err *err)
{
	struct args a = { .n = 0 };
	int rc = check_cfg(cfg, err);
	char **copy;

	if (rc)
		return rc;
	add_machine(&a, cfg);
	add_kernel(&a, cfg);
	add_root(&a, cfg);
	add_channels(&a, cfg);
	add_disks(&a, cfg);
	add_rig(&a, cfg);
	copy = a.rc ? NULL : calloc(a.n + 1, sizeof(*copy));
	if (!copy) {
		args_drop(&a);
		return err_sys(err, a.rc ? a.rc : -ENOMEM,
			       "arguments of the guest");
	}
	memcpy(copy, a.v, a.n * sizeof(*copy));
	*argv = copy;
	return 0;
}

void dut_argv_free(char **argv)
{
	if (!argv)
		return;
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free(argv);
}

int dut_image_check(const char *image_dir, const char *kernel, struct err *err)
{
	static const char *const files[] = { "root.squashfs", "%s/vmlinux",
					     "%s/initramfs.cpio",
					     "%s/release" };
	char path[FS_PATH_BYTES];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *name = files[i];
		bool per_kernel = name[0] == '%';
		int rc = fs_path(path, "%s/%s%s", image_dir,
				 per_kernel ? kernel : "",
				 per_kernel ? name + 2 : name);

		if (rc)
			return err_sys(err, rc, "%s", image_dir);
		if (!fs_exists(path))
			return err_set(err, -ENOENT,
				       "no guest image: %s is missing; run "
				       "boards/virtual/dut/build-image",
				       path);
	}
	return 0;
}

/* The image is nearly all holes; keep them. */
static int copy_sparse(int from, int to)
{
	static const char zero[65536];
	char block[sizeof(zero)];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, block, sizeof(block), at)) > 0) {
		if (memcmp(block, zero, (size_t)n) != 0 &&
		    pwrite(to, block, (size_t)n, at) != n)
			return errno ? -errno : -EIO;
		at += n;
	}
	if (n < 0)
		return -errno;
	return ftruncate(to, at) < 0 ? -errno : 0;
}

static int copy_file(const char *source, const char *path)
{
	int rc = 0;
	int to = -1;
	int from = open(source, O_RDONLY | O_CLOEXEC);

	if (from < 0)
		return -errno;
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0) {
		rc = -errno;
		goto close_from;
	}
	rc = copy_sparse(from, to);
	if (close(to) < 0 && !rc)
		rc = -errno;
close_from:
	close(from);
	return rc;
}

int dut_state_create(const char *image_dir, const char *path, struct err *err)
{
	char source[FS_PATH_BYTES];
	char temp[FS_PATH_BYTES];
	int rc;

	if (fs_exists(path))
		return 0;
	rc = fs_path(source, "%s/state.img", image_dir);
	if (!rc)
		rc = fs_path(temp, "%s.new", path);
	if (rc)
		return err_sys(err, rc, "%s", path);
	rc = copy_file(source, temp);
	if (!rc && rename(temp, path) < 0)
		rc = -errno;
	if (!rc)
		return 0;
	unlink(temp);
	return err_sys(err, rc, "state disk %s from %s", path, source);
}
