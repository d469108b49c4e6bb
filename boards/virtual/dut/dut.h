/* boards/virtual/dut/dut.h - how the guest (the machine under test) of the
 * virtual bench is started: its settings as qemu-system-x86_64's arguments.
 *
 * The guest boots build/dut/<kernel> (see build-image) and has
 *   vda                        the read-only root, serial bay-root
 *   vdb                        the state disk if one is given, bay-state
 *   port org.bay.agent         virtio-serial, bay-agent listens there
 *   port org.bay.shell         a root shell for tests, if a path is given
 *   scsi0.0                    virtio-scsi bus, empty at boot
 * For each disk of the configuration only the block node nb-<serial> exists;
 * the disk itself is plugged and pulled over QMP, see dut_disk_id(). */
#ifndef BOARDS_VIRTUAL_DUT_DUT_H
#define BOARDS_VIRTUAL_DUT_DUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/util/err.h"

#define DUT_DISKS_MAX     64
#define DUT_SERIAL_BYTES  37 /* 36 characters are what SCSI VPD can show */
#define DUT_ID_BYTES      (DUT_SERIAL_BYTES + 8)
#define DUT_MEMORY_MIN_MB 256
#define DUT_VCPUS_MAX     64
/* Start of QEMU to an agent that answers: what a stock kernel needs at most
 * under TCG on two very busy cores (3.5 s when idle), and under KVM. A guest
 * under KVM that is not ready by then hangs: start it again under TCG. */
#define DUT_READY_TCG_MS 180000
#define DUT_READY_KVM_MS 10000
#define DUT_KVM_PROBE_MS 500

#define DUT_RIG_USB_ID     "0403:6001"
#define DUT_RIG_USB_SERIAL "BAYRIG01"

enum dut_accel {
	DUT_ACCEL_TCG,
	DUT_ACCEL_KVM,
};

struct dut_disk {
	const char *serial;   /* 1..36 of A-Z a-z 0-9 - _ . */
	const char *nbd_path; /* Unix socket of its NBD server */
};

/* All strings are the caller's and only read. Paths must not start with ":"
 * and fit a Unix socket address where they are sockets. */
struct dut_cfg {
	const char *image_dir; /* build/dut */
	const char *kernel;    /* folder below image_dir: "6.1", "6.12" */
	uint32_t memory_mb;
	uint32_t vcpus;
	enum dut_accel accel;
	const struct dut_disk *disks;
	size_t n_disks;
	const char *qmp_path;     /* sockets, QEMU is the server */
	const char *agent_path;   /* of port org.bay.agent */
	const char *shell_path;   /* of port org.bay.shell; NULL: none */
	const char *console_path; /* file for ttyS0: panics and warnings */
	const char *state_path;   /* copy of image_dir/state.img; NULL: none */
	const char *rig_path;     /* socket of the rig's UART for a ttyUSB0 in
				   * the guest, an FTDI with DUT_RIG_USB_ID and
				   * DUT_RIG_USB_SERIAL; QEMU is the client;
				   * NULL: none */
	const char *append;       /* more kernel parameters, or NULL */
};

/* The arguments of a guest.
 *   argv  out: NULL-ended, argv[0] = qemu-system-x86_64; the caller frees it
 *         with dut_argv_free(); untouched on failure
 * 0; -EINVAL: a setting out of range or with a character that QEMU would
 * misread; -ENAMETOOLONG: a socket path; -ENOMEM. */
int dut_argv_new(const struct dut_cfg *cfg, char ***argv, struct err *err);
void dut_argv_free(char **argv);

/* Is the image of this kernel complete? 0, or -ENOENT with the missing file
 * and the command that makes it. */
int dut_image_check(const char *image_dir, const char *kernel, struct err *err);

/* Make a state disk: copy the empty one of the image to path unless path
 * exists. Keeps the agent's spool and restore journal when the guest dies.
 * 0 or -errno; a partial file is never left. */
int dut_state_create(const char *image_dir, const char *path, struct err *err);

/* QMP id of a disk, "disk-<serial>", and of its block node, "nb-<serial>".
 *
 * Plug: device_add with
 *   driver=scsi-hd bus=scsi0.0 id=disk-<serial> drive=nb-<serial>
 *   serial=<serial> device_id=<serial> scsi-id=<slot> lun=0
 *   write-cache=on werror=report rerror=report
 * write-cache=on shows the volatile cache of the model to the guest, report
 * hands errors to the guest (the default would stop it at ENOSPC). Fails with
 * "Permission conflict" for some ms after a pull: try again.
 * Pull: device_del id=disk-<serial>. */
void dut_disk_id(char id[DUT_ID_BYTES], const char *serial);
void dut_node_name(char node[DUT_ID_BYTES], const char *serial);

/* True if /dev/kvm can run a virtual CPU: one that halts at once has halted
 * within DUT_KVM_PROBE_MS. A kernel may still hang (nested virtualisation):
 * see DUT_READY_KVM_MS. Forks; blocks at most DUT_KVM_PROBE_MS. */
bool dut_kvm_usable(void);

#endif
