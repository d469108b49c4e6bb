/* The supervisor: a short state machine over the table of roles. */
#include "host/bench/vbench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boards/virtual/dut/dut.h"
#include "host/bench/vbench_priv.h"
#include "host/util/buf.h"
#include "host/util/clock.h"
#include "host/util/fs.h"
#include "host/util/log.h"

#define TICK_MS   50
#define BOOTS_MAX 3 /* for one wish */
/* From the polite signal to the other one. */
#define STOP_NS (3 * NS_PER_S)
/* The backplane needs a moment to see that an old guest is gone. */
#define SETTLE_NS (300 * NS_PER_MS)

static void progress(struct vbench *vb, const char *text)
{
	if (vb->watch->progress)
		vb->watch->progress(vb->watch->arg, text);
	log_info("%s", text);
}

/* Last line of a child's log that says anything. */
static void log_tail(struct vbench *vb, const char *name, char *text,
		     size_t size)
{
	char path[VBENCH_PATH_MAX];
	struct buf b = { 0 };
	char *save = NULL;

	text[0] = '\0';
	vbench_file(vb, path, "%s.log", name);
	if (!fs_read(path, 1024 * 1024, &b) && b.len) {
		for (char *line = strtok_r(b.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			snprintf(text, size, ": %.300s", line);
	}
	buf_free(&b);
}

/* ---- going down ---- */

static void stop_children(struct vbench *vb, int sig)
{
	/* Users before what they use. */
	for (unsigned int i = vb->children; i-- > 0;) {
		struct vbench_child *c = &vb->child[i];

		uv_timer_stop(&c->again);
		vbench_child_signal(c, sig);
		if (c->frozen)
			vbench_child_signal(c, SIGCONT);
	}
}

void vbench_stop(struct vbench *vb, int rc)
{
	if (vb->phase == VBENCH_STOPPING)
		return;
	vb->rc = rc;
	vb->phase = VBENCH_STOPPING;
	vb->stop_since_ns = clock_mono_ns();
	stop_children(vb, SIGTERM);
	vbench_boot_done(vb, -ECANCELED, "the bench goes down");
}

static void fail(struct vbench *vb, int rc)
{
	if (vb->phase == VBENCH_STARTING)
		vbench_stop(vb, rc);
}

static void close_all(struct vbench *vb)
{
	uv_close((uv_handle_t *)&vb->tick, NULL);
	for (unsigned int i = 0; i < 3; i++)
		uv_close((uv_handle_t *)&vb->signal[i], NULL);
	for (unsigned int i = 0; i < vb->children; i++)
		uv_close((uv_handle_t *)&vb->child[i].again, NULL);
	vbench_down_done(vb);
	if (vb->ctl_open)
		line_server_close(&vb->ctl);
}

static void tick_stopping(struct vbench *vb)
{
	if (clock_mono_ns() - vb->stop_since_ns > STOP_NS)
		stop_children(vb, SIGKILL);
	if (!vbench_children_running(vb))
		close_all(vb);
}

static void on_signal(uv_signal_t *s, int signum)
{
	struct vbench *vb = s->data;

	log_info("goes down on signal %d", signum);
	if (vb->stop_signals++)
		stop_children(vb, SIGKILL);
	if (vb->phase == VBENCH_STARTING)
		err_set(vb->err, -ECANCELED, "stopped before it was up");
	vbench_stop(vb, vb->was_up ? 0 : -ECANCELED);
}

/* ---- coming up ---- */

static uint64_t ready_ms(const struct vbench *vb, unsigned int role)
{
	if (vbench_roles[role].ready_ms)
		return vbench_roles[role].ready_ms;
	return vb->kvm ? DUT_READY_KVM_MS : vb->cfg->boot_wait_s * 1000ull;
}

static int start_role(struct vbench *vb, unsigned int role, struct err *err)
{
	int rc = 0;

	for (unsigned int i = 0; i < vb->children && !rc; i++) {
		if (vb->child[i].role == role)
			rc = vbench_child_start(&vb->child[i], err);
	}
	return rc;
}

static void enter_role(struct vbench *vb)
{
	char text[96];
	int rc;

	snprintf(text, sizeof(text), "starting %s%s%s",
		 vbench_roles[vb->role].doing,
		 vb->role == VBENCH_GUEST ? " with kernel " : "",
		 vb->role == VBENCH_GUEST ? vb->kernel : "");
	progress(vb, text);
	vb->role_since_ns = clock_mono_ns();
	rc = start_role(vb, vb->role, vb->err);
	if (rc)
		fail(vb, rc);
}

static void all_up(struct vbench *vb)
{
	vb->phase = VBENCH_UP;
	vb->was_up = true;
	vbench_state_write(vb);
	log_info("bench %s is up", vb->cfg->name);
	if (vb->watch->ready)
		vb->watch->ready(vb->watch->arg);
}

static void next_role(struct vbench *vb)
{
	vbench_state_write(vb);
	vb->role++;
	while (vb->role < VBENCH_ROLES && !vbench_role_count(vb, vb->role))
		vb->role++;
	if (vb->role < VBENCH_ROLES)
		enter_role(vb);
	else
		all_up(vb);
}

static void too_slow(struct vbench *vb)
{
	char tail[320];
	char name[VBENCH_NAME_MAX + 8];

	vbench_child_name(vb, vb->role, 0, name);
	log_tail(vb, name, tail, sizeof(tail));
	fail(vb,
	     err_set(vb->err, -ETIMEDOUT, "%s not ready after %llu s%s",
		     vbench_roles[vb->role].doing,
		     (unsigned long long)ready_ms(vb, vb->role) / 1000, tail));
}

/* Kill the guest if it runs, and start it when it is gone. */
static void guest_again(struct vbench *vb, struct vbench_child *guest)
{
	vb->guest_due = true;
	if (guest->running)
		vbench_child_signal(guest, SIGKILL);
	else
		vbench_child_start_soon(guest);
}

/* A guest may hang under KVM although KVM itself works. */
static bool fall_back_to_tcg(struct vbench *vb)
{
	if (!vb->kvm)
		return false;
	log_warnx("guest is not ready under KVM, trying without");
	vb->kvm = false;
	vb->boot_since_ns = clock_mono_ns();
	vb->role_since_ns = vb->boot_since_ns;
	guest_again(vb, vbench_child_find(vb, VBENCH_GUEST, 0));
	return true;
}

static void tick_starting(struct vbench *vb)
{
	uint64_t age_ms = (clock_mono_ns() - vb->role_since_ns) / NS_PER_MS;

	if (vb->guest_due)
		return;
	if (vbench_roles[vb->role].ready(vb))
		next_role(vb);
	else if (age_ms > ready_ms(vb, vb->role)) {
		if (vb->role != VBENCH_GUEST || !fall_back_to_tcg(vb))
			too_slow(vb);
	}
}

/* ---- booting the guest again ---- */

int vbench_boot(struct vbench *vb, const char *kernel, struct err *err)
{
	struct vbench_child *guest = vbench_child_find(vb, VBENCH_GUEST, 0);
	int rc;

	if (!guest)
		return err_set(err, -ENODEV, "this bench has no guest");
	if (vb->booting)
		return err_set(err, -EBUSY, "the guest is being booted");
	rc = dut_image_check(vb->cfg->image_dir, kernel, err);
	if (rc)
		return rc;
	log_info("guest boots kernel %s", kernel);
	if (kernel != vb->kernel)
		snprintf(vb->kernel, sizeof(vb->kernel), "%s", kernel);
	vb->booting = true;
	vb->boots = 1;
	vb->boot_since_ns = clock_mono_ns();
	guest_again(vb, guest);
	return 0;
}

static void tick_booting(struct vbench *vb)
{
	uint64_t age_ns = clock_mono_ns() - vb->boot_since_ns;

	if (vb->guest_due || age_ns < SETTLE_NS)
		return;
	if (vbench_roles[VBENCH_GUEST].ready(vb))
		vbench_boot_done(vb, 0, NULL);
	else if (age_ns > ready_ms(vb, VBENCH_GUEST) * NS_PER_MS &&
		 !fall_back_to_tcg(vb))
		vbench_boot_done(vb, -ETIMEDOUT,
				 "the guest's agent does not answer");
}

/* A kernel may panic on its way up, an emulated one more often than others. */
static bool boot_once_more(struct vbench *vb, struct vbench_child *guest)
{
	if (vb->boots == BOOTS_MAX)
		return false;
	vb->boots++;
	log_warnx("guest ended while it booted: %s; booting it once more",
		  guest->last_exit);
	vb->boot_since_ns = clock_mono_ns();
	vb->role_since_ns = vb->boot_since_ns;
	guest_again(vb, guest);
	return true;
}

static void guest_ended(struct vbench *vb, struct vbench_child *c)
{
	if (vb->guest_due) {
		vbench_child_start_soon(c);
		return;
	}
	if (vb->booting && boot_once_more(vb, c))
		return;
	log_warnx("guest ended: %s; 'boot' starts it again", c->last_exit);
	if (vb->booting)
		vbench_boot_done(vb, -EIO, "the guest ended while it booted");
}

void vbench_child_failed(struct vbench_child *c, const struct err *err)
{
	log_warnx("%s: %s", c->name, err->text);
	if (c->role == VBENCH_GUEST && c->vb->booting)
		vbench_boot_done(c->vb, -EIO, err->text);
	else
		fail(c->vb, err_set(c->vb->err, -EIO, "%s", err->text));
}

void vbench_child_ended(struct vbench_child *c)
{
	struct vbench *vb = c->vb;
	char tail[320];

	if (vb->phase == VBENCH_STOPPING)
		return;
	if (c->role == VBENCH_GUEST &&
	    (vb->phase == VBENCH_UP || vb->guest_due)) {
		guest_ended(vb, c);
		return;
	}
	if (vb->phase != VBENCH_STARTING)
		return;
	if (c->role == VBENCH_GUEST && boot_once_more(vb, c))
		return;
	log_tail(vb, c->name, tail, sizeof(tail));
	fail(vb,
	     err_set(vb->err, -EIO, "%s ended while the bench came up: %s%s",
		     c->name, c->last_exit, tail));
}

/* ---- the loop ---- */

static void on_tick(uv_timer_t *t)
{
	struct vbench *vb = t->data;

	if (vb->phase == VBENCH_STARTING)
		tick_starting(vb);
	else if (vb->phase == VBENCH_STOPPING)
		tick_stopping(vb);
	else if (vb->booting)
		tick_booting(vb);
}

/* An erased part: the firmware of the rig keeps its configuration there. */
static int make_eeprom(struct vbench *vb, struct err *err)
{
	char path[VBENCH_PATH_MAX];
	size_t bytes = vb->cfg->wiring.eeprom_bytes;
	char *erased = malloc(bytes);
	int rc = -ENOMEM;

	vbench_file(vb, path, "eeprom.img");
	if (erased) {
		memset(erased, 0xff, bytes);
		rc = fs_write_atomic(path, erased, bytes);
	}
	free(erased);
	return rc ? err_sys(err, rc, "%s", path) : 0;
}

static void signals_open(struct vbench *vb)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (unsigned int i = 0; i < 3; i++) {
		uv_signal_init(&vb->loop, &vb->signal[i]);
		vb->signal[i].data = vb;
		uv_signal_start(&vb->signal[i], on_signal, signals[i]);
	}
}

static int supervise(struct vbench *vb)
{
	int rc;

	uv_loop_init(&vb->loop);
	uv_timer_init(&vb->loop, &vb->tick);
	vb->tick.data = vb;
	signals_open(vb);
	vbench_children_init(vb);
	rc = vbench_ctl_open(vb);
	vb->ctl_open = rc == 0;
	if (rc)
		err_sys(vb->err, rc, "cannot listen in %s", vb->cfg->run);
	uv_timer_start(&vb->tick, on_tick, TICK_MS, TICK_MS);
	if (rc)
		vbench_stop(vb, rc);
	else
		enter_role(vb);
	uv_run(&vb->loop, UV_RUN_DEFAULT);
	uv_loop_close(&vb->loop);
	return vb->rc;
}

int vbench_run(const struct vbench_cfg *cfg, const struct vbench_watch *watch,
	       struct err *err)
{
	struct vbench *vb = calloc(1, sizeof(*vb));
	int rc;

	if (!vb)
		return err_sys(err, -ENOMEM, "virtual bench");
	vb->cfg = cfg;
	vb->watch = watch;
	vb->err = err;
	snprintf(vb->kernel, sizeof(vb->kernel), "%s", cfg->kernel);
	vb->boots = 1;
	rc = vbench_dir_open(&vb->dir, cfg->run, err);
	if (rc)
		goto out;
	rc = make_eeprom(vb, err);
	if (!rc) {
		vb->kvm = !cfg->no_guest && dut_kvm_usable();
		rc = supervise(vb);
	}
	vbench_dir_close(&vb->dir, cfg->keep_logs);
out:
	free(vb);
	return rc;
}
