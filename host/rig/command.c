/* Commands: sent once, settled after a loss of the link, never assumed. */
#include "host/rig/client.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *command_name(const Command *c)
{
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field(&command__descriptor,
							c->body_case);

	return f ? f->name : "command";
}

static bool only_reads(const Command *c)
{
	switch (c->body_case) {
	case COMMAND__BODY_GET_INFO:
	case COMMAND__BODY_GET_STATUS:
	case COMMAND__BODY_GET_OP:
	case COMMAND__BODY_CONFIG_GET:
	case COMMAND__BODY_EVENTS_SINCE:
		return true;
	default:
		return false;
	}
}

void op_session_lost(struct rig *r)
{
	struct op *op = &r->op;

	if (op->state != OP_SENT && op->state != OP_ASKED)
		return;
	op->state = op->reads ? OP_NEW : OP_UNKNOWN;
}

static void push_new(struct rig *r)
{
	struct op *op = &r->op;

	if (session_send(&r->session, CHANNEL_COMMAND, 0, op->bytes, op->len) !=
	    SESSION_OK)
		return;
	op->state = OP_SENT;
	if (!op->ever_sent)
		op->boot_id = r->info.boot_id;
	op->ever_sent = true;
}

bool op_send_aside(struct rig *r, Command *cmd, uint64_t *op_id)
{
	uint8_t bytes[64];
	size_t len;

	cmd->op_id = r->next_op_id;
	assert(command__get_packed_size(cmd) <= sizeof(bytes));
	len = command__pack(cmd, bytes);
	if (session_send(&r->session, CHANNEL_COMMAND, 0, bytes, len) !=
	    SESSION_OK)
		return false;
	r->next_op_id++;
	if (op_id)
		*op_id = cmd->op_id;
	return true;
}

static void push_get_op(struct rig *r)
{
	Command c = COMMAND__INIT;
	GetOp get = GET_OP__INIT;

	get.op_id = r->op.id;
	c.body_case = COMMAND__BODY_GET_OP;
	c.get_op = &get;
	if (op_send_aside(r, &c, &r->op.ask_id))
		r->op.state = OP_ASKED;
}

void op_push(struct rig *r)
{
	struct op *op = &r->op;

	if (r->session.state != SESSION_UP)
		return;
	if (op->state == OP_UNKNOWN && op->boot_id != r->info.boot_id) {
		/* A reset forgets results: GetOp would say "never executed"
		 * of something that was. */
		op->reset = true;
		op->state = OP_DONE;
	}
	if (op->state == OP_NEW)
		push_new(r);
	else if (op->state == OP_UNKNOWN)
		push_get_op(r);
}

/* The answer to GetOp: executed, or safe to send again. */
static void settle(struct rig *r, Result *answer)
{
	struct op *op = &r->op;

	if (answer->status != RIG_STATUS__RIG_OK || !answer->op) {
		op->state = OP_NEW;
		result__free_unpacked(answer, NULL);
		return;
	}
	answer->op_id = op->id;
	answer->status = answer->op->status;
	answer->done_us = answer->op->done_us;
	op->result = answer;
	op->state = OP_DONE;
}

void op_result(struct rig *r, const uint8_t *bytes, size_t len)
{
	struct op *op = &r->op;
	Result *result = result__unpack(NULL, len, bytes);

	if (!result)
		return;
	if (op->state == OP_ASKED && result->op_id == op->ask_id) {
		settle(r, result);
		return;
	}
	/* Also after OP_ASKED was sent: a late result is the result. */
	if (result->op_id == op->id &&
	    (op->state == OP_SENT || op->state == OP_ASKED)) {
		op->result = result;
		op->state = OP_DONE;
		return;
	}
	result__free_unpacked(result, NULL);
}

static bool is_done(struct rig *r)
{
	return r->op.state == OP_DONE;
}

static void explain_silence(struct rig *r, const char *name, struct err *err)
{
	const char *why = r->session.state == SESSION_UP ? "" : r->why;
	const char *then = "; it may or may not have been done";

	if (r->op.reads)
		then = "";
	else if (!r->op.ever_sent)
		then = "; it was not sent";
	err_set(err, -ETIMEDOUT,
		"the rig at %s is silent%s%s: no answer to %s within "
		"%u ms%s",
		r->where, *why ? ", " : "", why, name, r->answer_ms, then);
}

static void explain_refusal(struct rig *r, const char *name, const Result *res,
			    struct err *err)
{
	static const char *const say[] = {
		[RIG_STATUS__RIG_INVALID] = "the request is malformed",
		[RIG_STATUS__RIG_RANGE] = "a number is outside its range",
		[RIG_STATUS__RIG_BUSY] = "busy, try again",
		[RIG_STATUS__RIG_UNSUPPORTED] = "this firmware cannot do it",
		[RIG_STATUS__RIG_STATE] = "not in the slot's present state",
		[RIG_STATUS__RIG_FAULT] =
			"the slot holds a latched fault, see 'bay rig clear'",
		[RIG_STATUS__RIG_LOCKED] =
			"the slot is locked, only its disk's serial clears it",
		[RIG_STATUS__RIG_STALE] = "its configuration is another one",
		[RIG_STATUS__RIG_TOO_LATE] = "the time asked for is past",
		[RIG_STATUS__RIG_HW] = "a part of the rig does not answer",
		[RIG_STATUS__RIG_STORAGE] = "it cannot store its configuration",
		[RIG_STATUS__RIG_CRC] = "the checksum does not match",
		[RIG_STATUS__RIG_NO_MEMORY] = "a table of the rig is full",
		[RIG_STATUS__RIG_TIMEOUT] = "a part of the rig took too long",
	};
	unsigned status = (unsigned)res->status;
	const char *text = NULL;

	r->refusal = res->status;
	r->refusal_detail = res->detail;
	if (status < sizeof(say) / sizeof(say[0]))
		text = say[status];
	err_set(err, -EREMOTEIO, "the rig refuses %s: %s (%s, %u)", name,
		text ? text : "no reason known", rig_status_name(res->status),
		res->detail);
}

static int finish(struct rig *r, const char *name, Result **out,
		  struct err *err)
{
	struct op *op = &r->op;
	Result *result = op->result;
	int rc = 0;

	if (op->reset) {
		err_set(err, -ETIMEDOUT,
			"the rig was reset while %s was under way: it may or "
			"may not have been done",
			name);
		return -ETIMEDOUT;
	}
	op->result = NULL;
	if (result->status != RIG_STATUS__RIG_OK) {
		explain_refusal(r, name, result, err);
		rc = -EREMOTEIO;
	}
	if (out)
		*out = result;
	else
		result__free_unpacked(result, NULL);
	return rc;
}

/* The result of the command under way, or why there is none. */
static int await(struct rig *r, const char *name, Result **out, struct err *err)
{
	switch (client_wait(r, is_done, r->answer_ms)) {
	case 0:
		return finish(r, name, out, err);
	case -ECANCELED:
		err_set(err, -ECANCELED, "interrupted while the rig did %s",
			name);
		return -ECANCELED;
	default:
		explain_silence(r, name, err);
		return -ETIMEDOUT;
	}
}

int rig_command(struct rig *r, Command *cmd, Result **out, struct err *err)
{
	struct op *op = &r->op;
	const char *name = command_name(cmd);
	int rc;

	cmd->op_id = r->next_op_id++;
	if (command__get_packed_size(cmd) > sizeof(op->bytes)) {
		err_set(err, -EMSGSIZE, "%s is too long for a frame", name);
		return -EMSGSIZE;
	}
	*op = (struct op){ .state = OP_NEW,
			   .id = cmd->op_id,
			   .reads = only_reads(cmd) };
	op->len = (uint16_t)command__pack(cmd, op->bytes);
	client_pump(r);
	rc = await(r, name, out, err);
	op->state = OP_IDLE;
	return rc;
}

RigStatus rig_refusal(const struct rig *r, uint32_t *detail)
{
	if (detail)
		*detail = r->refusal_detail;
	return r->refusal;
}

bool rig_is_unreachable(int rc)
{
	switch (rc) {
	case -ETIMEDOUT:
	case -ENOTCONN:
	case -EPROTO:
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -EACCES:
	case -EPERM:
	case -EEXIST:
	case -ECONNREFUSED:
	case -EAGAIN:
	case -EIO:
	case -EBUSY:
	case -EPIPE:
	case -ENAMETOOLONG:
		return true;
	default:
		return false;
	}
}

/* ---- the commands ---- */

int rig_get_info(struct rig *r, Result **out, struct err *err)
{
	Command c = COMMAND__INIT;
	GetInfo get = GET_INFO__INIT;

	c.body_case = COMMAND__BODY_GET_INFO;
	c.get_info = &get;
	return rig_command(r, &c, out, err);
}

int rig_get_status(struct rig *r, unsigned slot, Result **out, struct err *err)
{
	Command c = COMMAND__INIT;
	GetStatus get = GET_STATUS__INIT;
	int rc;

	get.slot = slot;
	c.body_case = COMMAND__BODY_GET_STATUS;
	c.get_status = &get;
	rc = rig_command(r, &c, out, err);
	if (!rc && (*out)->body_case != RESULT__BODY_SLOT_STATUS) {
		result__free_unpacked(*out, NULL);
		return err_set(
			err, -EPROTO,
			"the rig answers get_status with something else");
	}
	return rc;
}

int rig_slot_set(struct rig *r, uint32_t mask, bool on, uint64_t at_us,
		 struct err *err)
{
	Command c = COMMAND__INIT;
	SlotSet set = SLOT_SET__INIT;

	set.mask = mask;
	set.on = on;
	set.at_us = at_us;
	c.body_case = COMMAND__BODY_SLOT_SET;
	c.slot_set = &set;
	return rig_command(r, &c, NULL, err);
}

static bool is_all_off(struct rig *r)
{
	return r->all_off_done;
}

int rig_all_off(struct rig *r, struct err *err)
{
	int rc;

	r->all_off_done = false;
	session_all_off(&r->session, client_now_us());
	client_pump(r);
	rc = client_wait(r, is_all_off, r->answer_ms);
	if (rc == -ECANCELED)
		return err_set(err, rc, "interrupted while all slots went off");
	if (rc)
		return err_set(err, -ETIMEDOUT,
			       "the rig at %s is silent: it did not say that "
			       "all slots are off",
			       r->where);
	return 0;
}

int rig_clear_fault(struct rig *r, unsigned slot, const char *disk_serial,
		    struct err *err)
{
	Command c = COMMAND__INIT;
	ClearFault clear = CLEAR_FAULT__INIT;
	Result *status;
	int rc = rig_get_status(r, slot, &status, err);

	if (rc < 0)
		return rc;
	if (status->slot_status->state != SLOT_STATE__SLOT_FAULT) {
		result__free_unpacked(status, NULL);
		return err_set(err, -EINVAL, "slot %u holds no latched fault",
			       slot);
	}
	clear.slot = slot;
	clear.fault = status->slot_status->fault;
	clear.event = status->slot_status->fault_event;
	clear.serial = (char *)(disk_serial ? disk_serial : "");
	result__free_unpacked(status, NULL);
	c.body_case = COMMAND__BODY_CLEAR_FAULT;
	c.clear_fault = &clear;
	return rig_command(r, &c, NULL, err);
}

int rig_arm_silence(struct rig *r, uint32_t mask, SilencePolicy policy,
		    struct err *err)
{
	Command c = COMMAND__INIT;
	ArmSilence arm = ARM_SILENCE__INIT;

	arm.mask = mask;
	arm.policy = policy;
	c.body_case = COMMAND__BODY_ARM_SILENCE;
	c.arm_silence = &arm;
	return rig_command(r, &c, NULL, err);
}

int rig_hold_power(struct rig *r, uint32_t mask, struct err *err)
{
	return rig_arm_silence(r, mask, SILENCE_POLICY__SILENCE_HOLD, err);
}

int rig_set_telemetry(struct rig *r, uint32_t period_ms, uint32_t mask,
		      struct err *err)
{
	Command c = COMMAND__INIT;
	TelemetrySet set = TELEMETRY_SET__INIT;

	set.period_ms = period_ms;
	set.mask = mask;
	c.body_case = COMMAND__BODY_TELEMETRY_SET;
	c.telemetry_set = &set;
	return rig_command(r, &c, NULL, err);
}
