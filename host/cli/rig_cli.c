#include "host/cli/rig_cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bench/lock.h"
#include "host/rig/rig_bench.h"
#include "host/util/fs.h"
#include "host/util/parse.h"

static int exit_of(int rc)
{
	if (!rc)
		return BAY_OK;
	if (rc == -EINVAL)
		return BAY_USAGE;
	if (rc == -EUSERS)
		return BAY_REFUSED;
	return rig_is_unreachable(rc) ? BAY_UNREACHABLE : BAY_FAILED;
}

int rig_cli_complain(int rc, const struct err *err)
{
	/* What is empty was said already, with the bench. */
	if (rc < 0 && err->text[0])
		fprintf(stderr, "bay: %s\n", err->text);
	return exit_of(rc);
}

static void on_signal(uv_signal_t *h, int signum)
{
	struct rig_cli *s = h->data;

	(void)signum;
	s->interrupted = true;
	if (s->rig)
		rig_cancel(s->rig);
}

static void watch_signal(struct rig_cli *s, uv_signal_t *h, int signum)
{
	uv_signal_init(&s->loop, h);
	h->data = s;
	uv_signal_start(h, on_signal, signum);
}

int rig_cli_attach(struct rig_cli *s, struct cli *cli, const char *what,
		   const struct rig_ops *ops, uint32_t since, struct err *err)
{
	const struct bench *b = cli_bench(cli);
	struct rig_cfg cfg = { .ops = ops, .arg = s, .events_since = since };
	char path[FS_PATH_BYTES];
	int rc;

	if (!b)
		return -EINVAL;
	rc = rig_bench_address(b, &cfg.address, path, sizeof(path), err);
	if (rc < 0)
		return rc;
	/* Not only once nobody answers: while a run connects again, the line
	 * is free for a moment. */
	rc = what ? bench_lock(b, what, err) : bench_lock_look(b, err);
	if (rc < 0)
		return rc == -EBUSY ? -EUSERS : rc;
	*s = (struct rig_cli){ .cli = cli,
			       .lock = what ? rc : -1,
			       .first = true };
	uv_loop_init(&s->loop);
	watch_signal(s, &s->on_int, SIGINT);
	watch_signal(s, &s->on_term, SIGTERM);
	cfg.loop = &s->loop;
	return rig_open(&cfg, &s->rig, err);
}

void rig_cli_detach(struct rig_cli *s)
{
	if (!s->cli)
		return;
	rig_close(s->rig);
	uv_close((uv_handle_t *)&s->on_int, NULL);
	uv_close((uv_handle_t *)&s->on_term, NULL);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
	bench_unlock(s->lock);
}

int rig_cli_no_options(struct cli *cli, int argc, char **argv)
{
	int opt = cli_getopt(cli, argc, argv, "", NULL);

	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	return -1;
}

const char *rig_cli_disk_in(const struct cli *cli, unsigned slot)
{
	const struct bench *b = cli->bench;

	for (unsigned i = 0; i < b->n_disks; i++)
		if (b->disks[i].slot == (int32_t)slot)
			return b->disks[i].serial;
	return "";
}

/* "all", a slot number, or the serial of a disk of the bench. */
static int add_slot(struct rig_cli *s, const char *name, uint32_t *mask,
		    struct err *err)
{
	const struct bench *b = s->cli->bench;
	unsigned slots = rig_hello(s->rig)->slots;
	const struct bench_disk *d = bench_disk_find(b, name);
	uint64_t n = 0;

	if (!strcmp(name, "all")) {
		for (unsigned i = 0; i < b->n_disks; i++)
			if (b->disks[i].slot >= 0)
				*mask |= 1u << b->disks[i].slot;
		return 0;
	}
	if (d && d->slot >= 0)
		n = (uint64_t)d->slot;
	else if (d || parse_u64(name, &n) < 0)
		return err_set(err, -EINVAL,
			       "'%s' is neither a slot, nor a disk of %s that "
			       "has one, nor 'all'",
			       name, b->source);
	if (n >= slots)
		return err_set(err, -EINVAL,
			       "the rig has slots 0 to %u, not %s", slots - 1,
			       name);
	*mask |= 1u << n;
	return 0;
}

int rig_cli_slots(struct rig_cli *s, int argc, char **argv, uint32_t *mask,
		  struct err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < argc; i++)
		rc = add_slot(s, argv[i], mask, err);
	if (!rc && !*mask)
		rc = err_set(err, -EINVAL, "no disk of %s has a slot",
			     s->cli->bench->source);
	return rc;
}
