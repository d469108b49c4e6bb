/* The kinds of children of a virtual bench: one table row each. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "boards/virtual/dut/dut.h"
#include "host/bench/vbench_priv.h"

/* More than it waits for an emulator that stands, less than a client of the
 * bench waits for us. */
#define BACKPLANE_MS 5000

void vbench_argv_add(struct vbench_argv *a, const char *fmt, ...)
{
	va_list ap;

	if (a->rc)
		return;
	if (a->n == VBENCH_ARGS_MAX) {
		a->rc = -E2BIG;
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&a->v[a->n], fmt, ap) < 0)
		a->rc = -ENOMEM;
	else
		a->v[++a->n] = NULL;
	va_end(ap);
}

void vbench_argv_free(struct vbench_argv *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	a->n = 0;
}

static bool board_is_posix(const struct vbench_cfg *cfg)
{
	return !strcmp(cfg->board, "posix");
}

/* ---- disks ---- */

/* The platters are a file, so that a disk survives its model. */
static int disk_argv(struct vbench *vb, unsigned int index,
		     struct vbench_argv *a, struct err *err)
{
	const struct vbench_cfg *cfg = vb->cfg;
	const char *serial = cfg->disk[index].serial;

	(void)err;
	vbench_argv_add(a, "nbdkit");
	vbench_argv_add(a, "--foreground");
	vbench_argv_add(a, "--unix");
	vbench_argv_add(a, "%s/disk-%s.nbd", cfg->run, serial);
	vbench_argv_add(a, "%s", cfg->disk_plugin);
	vbench_argv_add(a, "serial=%s", serial);
	vbench_argv_add(a, "size=%uM", cfg->disk_mb);
	vbench_argv_add(a, "rate_mb_s=%u", cfg->rate_mb_s);
	/* The outermost part of a fast disk, so all its seeks are short: over
	 * a seventieth of the stroke the curve of 0.4, 3.5 and 8 ms gives
	 * these. Each turn to the journal costs a seek and half a turn; at
	 * 7200 turns a minute that took up to 3 % of a single disk's rate. */
	vbench_argv_add(a, "rpm=15000");
	vbench_argv_add(a, "seek_track_us=400");
	vbench_argv_add(a, "seek_avg_us=770");
	vbench_argv_add(a, "seek_full_us=1300");
	vbench_argv_add(a, "image=%s/disk-%s.img", cfg->run, serial);
	vbench_argv_add(a, "ctl=%s/disk-%s.ctl", cfg->run, serial);
	vbench_argv_add(a, "power=off");
	return a->rc;
}

static bool disks_ready(struct vbench *vb)
{
	char path[VBENCH_PATH_MAX];

	for (unsigned int i = 0; i < vb->cfg->disks; i++) {
		vbench_file(vb, path, "disk-%s.nbd", vb->cfg->disk[i].serial);
		if (!vbench_answers(path))
			return false;
		vbench_file(vb, path, "disk-%s.ctl", vb->cfg->disk[i].serial);
		if (!vbench_answers(path))
			return false;
	}
	return true;
}

/* ---- backplane ---- */

static int backplane_argv(struct vbench *vb, unsigned int index,
			  struct vbench_argv *a, struct err *err)
{
	const struct vbench_cfg *cfg = vb->cfg;

	(void)index;
	(void)err;
	vbench_argv_add(a, "%s", cfg->backplane);
	vbench_argv_add(a, "--run");
	vbench_argv_add(a, "%s", cfg->run);
	if (board_is_posix(cfg)) {
		vbench_argv_add(a, "--rig");
		vbench_argv_add(a, "posix");
	} else {
		vbench_argv_add(a, "--board");
		vbench_argv_add(a, "%s", cfg->board);
	}
	for (unsigned int i = 0; i < cfg->disks; i++) {
		vbench_argv_add(a, "--slot");
		vbench_argv_add(a, "%u=%s", cfg->disk[i].slot,
				cfg->disk[i].serial);
	}
	return a->rc;
}

json_t *vbench_backplane(const struct vbench *vb, const char *line)
{
	char path[VBENCH_PATH_MAX];
	char *answer = NULL;
	json_t *root;

	vbench_file(vb, path, "backplane.ctl");
	if (vbench_ask_at(path, line, BACKPLANE_MS, &answer))
		return NULL;
	root = json_loads(answer, 0, NULL);
	free(answer);
	return root;
}

static bool backplane_says(struct vbench *vb, const char *key)
{
	json_t *status = vbench_backplane(vb, "status");
	bool yes = json_is_true(json_object_get(status, key));

	json_decref(status);
	return yes;
}

static bool backplane_ready(struct vbench *vb)
{
	return backplane_says(vb, "ok");
}

/* ---- rig: the firmware image in an emulated microcontroller ---- */

static void rig_sensors(struct vbench_argv *a, const struct vboard *b)
{
	for (unsigned int slot = 0; slot < b->slots; slot++) {
		vbench_argv_add(a, "-device");
		vbench_argv_add(a, "adm1272,address=%u,id=s%u-5v",
				b->slot[slot].monitor[0], slot);
		vbench_argv_add(a, "-device");
		vbench_argv_add(a, "adm1272,address=%u,id=s%u-12v",
				b->slot[slot].monitor[1], slot);
	}
	vbench_argv_add(a, "-device");
	vbench_argv_add(a, "tmp105,address=%u,id=temp", b->thermometer);
}

static void rig_sockets(struct vbench_argv *a, const char *run)
{
	static const char *const sockets[][2] = {
		{ "-qmp", "qmp-rig.sock" },
		{ "-qtest", "qtest-rig.sock" },
		{ "-serial", "rig.sock" },
	};

	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		vbench_argv_add(a, "%s", sockets[i][0]);
		vbench_argv_add(a, "unix:%s/%s,server=on,wait=off", run,
				sockets[i][1]);
	}
}

/* -S: the backplane lets it run once every sensor has its reading. The trace
 * of the GPIO ports is how the backplane sees gates (its README.md). */
static int rig_qemu_argv(struct vbench *vb, struct vbench_argv *a)
{
	const struct vbench_cfg *cfg = vb->cfg;
	static const char *const fixed[] = {
		"-accel",
		"tcg",
		"-icount",
		"shift=4",
		"-S",
		"-nodefaults",
		"-no-user-config",
		"-display",
		"none",
		"-nic",
		"none",
		"-qtest-log",
		"none",
		"-trace",
		"pl061_set_output",
		"-trace",
		"pl061_reset",
	};

	vbench_argv_add(a, "qemu-system-arm");
	vbench_argv_add(a, "-name");
	vbench_argv_add(a, "bay-rig");
	vbench_argv_add(a, "-M");
	vbench_argv_add(a, "%s", cfg->wiring.machine);
	vbench_argv_add(a, "-kernel");
	vbench_argv_add(a, "%s", cfg->firmware);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		vbench_argv_add(a, "%s", fixed[i]);
	vbench_argv_add(a, "-D");
	vbench_argv_add(a, "%s/gates.fifo", cfg->run);
	rig_sockets(a, cfg->run);
	rig_sensors(a, &cfg->wiring);
	vbench_argv_add(a, "-blockdev");
	vbench_argv_add(a,
			"driver=file,node-name=eeprom,filename=%s/eeprom.img",
			cfg->run);
	vbench_argv_add(a, "-device");
	vbench_argv_add(a,
			"at24c-eeprom,address=%u,rom-size=%u,drive=eeprom,"
			"id=eeprom",
			cfg->wiring.eeprom, cfg->wiring.eeprom_bytes);
	return a->rc;
}

/* The board that is a process. */
static int rig_posix_argv(struct vbench *vb, struct vbench_argv *a)
{
	const struct vbench_cfg *cfg = vb->cfg;

	vbench_argv_add(a, "%s", cfg->firmware);
	vbench_argv_add(a, "--uart");
	vbench_argv_add(a, "%s/rig.sock", cfg->run);
	vbench_argv_add(a, "--backplane");
	vbench_argv_add(a, "%s/backplane-rig.sock", cfg->run);
	vbench_argv_add(a, "--eeprom");
	vbench_argv_add(a, "%s/eeprom.img", cfg->run);
	return a->rc;
}

static int rig_argv(struct vbench *vb, unsigned int index,
		    struct vbench_argv *a, struct err *err)
{
	(void)index;
	(void)err;
	if (board_is_posix(vb->cfg))
		return rig_posix_argv(vb, a);
	return rig_qemu_argv(vb, a);
}

static bool rig_ready(struct vbench *vb)
{
	return backplane_says(vb, "rig");
}

/* ---- guest: the machine that has the disks ---- */

struct guest_paths {
	struct dut_disk disk[VBENCH_DISKS_MAX];
	char nbd[VBENCH_DISKS_MAX][VBENCH_PATH_MAX];
	char qmp[VBENCH_PATH_MAX];
	char agent[VBENCH_PATH_MAX];
	char shell[VBENCH_PATH_MAX];
	char console[VBENCH_PATH_MAX];
	char state[VBENCH_PATH_MAX];
	char rig[VBENCH_PATH_MAX];
};

static void guest_paths_fill(const struct vbench *vb, struct guest_paths *p)
{
	vbench_file(vb, p->qmp, "qmp-dut.sock");
	vbench_file(vb, p->agent, "agent.sock");
	vbench_file(vb, p->shell, "shell.sock");
	vbench_file(vb, p->console, "console.log");
	vbench_file(vb, p->state, "state.img");
	vbench_file(vb, p->rig, "rig.sock");
	for (unsigned int i = 0; i < vb->cfg->disks; i++) {
		const char *serial = vb->cfg->disk[i].serial;

		vbench_file(vb, p->nbd[i], "disk-%s.nbd", serial);
		p->disk[i].serial = serial;
		p->disk[i].nbd_path = p->nbd[i];
	}
}

static int guest_argv(struct vbench *vb, unsigned int index,
		      struct vbench_argv *a, struct err *err)
{
	const struct vbench_cfg *cfg = vb->cfg;
	struct guest_paths p;
	struct dut_cfg dut = {
		.image_dir = cfg->image_dir,
		.kernel = vb->kernel,
		.memory_mb = cfg->memory_mb,
		.vcpus = cfg->cpus,
		.accel = vb->kvm ? DUT_ACCEL_KVM : DUT_ACCEL_TCG,
		.disks = p.disk,
		.n_disks = cfg->disks,
		.qmp_path = p.qmp,
		.agent_path = p.agent,
		.shell_path = p.shell,
		.console_path = p.console,
		.state_path = p.state,
		.rig_path = cfg->usb_rig ? p.rig : NULL,
	};
	char **argv = NULL;
	int rc;

	(void)index;
	guest_paths_fill(vb, &p);
	rc = dut_state_create(cfg->image_dir, p.state, err);
	if (!rc)
		rc = dut_argv_new(&dut, &argv, err);
	if (rc)
		return rc;
	for (size_t i = 0; argv[i]; i++)
		vbench_argv_add(a, "%s", argv[i]);
	dut_argv_free(argv);
	return a->rc;
}

static bool guest_ready(struct vbench *vb)
{
	return backplane_says(vb, "agent");
}

/* ---- table ---- */

static const char *const disk_sockets[] = { "%s.nbd", "%s.ctl", NULL };
static const char *const backplane_sockets[] = { "%s.ctl", NULL };
static const char *const rig_socket_names[] = { "%s.sock", "qmp-%s.sock",
						"qtest-%s.sock",
						"backplane-%s.sock", NULL };
static const char *const guest_sockets[] = { "qmp-dut.sock", "agent.sock",
					     "shell.sock", NULL };

/* The guest takes every cycle it can get; what has to keep time beside it is
 * served first. */
const struct vbench_role vbench_roles[VBENCH_ROLES] = {
	[VBENCH_DISK] = {
		.name = "disk",
		.doing = "disk models",
		.ready_ms = 20000,
		.restart = VBENCH_RESTART_ALWAYS,
		.argv = disk_argv,
		.sockets = disk_sockets,
		.ready = disks_ready,
	},
	[VBENCH_BACKPLANE] = {
		.name = "backplane",
		.doing = "backplane",
		.ready_ms = 20000,
		.restart = VBENCH_RESTART_ALWAYS,
		.argv = backplane_argv,
		.sockets = backplane_sockets,
		.ready = backplane_ready,
	},
	[VBENCH_RIG] = {
		.name = "rig",
		.doing = "rig",
		.ready_ms = 20000,
		.restart = VBENCH_RESTART_ALWAYS,
		.argv = rig_argv,
		.sockets = rig_socket_names,
		.ready = rig_ready,
	},
	[VBENCH_GUEST] = {
		.name = "guest",
		.doing = "guest",
		.restart = VBENCH_RESTART_NEVER,
		.nice = 5,
		.argv = guest_argv,
		.sockets = guest_sockets,
		.ready = guest_ready,
	},
};

unsigned int vbench_role_count(const struct vbench *vb, unsigned int role)
{
	if (role == VBENCH_DISK)
		return vb->cfg->disks;
	if (role == VBENCH_GUEST)
		return vb->cfg->no_guest ? 0 : 1;
	return 1;
}

void vbench_child_name(const struct vbench *vb, unsigned int role,
		       unsigned int index, char name[VBENCH_NAME_MAX + 8])
{
	if (role == VBENCH_DISK)
		snprintf(name, VBENCH_NAME_MAX + 8, "disk-%s",
			 vb->cfg->disk[index].serial);
	else
		snprintf(name, VBENCH_NAME_MAX + 8, "%s",
			 vbench_roles[role].name);
}
