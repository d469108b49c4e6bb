/* bay rig power: switch slots, and wait until they are there. */
#include "host/cli/cmd_rig.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "host/cli/print_json.h"
#include "host/cli/rig_cli.h"
#include "host/util/parse.h"

#define SWITCH_S 120u

enum power_verb {
	POWER_ON,
	POWER_OFF,
	POWER_CYCLE,
};

static const struct cli_option power_options[] = {
	{ "timeout", 't', "S", "seconds to wait; the slot goes on switching" },
	{ 0 },
};

static json_t *report_json(const struct cli *cli, unsigned slot,
			   const struct rig_slot_report *r)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:f, s:I, s:I, s:I, s:I}",
			 "slot", (int)slot, "disk", rig_cli_disk_in(cli, slot),
			 "state", rig_state_name(r->state), "fault",
			 rig_fault_name(r->fault), "took_s", r->took_s,
			 "fall_us", (json_int_t)r->fall_us, "residual_5v_mv",
			 (json_int_t)r->residual_5v_mv, "residual_12v_mv",
			 (json_int_t)r->residual_12v_mv, "cycles",
			 (json_int_t)r->cycles);
}

static void print_report(const struct cli *cli, unsigned slot,
			 const struct rig_slot_report *r, bool was_off)
{
	const char *disk = rig_cli_disk_in(cli, slot);

	printf("slot %u%s%s%s %s after %.1f s", slot, *disk ? " (" : "", disk,
	       *disk ? ")" : "", rig_state_name(r->state), r->took_s);
	if (was_off && r->fall_us)
		printf(", fell in %.0f ms to %.2f V and %.2f V",
		       r->fall_us / 1e3, r->residual_5v_mv / 1e3,
		       r->residual_12v_mv / 1e3);
	else if (was_off)
		printf(", was off before, %.2f V and %.2f V",
		       r->residual_5v_mv / 1e3, r->residual_12v_mv / 1e3);
	if (r->fault)
		printf(", fault %s", rig_fault_name(r->fault));
	putchar('\n');
}

int rig_power_report(struct rig_cli *s, uint32_t mask,
		     const struct rig_slot_report *reports, bool was_off)
{
	json_t *list = s->cli->json ? json_array() : NULL;

	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++) {
		if (!(mask & 1u << i))
			continue;
		if (list)
			json_array_append_new(
				list, report_json(s->cli, i, &reports[i]));
		else
			print_report(s->cli, i, &reports[i], was_off);
	}
	return list ? print_json(json_pack("{s:o}", "slots", list), JSON_LINE)
		    : 0;
}

static int switch_slots(struct rig_cli *s, enum power_verb verb, uint32_t mask,
			uint32_t ms, struct err *err)
{
	struct rig_slot_report reports[RIG_SLOTS_MAX] = { { 0 } };
	int shown;
	int rc = 0;

	if (verb != POWER_OFF)
		rc = rig_hold_power(s->rig, mask, err);
	if (rc)
		return rc;
	if (verb == POWER_CYCLE)
		rc = rig_slot_cycle(s->rig, mask, ms, reports, err);
	else
		rc = rig_slot_set_and_wait(s->rig, mask, verb == POWER_ON, ms,
					   reports, err);
	/* What became of the others is worth knowing after a fault too. */
	if (rc && rc != -ETIME && rc != -EREMOTEIO)
		return rc;
	shown = rig_power_report(s, mask, reports, verb != POWER_ON);
	return rc ? rc : shown;
}

static int run_power(struct cli *cli, int argc, char **argv,
		     enum power_verb verb)
{
	struct rig_cli s = { 0 };
	struct err err = { 0 };
	uint64_t timeout_s = SWITCH_S;
	uint32_t mask = 0;
	int opt, rc;

	while ((opt = cli_getopt(cli, argc, argv, "", power_options)) != -1) {
		if (opt != 't')
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
		if (parse_u64(optarg, &timeout_s) < 0 || !timeout_s ||
		    timeout_s > 3600)
			return cli_usage("--timeout takes 1 to 3600 seconds");
	}
	if (optind == argc)
		return cli_usage("name slots, disks, or 'all'");
	rc = rig_cli_attach(&s, cli, NULL, NULL, RIG_EVENTS_NEW, &err);
	if (!rc)
		rc = rig_cli_slots(&s, argc - optind, argv + optind, &mask,
				   &err);
	if (!rc)
		rc = switch_slots(&s, verb, mask, (uint32_t)timeout_s * 1000,
				  &err);
	rig_cli_detach(&s);
	return rig_cli_complain(rc, &err);
}

static int run_on(struct cli *cli, int argc, char **argv)
{
	return run_power(cli, argc, argv, POWER_ON);
}

static int run_off(struct cli *cli, int argc, char **argv)
{
	return run_power(cli, argc, argv, POWER_OFF);
}

static int run_cycle(struct cli *cli, int argc, char **argv)
{
	return run_power(cli, argc, argv, POWER_CYCLE);
}

static const struct command rig_on_command = {
	.name = "on",
	.args = "[--timeout S] SLOT|DISK|all...",
	.summary = "switch slots on, wait until they are up",
	.run = run_on,
};

static const struct command rig_off_command = {
	.name = "off",
	.args = "[--timeout S] SLOT|DISK|all...",
	.summary = "switch slots off, wait for the proof",
	.run = run_off,
};

static const struct command rig_cycle_command = {
	.name = "cycle",
	.args = "[--timeout S] SLOT|DISK|all...",
	.summary = "off, proven, and on again",
	.run = run_cycle,
};

static const struct command *const power_table[] = {
	&rig_on_command,
	&rig_off_command,
	&rig_cycle_command,
	NULL,
};

const struct command rig_power_command = {
	.name = "power",
	.args = "on|off|cycle [--timeout S] SLOT|DISK|all...",
	.summary = "switch slots",
	.sub = power_table,
};
