/* bay rig: look at the rig; its other commands are in cmd_rig_*.c. */
#include "host/cli/cmd_rig.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "host/cli/print_json.h"
#include "host/cli/rig_cli.h"
#include "proto/schema.h"

#define CLOCK_SETTLE_MS 250u

/* ---- info ---- */

static void hex(const uint8_t *bytes, size_t len, char *text)
{
	for (size_t i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static json_t *info_json(struct rig_cli *s, const Info *info)
{
	const struct control_hello *peer = rig_peer(s->rig);
	struct rig_clock clock;
	char id[2 * 64 + 1] = "";

	rig_clock_get(s->rig, &clock);
	hex(info->unique_id.data,
	    info->unique_id.len < 64 ? info->unique_id.len : 64, id);
	return json_pack(
		"{s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:i, s:b, s:i, s:s, s:I,"
		" s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}",
		"where", rig_where(s->rig), "firmware", info->firmware, "board",
		info->board, "board_revision", (int)info->board_revision,
		"unique_id", id, "slots", (int)info->slots, "major",
		(int)peer->major, "minor", (int)peer->minor, "same_schema",
		peer->schema == SCHEMA_HASH, "features", (int)info->features,
		"reset_cause", rig_reset_name(info->reset), "boot_id",
		(json_int_t)info->boot_id, "uptime_us",
		(json_int_t)info->now_us, "config_generation",
		(json_int_t)info->config_generation, "config_crc",
		(json_int_t)info->config_crc, "last_event",
		(json_int_t)info->last_event, "fault_mask",
		(json_int_t)info->fault_mask, "rtt_us",
		(json_int_t)rig_rtt_us(s->rig), "clock_rate_ppm",
		clock.rate_ppm, "clock_bound_us",
		clock.valid ? clock.bound_us : -1.0);
}

static void print_info(struct rig_cli *s, const Info *info)
{
	const struct control_hello *peer = rig_peer(s->rig);
	struct rig_clock clock;

	rig_clock_get(s->rig, &clock);
	printf("rig        %s, at %s\n", info->board, rig_where(s->rig));
	printf("firmware   %s, protocol %u.%u%s\n", info->firmware, peer->major,
	       peer->minor,
	       peer->schema == SCHEMA_HASH ? ""
					   : " (another schema than this bay)");
	printf("slots      %u, latched faults 0x%02x\n", info->slots,
	       info->fault_mask);
	printf("up         %.1f s, boot %08x, reset cause %s\n",
	       (double)info->now_us / 1e6, info->boot_id,
	       rig_reset_name(info->reset));
	printf("config     generation %u, crc %08x\n", info->config_generation,
	       info->config_crc);
	printf("events     %u\n", info->last_event);
	printf("link       round trip %.1f ms", rig_rtt_us(s->rig) / 1e3);
	if (clock.valid)
		printf(", clock within %.0f us", clock.bound_us);
	putchar('\n');
}

static int show_info(struct rig_cli *s, struct err *err)
{
	Result *res = NULL;
	int rc = rig_run(s->rig, CLOCK_SETTLE_MS, err);

	if (!rc)
		rc = rig_get_info(s->rig, &res, err);
	if (rc)
		return rc;
	if (res->body_case != RESULT__BODY_INFO)
		rc = err_set(err, -EPROTO, "the rig does not tell what it is");
	else if (s->cli->json)
		rc = print_json(info_json(s, res->info), JSON_LINE);
	else
		print_info(s, res->info);
	result__free_unpacked(res, NULL);
	return rc;
}

/* What asks the rig one thing and has no options. */
static int run_show(struct cli *cli, int argc, char **argv,
		    int (*show)(struct rig_cli *s, struct err *err))
{
	struct rig_cli s = { 0 };
	struct err err = { 0 };
	int rc = rig_cli_no_options(cli, argc, argv);

	if (rc != -1)
		return rc;
	rc = rig_cli_attach(&s, cli, NULL, NULL, RIG_EVENTS_NEW, &err);
	if (!rc)
		rc = show(&s, &err);
	rig_cli_detach(&s);
	return rig_cli_complain(rc, &err);
}

static int run_info(struct cli *cli, int argc, char **argv)
{
	return run_show(cli, argc, argv, show_info);
}

/* ---- status ---- */

/* A rail that was not measured yet has none. */
static json_t *mv_of(const Rail *r)
{
	return r ? json_integer(r->mv) : json_null();
}

static json_t *ma_of(const Rail *r)
{
	return r ? json_integer(r->ma) : json_null();
}

static json_t *status_json(const struct cli *cli, const SlotStatus *st)
{
	return json_pack(
		"{s:i, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:I, s:I, s:I,"
		" s:I, s:I, s:f, s:I}",
		"slot", (int)st->slot, "disk", rig_cli_disk_in(cli, st->slot),
		"state", rig_state_name(st->state), "fault",
		rig_fault_name(st->fault), "wanted_on", st->wanted_on, "mv_5v",
		mv_of(st->v5), "ma_5v", ma_of(st->v5), "mv_12v", mv_of(st->v12),
		"ma_12v", ma_of(st->v12), "fall_us", (json_int_t)st->fall_us,
		"residual_5v_mv", (json_int_t)st->residual_5v_mv,
		"residual_12v_mv", (json_int_t)st->residual_12v_mv, "cycles",
		(json_int_t)st->cycles, "trips", (json_int_t)st->trips,
		"board_c", st->board_mdegc / 1000.0, "min_off_left_ms",
		(json_int_t)st->min_off_left_ms);
}

static void print_rail(const Rail *r)
{
	if (r)
		printf(" %6.2f V %5.2f A", r->mv / 1e3, r->ma / 1e3);
	else
		printf(" %6s V %5s A", "-", "-");
}

static void print_status(struct rig_cli *s, const SlotStatus *st)
{
	if (s->first)
		printf("slot disk             state        "
		       "     5 V           12 V    fall  cycles\n");
	s->first = false;
	printf("%4u %-16s %-11s", st->slot, rig_cli_disk_in(s->cli, st->slot),
	       rig_state_name(st->state));
	print_rail(st->v5);
	print_rail(st->v12);
	if (st->fall_us)
		printf(" %5.0f ms", st->fall_us / 1e3);
	else
		printf(" %8s", "-");
	printf(" %5u", st->cycles);
	if (st->fault)
		printf("  %s", rig_fault_name(st->fault));
	putchar('\n');
}

static int show_status(struct rig_cli *s, struct err *err)
{
	json_t *list = s->cli->json ? json_array() : NULL;
	unsigned slots = rig_hello(s->rig)->slots;
	int rc = 0;

	for (unsigned i = 0; !rc && i < slots; i++) {
		Result *res;

		rc = rig_get_status(s->rig, i, &res, err);
		if (rc < 0)
			break;
		if (list)
			json_array_append_new(
				list, status_json(s->cli, res->slot_status));
		else
			print_status(s, res->slot_status);
		result__free_unpacked(res, NULL);
	}
	if (list && !rc)
		return print_json(json_pack("{s:o}", "slots", list), JSON_LINE);
	json_decref(list);
	return rc;
}

static int run_status(struct cli *cli, int argc, char **argv)
{
	return run_show(cli, argc, argv, show_status);
}

/* ---- tables ---- */

static const struct command rig_info_command = {
	.name = "info",
	.args = "",
	.summary = "what rig it is, its firmware and link",
	.run = run_info,
};

static const struct command rig_status_command = {
	.name = "status",
	.args = "",
	.summary = "state, voltages and currents of every slot",
	.run = run_status,
};

static const struct command *const rig_table[] = {
	&rig_info_command,
	&rig_status_command,
	&rig_power_command,
	&rig_clear_command,
	&rig_monitor_command,
	&rig_log_command,
	NULL,
};

const struct command cmd_rig = {
	.name = "rig",
	.args = "info|status|power|clear|monitor|log",
	.summary = "look at the rig and switch its slots",
	.sub = rig_table,
};
