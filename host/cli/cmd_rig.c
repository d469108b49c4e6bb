/* bay rig: look at the rig and switch its slots. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/print_json.h"
#include "host/rig/rig_bench.h"
#include "host/util/fs.h"
#include "host/util/log.h"
#include "host/util/parse.h"
#include "proto/schema.h"

#define SWITCH_S        120u
#define TELEMETRY_MS    200u
#define CLOCK_SETTLE_MS 250u

/* A connected rig, for the time of one command. */
struct session_of {
	struct cli *cli;
	uv_loop_t loop;
	uv_signal_t on_int;
	uv_signal_t on_term;
	struct rig *rig;
	bool interrupted;
	bool first; /* the next thing printed is the first */
	int rc;     /* what a callback found */
};

static int exit_of(int rc)
{
	if (!rc)
		return BAY_OK;
	if (rc == -EINVAL)
		return BAY_USAGE;
	return rig_is_unreachable(rc) ? BAY_UNREACHABLE : BAY_FAILED;
}

static int complain(int rc, const struct err *err)
{
	/* What is empty was said already, with the bench. */
	if (rc < 0 && err->text[0])
		fprintf(stderr, "bay: %s\n", err->text);
	return exit_of(rc);
}

/* ---- connection ---- */

static void on_signal(uv_signal_t *h, int signum)
{
	struct session_of *s = h->data;

	(void)signum;
	s->interrupted = true;
	if (s->rig)
		rig_cancel(s->rig);
}

static void watch_signal(struct session_of *s, uv_signal_t *h, int signum)
{
	uv_signal_init(&s->loop, h);
	h->data = s;
	uv_signal_start(h, on_signal, signum);
}

static int attach(struct session_of *s, struct cli *cli,
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
	*s = (struct session_of){ .cli = cli, .first = true };
	uv_loop_init(&s->loop);
	watch_signal(s, &s->on_int, SIGINT);
	watch_signal(s, &s->on_term, SIGTERM);
	cfg.loop = &s->loop;
	return rig_open(&cfg, &s->rig, err);
}

static void detach(struct session_of *s)
{
	if (!s->cli)
		return;
	rig_close(s->rig);
	uv_close((uv_handle_t *)&s->on_int, NULL);
	uv_close((uv_handle_t *)&s->on_term, NULL);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
}

/* Options only common to all; returns -1 to go on, else the exit code. */
static int no_options(struct cli *cli, int argc, char **argv)
{
	int opt = cli_getopt(cli, argc, argv, "", NULL);

	if (opt != -1)
		return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	return -1;
}

/* ---- info ---- */

static void hex(const uint8_t *bytes, size_t len, char *text)
{
	for (size_t i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static json_t *info_json(struct session_of *s, const Info *info)
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

static void print_info(struct session_of *s, const Info *info)
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

static int show_info(struct session_of *s, struct err *err)
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

static int run_info(struct cli *cli, int argc, char **argv)
{
	struct session_of s = { 0 };
	struct err err = { 0 };
	int rc = no_options(cli, argc, argv);

	if (rc != -1)
		return rc;
	rc = attach(&s, cli, NULL, RIG_EVENTS_NEW, &err);
	if (!rc)
		rc = show_info(&s, &err);
	detach(&s);
	return complain(rc, &err);
}

/* ---- slots by name ---- */

/* The disk that the bench expects in a slot, "" for none. */
static const char *disk_in(const struct cli *cli, unsigned slot)
{
	const struct bench *b = cli->bench;

	for (unsigned i = 0; i < b->n_disks; i++)
		if (b->disks[i].slot == (int32_t)slot)
			return b->disks[i].serial;
	return "";
}

/* "all", a slot number, or the serial of a disk of the bench. */
static int add_slot(struct session_of *s, const char *name, uint32_t *mask,
		    struct err *err)
{
	const struct bench *b = s->cli->bench;
	unsigned slots = rig_hello(s->rig)->slots;
	const struct bench_disk *d = bench_disk_find(b, name);
	char *end;
	unsigned long n;

	if (!strcmp(name, "all")) {
		for (unsigned i = 0; i < b->n_disks; i++)
			if (b->disks[i].slot >= 0)
				*mask |= 1u << b->disks[i].slot;
		return 0;
	}
	n = strtoul(name, &end, 10);
	if (d && d->slot >= 0)
		n = (unsigned long)d->slot;
	else if (d || end == name || *end)
		return err_set(err, -EINVAL,
			       "'%s' is neither a slot, nor a disk of %s that "
			       "has one, nor 'all'",
			       name, b->source);
	if (n >= slots)
		return err_set(err, -EINVAL,
			       "the rig has slots 0 to %u, not %lu", slots - 1,
			       n);
	*mask |= 1u << n;
	return 0;
}

static int parse_slots(struct session_of *s, int argc, char **argv,
		       uint32_t *mask, struct err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < argc; i++)
		rc = add_slot(s, argv[i], mask, err);
	if (!rc && !*mask)
		rc = err_set(err, -EINVAL, "no disk of %s has a slot",
			     s->cli->bench->source);
	return rc;
}

/* ---- status ---- */

static json_t *status_json(const struct cli *cli, const SlotStatus *st)
{
	return json_pack(
		"{s:i, s:s, s:s, s:s, s:b, s:i, s:i, s:i, s:i, s:I, s:I, s:I,"
		" s:I, s:I, s:f, s:I}",
		"slot", (int)st->slot, "disk", disk_in(cli, st->slot), "state",
		rig_state_name(st->state), "fault", rig_fault_name(st->fault),
		"wanted_on", st->wanted_on, "mv_5v", st->v5 ? st->v5->mv : 0,
		"ma_5v", st->v5 ? st->v5->ma : 0, "mv_12v",
		st->v12 ? st->v12->mv : 0, "ma_12v", st->v12 ? st->v12->ma : 0,
		"fall_us", (json_int_t)st->fall_us, "residual_5v_mv",
		(json_int_t)st->residual_5v_mv, "residual_12v_mv",
		(json_int_t)st->residual_12v_mv, "cycles",
		(json_int_t)st->cycles, "trips", (json_int_t)st->trips,
		"board_c", st->board_mdegc / 1000.0, "min_off_left_ms",
		(json_int_t)st->min_off_left_ms);
}

static void print_status(struct session_of *s, const SlotStatus *st)
{
	if (s->first)
		printf("slot disk             state        "
		       "     5 V           12 V    fall  cycles\n");
	s->first = false;
	printf("%4u %-16s %-11s %6.2f V %5.2f A %6.2f V %5.2f A %5.0f ms %5u",
	       st->slot, disk_in(s->cli, st->slot), rig_state_name(st->state),
	       st->v5 ? st->v5->mv / 1e3 : 0, st->v5 ? st->v5->ma / 1e3 : 0,
	       st->v12 ? st->v12->mv / 1e3 : 0, st->v12 ? st->v12->ma / 1e3 : 0,
	       st->fall_us / 1e3, st->cycles);
	if (st->fault)
		printf("  %s", rig_fault_name(st->fault));
	putchar('\n');
}

static int show_status(struct session_of *s, struct err *err)
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
	struct session_of s = { 0 };
	struct err err = { 0 };
	int rc = no_options(cli, argc, argv);

	if (rc != -1)
		return rc;
	rc = attach(&s, cli, NULL, RIG_EVENTS_NEW, &err);
	if (!rc)
		rc = show_status(&s, &err);
	detach(&s);
	return complain(rc, &err);
}

/* ---- power ---- */

enum power_verb {
	POWER_ON,
	POWER_OFF,
	POWER_CYCLE,
};

static const struct option power_options[] = {
	{ "timeout", required_argument, NULL, 't' },
	{ 0 },
};

static json_t *report_json(const struct cli *cli, unsigned slot,
			   const struct rig_slot_report *r)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:f, s:I, s:I, s:I, s:I}",
			 "slot", (int)slot, "disk", disk_in(cli, slot), "state",
			 rig_state_name(r->state), "fault",
			 rig_fault_name(r->fault), "took_s", r->took_s,
			 "fall_us", (json_int_t)r->fall_us, "residual_5v_mv",
			 (json_int_t)r->residual_5v_mv, "residual_12v_mv",
			 (json_int_t)r->residual_12v_mv, "cycles",
			 (json_int_t)r->cycles);
}

static void print_report(const struct cli *cli, unsigned slot,
			 const struct rig_slot_report *r, bool was_off)
{
	const char *disk = disk_in(cli, slot);

	printf("slot %u%s%s%s %s after %.1f s", slot, *disk ? " (" : "", disk,
	       *disk ? ")" : "", rig_state_name(r->state), r->took_s);
	if (was_off)
		printf(", fell in %.0f ms to %.2f V and %.2f V",
		       r->fall_us / 1e3, r->residual_5v_mv / 1e3,
		       r->residual_12v_mv / 1e3);
	if (r->fault)
		printf(", fault %s", rig_fault_name(r->fault));
	putchar('\n');
}

static int report(struct session_of *s, enum power_verb verb, uint32_t mask,
		  const struct rig_slot_report *reports)
{
	json_t *list = s->cli->json ? json_array() : NULL;

	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++) {
		if (!(mask & 1u << i))
			continue;
		if (list)
			json_array_append_new(
				list, report_json(s->cli, i, &reports[i]));
		else
			print_report(s->cli, i, &reports[i], verb != POWER_ON);
	}
	return list ? print_json(json_pack("{s:o}", "slots", list), JSON_LINE)
		    : 0;
}

static int switch_slots(struct session_of *s, enum power_verb verb,
			uint32_t mask, uint32_t ms, struct err *err)
{
	struct rig_slot_report reports[RIG_SLOTS_MAX] = { { 0 } };
	int shown;
	int rc = 0;

	/* What an earlier run armed would take the power away as soon as this
	 * command is gone. */
	if (verb != POWER_OFF)
		rc = rig_arm_silence(s->rig, mask, SILENCE_POLICY__SILENCE_HOLD,
				     err);
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
	shown = report(s, verb, mask, reports);
	return rc ? rc : shown;
}

static int run_power(struct cli *cli, int argc, char **argv,
		     enum power_verb verb)
{
	struct session_of s = { 0 };
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
	rc = attach(&s, cli, NULL, RIG_EVENTS_NEW, &err);
	if (!rc)
		rc = parse_slots(&s, argc - optind, argv + optind, &mask, &err);
	if (!rc)
		rc = switch_slots(&s, verb, mask, (uint32_t)timeout_s * 1000,
				  &err);
	detach(&s);
	return complain(rc, &err);
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

/* ---- monitor ---- */

static json_t *window_json(const RailWindow *w)
{
	if (!w)
		return json_null();
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "mv_min",
			 w->mv_min, "mv_mean", w->mv_mean, "mv_max", w->mv_max,
			 "ma_min", w->ma_min, "ma_mean", w->ma_mean, "ma_max",
			 w->ma_max, "energy_uj", (json_int_t)w->energy_uj);
}

static double volts(const RailWindow *w)
{
	return w ? w->mv_mean / 1e3 : 0;
}

static double amps(const RailWindow *w)
{
	return w ? w->ma_mean / 1e3 : 0;
}

static double joules(const RailWindow *w)
{
	return w ? (double)w->energy_uj / 1e6 : 0;
}

static void print_telemetry(struct session_of *s, const Telemetry *t)
{
	if (s->first)
		printf("   rig time slot disk             state       "
		       "   5 V             12 V         energy\n");
	s->first = false;
	printf("%9.3f s %4u %-16s %-11s %6.2f V %5.2f A %6.2f V %5.2f A "
	       "%8.1f J\n",
	       (double)t->start_us / 1e6, t->slot, disk_in(s->cli, t->slot),
	       rig_state_name(t->state), volts(t->v5), amps(t->v5),
	       volts(t->v12), amps(t->v12), joules(t->v5) + joules(t->v12));
}

static void on_telemetry(void *arg, const Telemetry *t)
{
	struct session_of *s = arg;

	int rc = 0;

	if (!s->cli->json)
		print_telemetry(s, t);
	else
		rc = print_json(
			json_pack(
				"{s:I, s:I, s:I, s:I, s:i, s:s, s:s, s:o,"
				" s:o, s:f}",
				"sequence", (json_int_t)t->sequence, "dropped",
				(json_int_t)t->dropped, "start_us",
				(json_int_t)t->start_us, "length_us",
				(json_int_t)t->length_us, "slot", (int)t->slot,
				"disk", disk_in(s->cli, t->slot), "state",
				rig_state_name(t->state), "v5",
				window_json(t->v5), "v12", window_json(t->v12),
				"board_c", t->board_mdegc / 1000.0),
			JSON_LINE);
	if (rc || fflush(stdout)) {
		s->interrupted = true;
		rig_cancel(s->rig);
	}
}

static void on_lost(void *arg, const char *why)
{
	(void)arg;
	log_warnx("the link to the rig is lost (%s), trying again", why);
}

static const struct rig_ops monitor_ops = {
	.telemetry = on_telemetry,
	.lost = on_lost,
};

static const struct option stream_options[] = {
	{ "period", required_argument, NULL, 'p' },
	{ "seconds", required_argument, NULL, 's' },
	{ "follow", no_argument, NULL, 'F' },
	{ 0 },
};

struct stream_args {
	uint64_t period_ms;
	uint64_t seconds; /* 0: until interrupted */
	bool follow;
};

/* Returns -1 to go on, else the exit code. */
static int parse_stream(struct cli *cli, int argc, char **argv,
			struct stream_args *a)
{
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", stream_options)) != -1) {
		if (opt == 'p' && (parse_u64(optarg, &a->period_ms) < 0 ||
				   a->period_ms < 20 || a->period_ms > 60000))
			return cli_usage("--period takes 20 to 60000 ms");
		if (opt == 's' && parse_u64(optarg, &a->seconds) < 0)
			return cli_usage("--seconds takes a number");
		if (opt == 'F')
			a->follow = true;
		if (opt == '?' || opt == CLI_HELP)
			return opt == CLI_HELP ? BAY_OK : BAY_USAGE;
	}
	return optind < argc ? cli_usage("unexpected argument") : -1;
}

/* Ctrl-C is how one ends it: not an error. */
static int stream(struct session_of *s, uint64_t seconds, struct err *err)
{
	int rc = rig_run(s->rig, seconds * 1000, err);

	rig_resume(s->rig);
	return rc == -ECANCELED ? 0 : rc;
}

static int monitor(struct session_of *s, const struct stream_args *a,
		   struct err *err)
{
	uint32_t mask = (1u << rig_hello(s->rig)->slots) - 1;
	int rc = rig_set_telemetry(s->rig, (uint32_t)a->period_ms, mask, err);

	if (rc < 0)
		return rc;
	rc = stream(s, a->seconds, err);
	if (!rc && rig_is_connected(s->rig))
		rc = rig_set_telemetry(s->rig, 0, 0, err);
	return rc;
}

static int run_monitor(struct cli *cli, int argc, char **argv)
{
	struct stream_args a = { .period_ms = TELEMETRY_MS };
	struct session_of s = { 0 };
	struct err err = { 0 };
	int rc = parse_stream(cli, argc, argv, &a);

	if (rc != -1)
		return rc;
	rc = attach(&s, cli, &monitor_ops, RIG_EVENTS_NEW, &err);
	if (!rc)
		rc = monitor(&s, &a, &err);
	detach(&s);
	return complain(rc, &err);
}

/* ---- log ---- */

static json_t *event_json(const struct cli *cli, const Event *e)
{
	return json_pack("{s:I, s:s, s:I, s:i, s:s, s:s, s:s, s:i, s:i, s:i,"
			 " s:i, s:i, s:I, s:I}",
			 "number", (json_int_t)e->number, "kind",
			 rig_event_name(e->kind), "at_us", (json_int_t)e->at_us,
			 "slot", (int)e->slot, "disk", disk_in(cli, e->slot),
			 "state", rig_state_name(e->state), "fault",
			 rig_fault_name(e->fault), "value", (int)e->value,
			 "mv_5v", (int)e->mv_5v, "ma_5v", (int)e->ma_5v,
			 "mv_12v", (int)e->mv_12v, "ma_12v", (int)e->ma_12v,
			 "fall_us", (json_int_t)e->fall_us, "boot_id",
			 (json_int_t)e->boot_id);
}

static void print_slot_event(const struct cli *cli, const Event *e)
{
	const char *disk = disk_in(cli, e->slot);

	printf(" slot %u%s%s%s %s", e->slot, *disk ? " (" : "", disk,
	       *disk ? ")" : "", rig_state_name(e->state));
	if (e->fault)
		printf(" %s", rig_fault_name(e->fault));
	printf(", %.2f V %.2f A, %.2f V %.2f A", e->mv_5v / 1e3, e->ma_5v / 1e3,
	       e->mv_12v / 1e3, e->ma_12v / 1e3);
	if (e->fall_us)
		printf(", fell in %.0f ms", e->fall_us / 1e3);
}

static void print_event(const struct cli *cli, const Event *e)
{
	printf("%6u %12.3f s %-13s", e->number, (double)e->at_us / 1e6,
	       rig_event_name(e->kind));
	switch (e->kind) {
	case EVENT_KIND__EVENT_SLOT_STATE:
	case EVENT_KIND__EVENT_FAULT:
	case EVENT_KIND__EVENT_FAULT_CLEARED:
	case EVENT_KIND__EVENT_SHED:
		print_slot_event(cli, e);
		break;
	case EVENT_KIND__EVENT_BOOT:
		printf(" %s, boot %08x", rig_reset_name((ResetCause)e->value),
		       e->boot_id);
		break;
	case EVENT_KIND__EVENT_GATE:
		printf(" slot %u %s %s", e->slot, e->value & 2 ? "12 V" : "5 V",
		       e->value & 1 ? "on" : "off");
		break;
	case EVENT_KIND__EVENT_HOST_LATE:
		printf(" %d ms", e->value);
		break;
	case EVENT_KIND__EVENT_OVERFLOW:
		printf(" %d events are lost", e->value);
		break;
	case EVENT_KIND__EVENT_TEMPERATURE:
		printf(" %.1f degrees", e->value / 1000.0);
		break;
	default:
		if (e->value)
			printf(" %d", e->value);
	}
	putchar('\n');
}

static void on_event(void *arg, const Event *e)
{
	struct session_of *s = arg;

	if (s->cli->json)
		print_json(event_json(s->cli, e), JSON_LINE);
	else
		print_event(s->cli, e);
	fflush(stdout);
}

static const struct rig_ops log_ops = {
	.event = on_event,
	.lost = on_lost,
};

/* Events come on their own; the ones that the rig had are there once as many
 * as HELLO told have passed. */
static int show_log(struct session_of *s, const struct stream_args *a,
		    struct err *err)
{
	if (a->follow || a->seconds)
		return stream(s, a->seconds, err);
	return rig_wait_events(s->rig, rig_hello(s->rig)->last_event, err);
}

static int run_log(struct cli *cli, int argc, char **argv)
{
	struct stream_args a = { .period_ms = TELEMETRY_MS };
	struct session_of s = { 0 };
	struct err err = { 0 };
	int rc = parse_stream(cli, argc, argv, &a);

	if (rc != -1)
		return rc;
	rc = attach(&s, cli, &log_ops, 0, &err);
	if (!rc)
		rc = show_log(&s, &a, &err);
	detach(&s);
	return complain(rc, &err);
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

static const struct command rig_power_command = {
	.name = "power",
	.args = "on|off|cycle [--timeout S] SLOT|DISK|all...",
	.summary = "switch slots",
	.sub = power_table,
};

static const struct command rig_monitor_command = {
	.name = "monitor",
	.args = "[--period MS] [--seconds S]",
	.summary = "stream voltage, current and energy",
	.run = run_monitor,
};

static const struct command rig_log_command = {
	.name = "log",
	.args = "[--follow] [--seconds S]",
	.summary = "events that the rig remembers",
	.run = run_log,
};

static const struct command *const rig_table[] = {
	&rig_info_command,    &rig_status_command, &rig_power_command,
	&rig_monitor_command, &rig_log_command,    NULL,
};

const struct command cmd_rig = {
	.name = "rig",
	.args = "info|status|power|monitor|log",
	.summary = "look at the rig and switch its slots",
	.sub = rig_table,
};
