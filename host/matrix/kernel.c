/* Which kernel the machine runs, and how to boot it into another. */
#include "host/matrix/control_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/util/buf.h"
#include "host/util/run.h"

#define BOOT_S 180u

static const struct bench_kernel *find_kernel(const struct bench *b,
					      const char *name)
{
	unsigned i;

	for (i = 0; i < b->n_kernels; i++)
		if (strcmp(b->kernels[i].name, name) == 0)
			return &b->kernels[i];
	return NULL;
}

static bool is_virtual(const struct bench *b, const char *name)
{
	unsigned i;

	if (!b->virt || b->agent.type != BENCH_AGENT_VIRTUAL)
		return false;
	for (i = 0; i < b->virt->n_kernels; i++)
		if (strcmp(b->virt->kernels[i], name) == 0)
			return true;
	return false;
}

bool kernel_known(const struct bench *b, const char *kernel)
{
	return find_kernel(b, kernel) || is_virtual(b, kernel);
}

static int list_kernels(const struct bench *b, struct buf *out)
{
	bool is_virt = b->virt && b->agent.type == BENCH_AGENT_VIRTUAL;
	unsigned i;
	int ret = 0;

	for (i = 0; i < b->n_kernels && ret == 0; i++)
		ret = buf_printf(out, ", %s", b->kernels[i].name);
	for (i = 0; is_virt && i < b->virt->n_kernels && ret == 0; i++)
		ret = buf_printf(out, ", %s", b->virt->kernels[i]);
	return ret;
}

/* A virtual bench boots what has a guest image, any other what its command
 * boots. */
static int unknown_kernel(const struct bench *b, const char *kernel,
			  struct err *err)
{
	bool is_virt = b->agent.type == BENCH_AGENT_VIRTUAL;
	struct buf known = { 0 };

	if (list_kernels(b, &known) < 0) {
		buf_free(&known);
		return err_sys(err, -ENOMEM, "kernel %s", kernel);
	}
	err_set(err, -ENOTSUP,
		"%s has no kernel '%s' (it has: %s); list it under '%s'",
		b->source, kernel, known.len ? known.data + 2 : "none",
		is_virt ? "virtual.kernels" : "kernels");
	buf_free(&known);
	return -ENOTSUP;
}

int control_check_kernels(const struct bench *b, const struct plan *p,
			  const char **wrong, struct err *err)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		const char *kernel = p->cell[i]->kernel;

		if (!*kernel || kernel_known(b, kernel))
			continue;
		if (wrong)
			*wrong = kernel;
		return unknown_kernel(b, kernel, err);
	}
	return 0;
}

bool kernel_matches(const struct bench *b, const char *kernel,
		    const char *release)
{
	const struct bench_kernel *k = find_kernel(b, kernel);
	const char *prefix = k && k->release ? k->release : kernel;
	size_t len = strlen(prefix);

	if (strncmp(release, prefix, len) != 0)
		return false;
	/* 6.1 is not 6.12. */
	return !(len && prefix[len - 1] >= '0' && prefix[len - 1] <= '9' &&
		 release[len] >= '0' && release[len] <= '9');
}

/* ---- booting ------------------------------------------------------------ */

/* A boot takes a minute and the rig wants to hear from us meanwhile, so it
 * runs on a thread of libuv's. */
struct boot {
	uv_work_t work;
	struct controller *c;
	const char *kernel;
	const struct bench_kernel *k; /* NULL: virtual */
	uint32_t ms;
	struct err err;
	int ret;
	bool ended;
};

static void boot_work(uv_work_t *w)
{
	struct boot *b = w->data;
	const char *argv[66];
	struct run_spec spec = { .argv = argv, .deadline_ms = b->ms };
	struct run_child child = { 0 };
	unsigned i;

	if (!b->k) {
		b->ret = b->c->cfg.boot(b->c->cfg.boot_arg, b->kernel, b->ms,
					&b->err);
		return;
	}
	for (i = 0; i < b->k->n_boot && i < 64; i++)
		argv[i] = b->k->boot[i];
	argv[i] = NULL;
	b->ret = run_ok(&child, &spec, &b->err);
	run_close(&child, 1000);
}

static void boot_ended(uv_work_t *w, int status)
{
	struct boot *b = w->data;

	(void)status;
	b->ended = true;
}

static uint32_t boot_ms(const struct controller *c)
{
	uint32_t s = c->cfg.bench->boot_wait_s;

	return 1000 * (s ? s : BOOT_S);
}

static int no_boot_command(const struct controller *c,
			   const struct bench_kernel *k, struct err *err)
{
	const struct bench *b = c->cfg.bench;
	char path[64];

	snprintf(path, sizeof(path), "kernels[%u]", (unsigned)(k - b->kernels));
	return conf_fail(b->file, err, -ENOTSUP, path,
			 "kernel %s is wanted, %s runs, and there is no 'boot' "
			 "command for it",
			 k->name, dut_hello(c->dut)->kernel_release);
}

static int start_boot(struct controller *c, const char *kernel, struct err *err)
{
	struct boot b = { .c = c,
			  .kernel = kernel,
			  .k = find_kernel(c->cfg.bench, kernel),
			  .ms = boot_ms(c) };

	if (!b.k && (!is_virtual(c->cfg.bench, kernel) || !c->cfg.boot))
		return conf_fail(c->cfg.bench->file, err, -ENOTSUP, "kernels",
				 "nothing says how to boot kernel %s", kernel);
	if (b.k && !b.k->n_boot)
		return no_boot_command(c, b.k, err);
	b.work.data = &b;
	if (uv_queue_work(c->cfg.loop, &b.work, boot_work, boot_ended) < 0)
		return err_sys(err, -ENOMEM, "boot");
	while (!b.ended)
		uv_run(c->cfg.loop, UV_RUN_ONCE);
	/* Whatever became of it, the machine is away. */
	return b.ret < 0 ? err_set(err, -ENOTCONN, "booting kernel %s: %s",
				   kernel, b.err.text)
			 : 0;
}

/* After the command the old kernel may answer for a while. */
static int wait_booted(struct controller *c, const char *old_boot,
		       struct err *err)
{
	uint64_t end = uv_hrtime() / 1000000 + boot_ms(c);
	int ret;

	do {
		ret = dut_reopen(c->dut, boot_ms(c), err);
		if (ret < 0)
			return ret;
		if (strcmp(dut_hello(c->dut)->boot_id, old_boot) != 0)
			return 0;
		ret = dut_run(c->dut, 500);
		if (ret < 0)
			return err_set(err, ret, "cancelled");
	} while (uv_hrtime() / 1000000 < end);
	return err_set(err, -ETIMEDOUT,
		       "the machine was told to boot and did not");
}

static int boot_into(struct controller *c, const char *kernel, struct err *err)
{
	char old[64];
	int ret;

	snprintf(old, sizeof(old), "%s", dut_hello(c->dut)->boot_id);
	ret = start_boot(c, kernel, err);
	if (ret == 0)
		ret = wait_booted(c, old, err);
	return ret == 0 ? step_reset(c, err) : ret;
}

int kernel_ensure(struct controller *c, const char *kernel, struct err *err)
{
	const struct bench *b = c->cfg.bench;
	int ret;

	if (!*kernel ||
	    kernel_matches(b, kernel, dut_hello(c->dut)->kernel_release))
		return 0;
	control_phase(c, "boot");
	ret = boot_into(c, kernel, err);
	control_phase_end(c);
	if (ret < 0)
		return ret;
	if (!kernel_matches(b, kernel, dut_hello(c->dut)->kernel_release))
		return err_set(err, -ENOTSUP,
			       "kernel %s is wanted, after the boot %s runs",
			       kernel, dut_hello(c->dut)->kernel_release);
	return 0;
}

int kernel_reboot(struct controller *c, struct err *err)
{
	const struct bench *b = c->cfg.bench;
	const char *release, *kernel = NULL;
	unsigned i;

	if (!dut_hello(c->dut))
		return err_set(err, -ENOTSUP, "nobody knows what to boot");
	release = dut_hello(c->dut)->kernel_release;
	for (i = 0; b->virt && i < b->virt->n_kernels && !kernel; i++)
		if (kernel_matches(b, b->virt->kernels[i], release))
			kernel = b->virt->kernels[i];
	for (i = 0; i < b->n_kernels; i++)
		if (b->kernels[i].n_boot &&
		    kernel_matches(b, b->kernels[i].name, release))
			kernel = b->kernels[i].name;
	if (!kernel)
		return conf_fail(b->file, err, -ENOTSUP, "kernels",
				 "no way to boot the machine is given");
	return boot_into(c, kernel, err);
}

int kernel_start_guest(struct controller *c, struct err *err)
{
	const struct bench *b = c->cfg.bench;

	if (b->agent.type != BENCH_AGENT_VIRTUAL || !c->cfg.boot || !b->virt ||
	    !b->virt->n_kernels)
		return err_set(err, -ENOTSUP, "the machine is none of ours");
	return start_boot(c, b->virt->kernels[0], err);
}
