/* The firmware as a native process: gates and readings are lines on one
 * socket, see firmware/port/posix/backplane_proto.h. */
#include "boards/virtual/backplane/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/virtual/backplane/conn.h"
#include "host/util/log.h"

struct bp_rig {
	struct bp_rig_cfg cfg;
	struct bp_conn conn;
	bool online;
	bool told_silent;
	struct bp_outputs sent[BP_SLOTS];
	bool sent_known[BP_SLOTS];
	int32_t sent_mdegc;
};

static void forget_sent(struct bp_rig *r)
{
	memset(r->sent_known, 0, sizeof(r->sent_known));
	r->sent_mdegc = INT32_MIN;
}

/* The gates that are on are told next. */
static void started(struct bp_rig *r)
{
	forget_sent(r);
	r->cfg.events.gates_off(r->cfg.events.arg);
}

static void on_line(void *arg, const char *line)
{
	struct bp_rig *r = arg;
	struct bp_posix p;

	bp_posix_parse(&p, line);
	switch (p.kind) {
	case BP_POSIX_HELLO:
		r->online = true;
		log_info("rig runs: posix");
		started(r);
		break;
	case BP_POSIX_RESET:
		started(r);
		break;
	case BP_POSIX_GATE:
		if (r->online)
			r->cfg.events.gate(r->cfg.events.arg, p.slot, p.rail,
					   p.level);
		break;
	case BP_POSIX_OTHER:
		break;
	}
}

static void on_down(void *arg)
{
	struct bp_rig *r = arg;

	log_info("rig is gone: all gates off");
	r->online = false;
	r->cfg.events.gates_off(r->cfg.events.arg);
}

static void send_rail(struct bp_rig *r, unsigned int slot, unsigned int rail,
		      const struct bp_outputs *out)
{
	const struct bp_outputs *sent = &r->sent[slot];
	char text[80];

	if (r->sent_known[slot] && sent->mv[rail] == out->mv[rail] &&
	    sent->ma[rail] == out->ma[rail] &&
	    sent->vin_mv[rail] == out->vin_mv[rail])
		return;
	snprintf(text, sizeof(text), "rail %u %d %d %d %d", slot,
		 rail == BP_5V ? 5 : 12, out->mv[rail], out->ma[rail],
		 out->vin_mv[rail]);
	bp_conn_send(&r->conn, text);
}

static void send_slot(struct bp_rig *r, unsigned int slot,
		      const struct bp_outputs *out)
{
	char text[80];

	for (unsigned int k = 0; k < BP_RAILS; k++)
		send_rail(r, slot, k, out);
	if (!r->sent_known[slot] || r->sent[slot].activity != out->activity) {
		snprintf(text, sizeof(text), "activity %u %d", slot,
			 out->activity);
		bp_conn_send(&r->conn, text);
	}
	r->sent[slot] = *out;
	r->sent_known[slot] = true;
}

/* Nothing here can stop that process; SIGSTOP can ("stop-rig"). */
static void check_silent(struct bp_rig *r, bool silent)
{
	if (silent && !r->told_silent)
		log_warnx("board posix cannot be silenced from here");
	r->told_silent = silent;
}

static void rig_posix_refresh(struct bp_rig *r, const struct bp_model *m)
{
	int32_t mdegc = bp_model_board_mdegc(m);
	char text[80];

	if (!r->online)
		return;
	check_silent(r, bp_model_silent(m));
	if (abs(r->sent_mdegc / 100 - mdegc / 100) > 0) {
		r->sent_mdegc = mdegc;
		snprintf(text, sizeof(text), "temperature %d", mdegc);
		bp_conn_send(&r->conn, text);
	}
	for (unsigned int i = 0; i < BP_SLOTS; i++)
		send_slot(r, i, bp_model_outputs(m, i));
}

/* Lines come in order, and nothing here stands still. */
static bool rig_posix_settle(struct bp_rig *r, bp_rig_fn fn, void *arg)
{
	(void)r;
	fn(arg);
	return true;
}

static bool rig_posix_online(const struct bp_rig *r)
{
	return r->online;
}

static struct bp_rig *rig_posix_open(uv_loop_t *loop,
				     const struct bp_rig_cfg *cfg)
{
	struct bp_rig *r = calloc(1, sizeof(*r));
	struct bp_conn_cfg conn = { .line = on_line,
				    .down = on_down,
				    .arg = r };

	if (!r)
		return NULL;
	r->cfg = *cfg;
	forget_sent(r);
	snprintf(conn.path, sizeof(conn.path), "%s/backplane-rig.sock",
		 cfg->run);
	bp_conn_open(&r->conn, loop, &conn);
	return r;
}

static void rig_posix_close(struct bp_rig *r)
{
	bp_conn_close(&r->conn);
}

const struct bp_rig_ops bp_rig_posix = {
	.name = "posix",
	.open = rig_posix_open,
	.refresh = rig_posix_refresh,
	.online = rig_posix_online,
	.settle = rig_posix_settle,
	.close = rig_posix_close,
};
