/* bay rig monitor and log: what the rig tells by itself. */
#include "host/cli/cmd_rig.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "host/cli/print_json.h"
#include "host/cli/rig_cli.h"
#include "host/util/log.h"
#include "host/util/parse.h"

#define TELEMETRY_MS 200u

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

static void print_telemetry(struct rig_cli *s, const Telemetry *t)
{
	if (s->first)
		printf("   rig time slot disk             state       "
		       "   5 V             12 V         energy\n");
	s->first = false;
	printf("%9.3f s %4u %-16s %-11s %6.2f V %5.2f A %6.2f V %5.2f A "
	       "%8.1f J\n",
	       (double)t->start_us / 1e6, t->slot,
	       rig_cli_disk_in(s->cli, t->slot), rig_state_name(t->state),
	       volts(t->v5), amps(t->v5), volts(t->v12), amps(t->v12),
	       joules(t->v5) + joules(t->v12));
}

static void on_telemetry(void *arg, const Telemetry *t)
{
	struct rig_cli *s = arg;

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
				"disk", rig_cli_disk_in(s->cli, t->slot),
				"state", rig_state_name(t->state), "v5",
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

static const struct cli_option monitor_options[] = {
	{ "period", 'p', "MS", "of a reading, 20 to 60000; default 200" },
	{ "seconds", 's', "S", "end after this time; default 0: never" },
	{ 0 },
};

static const struct cli_option log_options[] = {
	{ "follow", 'F', NULL, "go on with what comes" },
	{ "seconds", 's', "S", "follow for this time; default 0: for ever" },
	{ 0 },
};

struct stream_args {
	uint64_t period_ms;
	uint64_t seconds; /* 0: until interrupted */
	bool follow;
};

/* Returns -1 to go on, else the exit code. */
static int parse_stream(struct cli *cli, int argc, char **argv,
			const struct cli_option *options, struct stream_args *a)
{
	int opt;

	while ((opt = cli_getopt(cli, argc, argv, "", options)) != -1) {
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
static int stream(struct rig_cli *s, uint64_t seconds, struct err *err)
{
	int rc = rig_run(s->rig, seconds * 1000, err);

	rig_resume(s->rig);
	return rc == -ECANCELED ? 0 : rc;
}

static int monitor(struct rig_cli *s, const struct stream_args *a,
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

/* In what the two commands differ. */
struct stream_kind {
	const char *what; /* for who finds the bench in use */
	const struct cli_option *options;
	const struct rig_ops *ops;
	uint32_t since; /* events from here on */
	int (*listen)(struct rig_cli *s, const struct stream_args *a,
		      struct err *err);
};

static int run_stream(struct cli *cli, int argc, char **argv,
		      const struct stream_kind *kind)
{
	struct stream_args a = { .period_ms = TELEMETRY_MS };
	struct rig_cli s = { 0 };
	struct err err = { 0 };
	int rc = parse_stream(cli, argc, argv, kind->options, &a);

	if (rc != -1)
		return rc;
	rc = rig_cli_attach(&s, cli, kind->what, kind->ops, kind->since, &err);
	if (!rc)
		rc = kind->listen(&s, &a, &err);
	rig_cli_detach(&s);
	return rig_cli_complain(rc, &err);
}

static int run_monitor(struct cli *cli, int argc, char **argv)
{
	static const struct stream_kind kind = {
		.what = "rig monitor",
		.options = monitor_options,
		.ops = &monitor_ops,
		.since = RIG_EVENTS_NEW,
		.listen = monitor,
	};

	return run_stream(cli, argc, argv, &kind);
}

/* ---- log ---- */

static bool has_slot(const Event *e)
{
	switch (e->kind) {
	case EVENT_KIND__EVENT_SLOT_STATE:
	case EVENT_KIND__EVENT_FAULT:
	case EVENT_KIND__EVENT_FAULT_CLEARED:
	case EVENT_KIND__EVENT_SHED:
	case EVENT_KIND__EVENT_GATE:
		return true;
	default:
		return false;
	}
}

static json_t *event_json(const struct cli *cli, const Event *e)
{
	json_t *slot = has_slot(e) ? json_integer(e->slot) : json_null();

	return json_pack("{s:I, s:s, s:I, s:o, s:s?, s:s, s:s, s:i, s:i, s:i,"
			 " s:i, s:i, s:I, s:I}",
			 "number", (json_int_t)e->number, "kind",
			 rig_event_name(e->kind), "at_us", (json_int_t)e->at_us,
			 "slot", slot, "disk",
			 has_slot(e) ? rig_cli_disk_in(cli, e->slot) : NULL,
			 "state", rig_state_name(e->state), "fault",
			 rig_fault_name(e->fault), "value", (int)e->value,
			 "mv_5v", (int)e->mv_5v, "ma_5v", (int)e->ma_5v,
			 "mv_12v", (int)e->mv_12v, "ma_12v", (int)e->ma_12v,
			 "fall_us", (json_int_t)e->fall_us, "boot_id",
			 (json_int_t)e->boot_id);
}

static void print_slot_event(const struct cli *cli, const Event *e)
{
	const char *disk = rig_cli_disk_in(cli, e->slot);

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
	struct rig_cli *s = arg;

	if (s->cli->json)
		print_json(event_json(s->cli, e), JSON_LINE);
	else
		print_event(s->cli, e);
	fflush(stdout);
}

/* Lines missing before this one: overwritten in the rig, or lost on the way. */
static uint32_t lines_lost(struct rig_cli *s, const LogLine *l)
{
	uint32_t gap = 0;
	uint32_t dropped;

	if (l->sequence <= s->last_line) { /* the rig was reset */
		s->last_line = 0;
		s->lines_dropped = 0;
	}
	if (s->last_line)
		gap = l->sequence - s->last_line - 1;
	dropped = l->dropped - s->lines_dropped;
	s->last_line = l->sequence;
	s->lines_dropped = l->dropped;
	return gap > dropped ? gap : dropped;
}

static json_t *line_json(const LogLine *l, uint32_t lost)
{
	return json_pack("{s:s, s:I, s:I, s:s, s:s, s:I, s:I}", "kind", "LOG",
			 "sequence", (json_int_t)l->sequence, "at_us",
			 (json_int_t)l->at_us, "level",
			 rig_level_name(l->level), "text", l->text, "lost",
			 (json_int_t)lost, "dropped", (json_int_t)l->dropped);
}

static void print_line(const LogLine *l, uint32_t lost)
{
	if (lost)
		printf("%6s %14s %-13s %u lines before this one are lost\n",
		       "log", "", "", lost);
	printf("%6s %12.3f s %-13s %s\n", "log", (double)l->at_us / 1e6,
	       rig_level_name(l->level), l->text);
}

static void on_line(void *arg, const LogLine *l)
{
	struct rig_cli *s = arg;
	uint32_t lost = lines_lost(s, l);

	if (s->cli->json)
		print_json(line_json(l, lost), JSON_LINE);
	else
		print_line(l, lost);
	fflush(stdout);
}

static const struct rig_ops log_ops = {
	.event = on_event,
	.log = on_line,
	.lost = on_lost,
};

/* Events come on their own; the ones that the rig had are there once as many
 * as HELLO told have passed. The lines come after them. */
static int show_log(struct rig_cli *s, const struct stream_args *a,
		    struct err *err)
{
	int rc;

	if (a->follow || a->seconds)
		return stream(s, a->seconds, err);
	rc = rig_wait_events(s->rig, rig_hello(s->rig)->last_event, err);
	return rc ? rc : rig_wait_log(s->rig, err);
}

static int run_log(struct cli *cli, int argc, char **argv)
{
	static const struct stream_kind kind = {
		.what = "rig log",
		.options = log_options,
		.ops = &log_ops,
		.listen = show_log,
	};

	return run_stream(cli, argc, argv, &kind);
}

const struct command rig_monitor_command = {
	.name = "monitor",
	.args = "[--period MS] [--seconds S]",
	.summary = "stream voltage, current and energy",
	.run = run_monitor,
};

const struct command rig_log_command = {
	.name = "log",
	.args = "[--follow] [--seconds S]",
	.summary = "events and log lines that the rig remembers",
	.run = run_log,
};
