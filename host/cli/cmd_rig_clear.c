/* bay rig clear: take a latched fault off a slot, on purpose. */
#include "host/cli/cmd_rig.h"

#include <errno.h>

#define SWITCH_MS 120000u

/* Who names the disk has typed the serial that a locked slot asks for; a
 * number or "all" is no such word. */
static const char *typed_serial(const struct rig_cli *s, const char *name)
{
	return bench_disk_find(s->cli->bench, name) ? name : NULL;
}

static int clear_named(struct rig_cli *s, char *name, uint32_t *cleared,
		       struct err *err)
{
	uint32_t mask = 0;
	int rc = rig_cli_slots(s, 1, &name, &mask, err);

	for (unsigned i = 0; !rc && i < RIG_SLOTS_MAX; i++) {
		if (!(mask & 1u << i))
			continue;
		rc = rig_clear_fault(s->rig, i, typed_serial(s, name), err);
		if (!rc)
			*cleared |= 1u << i;
	}
	return rc;
}

/* Cleared is not yet off: that has to be proven again. */
static int see_off(struct rig_cli *s, uint32_t mask, struct err *err)
{
	struct rig_slot_report reports[RIG_SLOTS_MAX] = { { 0 } };
	int rc = rig_slot_set_and_wait(s->rig, mask, false, SWITCH_MS, reports,
				       err);
	int shown;

	if (rc && rc != -ETIME && rc != -EREMOTEIO)
		return rc;
	shown = rig_power_report(s, mask, reports, true);
	return rc ? rc : shown;
}

static int run_clear(struct cli *cli, int argc, char **argv)
{
	struct rig_cli s = { 0 };
	struct err err = { 0 }, more = { 0 };
	uint32_t cleared = 0;
	int opt = cli_getopt(cli, argc, argv, "", NULL);
	int rc, seen = 0;

	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	if (optind == argc)
		return cli_usage("name the slots or disks whose fault may go");
	rc = rig_cli_attach(&s, cli, NULL, NULL, RIG_EVENTS_NEW, &err);
	for (int i = optind; !rc && i < argc; i++)
		rc = clear_named(&s, argv[i], &cleared, &err);
	if (cleared)
		seen = see_off(&s, cleared, rc ? &more : &err);
	rig_cli_detach(&s);
	return rig_cli_complain(rc ? rc : seen, &err);
}

const struct command rig_clear_command = {
	.name = "clear",
	.args = "SLOT|DISK...",
	.summary = "clear latched faults, once their cause is known",
	.run = run_clear,
};
