#include "firmware/app/commands.h"

#include <string.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "firmware/app/configure.h"
#include "firmware/app/link.h"
#include "firmware/app/power.h"
#include "firmware/app/telemetry.h"
#include "firmware/hal/activity.h"
#include "firmware/hal/clock.h"
#include "firmware/hal/reset.h"
#include "proto/link/crc32c.h"

#define FEATURE_ACTIVITY    (1u << 1)
#define FEATURE_TEMPERATURE (1u << 3)

#define TELEMETRY_MIN_MS 20u
#define TELEMETRY_MAX_MS 60000u

/* Fills result->detail and result->body; the status is what it returns. */
typedef rig_status (*command_fn)(struct app *app, const Command *cmd,
				 Result *result);

struct command {
	pb_size_t tag;
	bool reads; /* changes nothing: done anew when it comes twice */
	command_fn run;
};

/* ---- what the rig tells ---- */

static void copy_text(char *dst, size_t size, const char *src)
{
	size_t len = strnlen(src, size - 1);

	memcpy(dst, src, len);
	dst[len] = '\0';
}

void commands_fill_info(const struct app *app, Info *info)
{
	copy_text(info->firmware, sizeof(info->firmware), BAY_VERSION);
	copy_text(info->board, sizeof(info->board), app->board->name);
	info->board_revision = app->board->revision;
	info->unique_id.size = (pb_size_t)hal_unique_id(info->unique_id.bytes);
	info->slots = app->board->slots;
	info->max_frame = FRAME_PAYLOAD_MAX;
	info->window = APP_WINDOW;
	info->features = FEATURE_ACTIVITY | FEATURE_TEMPERATURE;
	info->reset = app->reset;
	info->boot_id = app->boot_id;
	info->config_generation = app->config.generation;
	info->config_crc = app->config_crc;
	info->last_event = events_last(app->events);
	info->fault_mask = power_fault_mask(app);
	info->now_us = hal_clock_us();
	info->commands_executed = app->link.commands_executed;
	info->log_waiting = logring_waiting(&app->log);
}

static rig_status get_info(struct app *app, const Command *cmd, Result *result)
{
	(void)cmd;
	result->which_body = Result_info_tag;
	commands_fill_info(app, &result->body.info);
	return RIG_OK;
}

static void fill_rail(Rail *out, const struct slot *s, unsigned rail)
{
	out->mv = s->last.mv[rail];
	out->ma = s->last.ma[rail];
}

static void fill_status(SlotStatus *out, const struct app *app, unsigned i,
			uint64_t now_us)
{
	const struct slot *s = &app->slot[i];

	out->slot = i;
	out->state = s->state;
	out->fault = s->fault;
	out->fault_event = s->state == SLOT_FAULT ? s->fault_event : 0;
	/* Nothing was read yet: no reading. */
	out->has_v5 = s->last.at_us != 0;
	out->has_v12 = s->last.at_us != 0;
	fill_rail(&out->v5, s, RAIL_5V);
	fill_rail(&out->v12, s, RAIL_12V);
	out->since_us = s->since_us;
	out->fall_us = s->fall_us;
	out->residual_5v_mv = s->residual_mv[RAIL_5V];
	out->residual_12v_mv = s->residual_mv[RAIL_12V];
	out->cycles = s->cycles;
	out->trips = s->trips.count;
	out->board_mdegc = app->temperature.mdegc;
	out->activity_edges = hal_activity_edges(i);
	out->wanted_on = s->wanted_on;
	out->min_off_left_ms = slot_min_off_left_ms(s, now_us);
	copy_text(out->serial, sizeof(out->serial), s->cfg.limits->serial);
}

static rig_status get_status(struct app *app, const Command *cmd,
			     Result *result)
{
	uint32_t slot = cmd->body.get_status.slot;

	if (slot >= app->board->slots)
		return RIG_RANGE;
	result->which_body = Result_slot_status_tag;
	fill_status(&result->body.slot_status, app, slot, hal_clock_us());
	return RIG_OK;
}

static rig_status get_op(struct app *app, const Command *cmd, Result *result)
{
	const struct opcache_entry *e =
		opcache_find(&app->link.ops, cmd->body.get_op.op_id);

	if (!e)
		return RIG_UNKNOWN_OP;
	result->which_body = Result_op_tag;
	result->body.op.op_id = e->op_id;
	result->body.op.status = (rig_status)e->status;
	result->body.op.done_us = e->done_us;
	return RIG_OK;
}

static rig_status config_get(struct app *app, const Command *cmd,
			     Result *result)
{
	uint32_t slot = cmd->body.config_get.slot;

	if (cmd->body.config_get.rig) {
		result->which_body = Result_rig_config_tag;
		result->body.rig_config = app->config.rig;
		return RIG_OK;
	}
	if (slot >= app->board->slots)
		return RIG_RANGE;
	result->which_body = Result_slot_config_tag;
	result->body.slot_config = app->config.slot[slot];
	return RIG_OK;
}

static rig_status trace_get(struct app *app, const Command *cmd, Result *result)
{
	const TraceGet *get = &cmd->body.trace_get;
	Trace *t = &result->body.trace;
	struct trace_point
		points[sizeof(t->points.bytes) / sizeof(struct trace_point)];
	size_t n;

	if (get->slot >= app->board->slots ||
	    get->first >= TRACE_BEFORE + TRACE_AFTER)
		return RIG_RANGE;
	if (!app->trace[get->slot].frozen)
		return RIG_STATE;
	n = trace_read(&app->trace[get->slot], &app->trace_tail, get->slot,
		       get->first, points, sizeof(points) / sizeof(points[0]));
	result->which_body = Result_trace_tag;
	t->slot = get->slot;
	t->event = app->slot[get->slot].fault_event;
	t->first = get->first;
	t->points.size = (pb_size_t)(n * sizeof(points[0]));
	memcpy(t->points.bytes, points, t->points.size);
	return RIG_OK;
}

/* ---- what changes something ---- */

static rig_status slot_set_at(struct app *app, const Command *cmd,
			      Result *result)
{
	const SlotSet *set = &cmd->body.slot_set;
	struct schedule_entry e = { .at_us = set->at_us,
				    .op_id = cmd->op_id,
				    .mask = (uint8_t)set->mask,
				    .on = set->on };

	for (unsigned i = 0; i < app->board->slots; i++) {
		rig_status rc = RIG_OK;

		result->detail = i;
		if (set->mask & 1u << i)
			rc = slot_check(&app->slot[i], set->on);
		if (rc != RIG_OK)
			return rc;
	}
	result->detail = 0;
	return schedule_add(&app->schedule, &e, hal_clock_us());
}

static rig_status slot_set_now(struct app *app, const Command *cmd,
			       Result *result)
{
	const SlotSet *set = &cmd->body.slot_set;

	if (!set->mask || set->mask & ~app_slots_mask(app))
		return RIG_RANGE;
	if (set->at_us)
		return slot_set_at(app, cmd, result);
	return power_set(app, set->mask, set->on, cmd->op_id, hal_clock_us(),
			 &result->detail);
}

static rig_status all_off(struct app *app, const Command *cmd, Result *result)
{
	(void)result;
	power_all_off(app, cmd->op_id, hal_clock_us());
	return RIG_OK;
}

static rig_status clear_fault(struct app *app, const Command *cmd,
			      Result *result)
{
	const ClearFault *clear = &cmd->body.clear_fault;

	result->detail = clear->slot;
	if (clear->slot >= app->board->slots)
		return RIG_RANGE;
	return slot_clear(&app->slot[clear->slot], clear->fault, clear->event,
			  clear->serial, hal_clock_us());
}

static rig_status config_begin(struct app *app, const Command *cmd,
			       Result *result)
{
	(void)result;
	return configure_begin(app, &cmd->body.config_begin);
}

static rig_status config_slot(struct app *app, const Command *cmd,
			      Result *result)
{
	result->detail = cmd->body.config_slot.slot;
	return configure_slot(app, &cmd->body.config_slot);
}

static rig_status config_rig(struct app *app, const Command *cmd,
			     Result *result)
{
	(void)result;
	return configure_rig(app, &cmd->body.config_rig);
}

static rig_status config_commit(struct app *app, const Command *cmd,
				Result *result)
{
	rig_status rc = configure_commit(app, &cmd->body.config_commit,
					 &result->detail, hal_clock_us());

	result->which_body = Result_config_tag;
	result->body.config.generation = app->config.generation;
	result->body.config.crc = app->config_crc;
	return rc;
}

static rig_status arm_silence(struct app *app, const Command *cmd,
			      Result *result)
{
	const ArmSilence *arm = &cmd->body.arm_silence;

	(void)result;
	if (arm->mask & ~app_slots_mask(app) || arm->policy > SILENCE_OFF_NOW)
		return RIG_RANGE;
	silence_arm(&app->silence, arm->mask, arm->policy);
	return RIG_OK;
}

static rig_status set_telemetry(struct app *app, const Command *cmd,
				Result *result)
{
	const TelemetrySet *set = &cmd->body.telemetry_set;

	(void)result;
	if (set->period_ms && (set->period_ms < TELEMETRY_MIN_MS ||
			       set->period_ms > TELEMETRY_MAX_MS))
		return RIG_RANGE;
	telemetry_set(app, set->period_ms, set->mask, hal_clock_us());
	return RIG_OK;
}

static rig_status events_since(struct app *app, const Command *cmd,
			       Result *result)
{
	(void)result;
	link_events_since(app, cmd->body.events_since.number);
	if (cmd->body.events_since.log)
		logring_rewind(&app->log);
	return RIG_OK;
}

static rig_status reset(struct app *app, const Command *cmd, Result *result)
{
	(void)cmd;
	result->detail = power_first_live(app);
	if (result->detail != RIG_SLOTS_MAX)
		return RIG_STATE;
	result->detail = 0;
	app->link.reset_wanted = true;
	return RIG_OK;
}

static const struct command table[] = {
	{ Command_get_info_tag, true, get_info },
	{ Command_get_status_tag, true, get_status },
	{ Command_slot_set_tag, false, slot_set_now },
	{ Command_all_off_tag, false, all_off },
	{ Command_get_op_tag, true, get_op },
	{ Command_clear_fault_tag, false, clear_fault },
	{ Command_config_get_tag, true, config_get },
	{ Command_config_begin_tag, false, config_begin },
	{ Command_config_slot_tag, false, config_slot },
	{ Command_config_commit_tag, false, config_commit },
	{ Command_arm_silence_tag, false, arm_silence },
	{ Command_telemetry_set_tag, false, set_telemetry },
	{ Command_events_since_tag, true, events_since },
	{ Command_reset_tag, false, reset },
	{ Command_config_rig_tag, false, config_rig },
	{ Command_trace_get_tag, true, trace_get },
};

/* ---- execution ---- */

static const struct command *find(pb_size_t tag)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].tag == tag)
			return &table[i];
	}
	return NULL;
}

/* The first field of the message that is not the op_id: the tag of a command
 * that this firmware does not know. */
static uint32_t unknown_tag(const uint8_t *payload, size_t len)
{
	pb_istream_t in = pb_istream_from_buffer(payload, len);
	pb_wire_type_t type;
	uint32_t tag;
	bool eof;

	while (pb_decode_tag(&in, &type, &tag, &eof)) {
		if (tag != Command_op_id_tag)
			return tag;
		if (!pb_skip_field(&in, type))
			break;
	}
	return 0;
}

static void send(struct app *app, const Result *result, uint8_t flags)
{
	uint8_t buf[APP_PAYLOAD_MAX];
	pb_ostream_t out = pb_ostream_from_buffer(buf, sizeof(buf));

	/* There is room and the session is up: on_receive() has looked. */
	if (pb_encode(&out, Result_fields, result))
		(void)session_send(&app->link.session, CHANNEL_COMMAND, flags,
				   buf, out.bytes_written);
}

static void store(struct app *app, const Result *result, uint32_t request_crc)
{
	struct opcache_entry e = { .op_id = result->op_id,
				   .done_us = result->done_us,
				   .request_crc = request_crc,
				   .status = (uint16_t)result->status,
				   .detail = (uint16_t)result->detail };

	opcache_store(&app->link.ops, &e);
}

/* The same command again gets the same answer; another one with that op_id
 * is refused. */
static void answer_again(struct app *app, const struct opcache_entry *e,
			 uint32_t request_crc, Result *result)
{
	bool same = e->request_crc == request_crc;

	result->status = same ? (rig_status)e->status : RIG_DUPLICATE;
	result->detail = same ? e->detail : 0;
	result->done_us = e->done_us;
	send(app, result, same ? FRAME_DUP_RESULT : 0);
}

static void run(struct app *app, const Command *cmd, uint32_t request_crc,
		uint32_t tag, Result *result)
{
	const struct command *c = find(cmd->which_body);

	if (!c) {
		result->status = RIG_UNSUPPORTED;
		result->detail = tag;
	} else {
		result->status = c->run(app, cmd, result);
		app->link.commands_executed++;
	}
	result->done_us = hal_clock_us();
	if (c && !c->reads)
		store(app, result, request_crc);
	send(app, result, 0);
}

void commands_execute(struct app *app, const uint8_t *payload, size_t len)
{
	Command cmd = Command_init_zero;
	Result result = Result_init_zero;
	pb_istream_t in = pb_istream_from_buffer(payload, len);
	uint32_t request_crc = crc32c(payload, len);
	const struct opcache_entry *done;

	if (!pb_decode(&in, Command_fields, &cmd) || !cmd.op_id) {
		result.op_id = cmd.op_id;
		result.status = RIG_INVALID;
		send(app, &result, 0);
		return;
	}
	result.op_id = cmd.op_id;
	done = opcache_find(&app->link.ops, cmd.op_id);
	if (done)
		answer_again(app, done, request_crc, &result);
	else
		run(app, &cmd, request_crc, unknown_tag(payload, len), &result);
}
