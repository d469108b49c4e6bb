/* A firmware in qemu-system-arm: edges from the trace of its GPIO ports,
 * inputs through qtest, readings of its sensors through QMP. */
#include "boards/virtual/backplane/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boards/virtual/backplane/conn.h"
#include "boards/virtual/backplane/qmp.h"
#include "host/util/log.h"

#define PORTS_MAX VBOARD_PORTS
/* A step that the monitors cannot show is not worth a round trip: one count
 * of the board's ADM1272 is 24.6 mV and 50 mA. */
#define STEP_MV    25
#define STEP_MA    25
#define STEP_MDEGC 100
/* Round trips under way before a refresh waits for its next turn. QEMU does
 * one after the other, 1..3 ms each, so more would only queue old readings. */
#define PENDING_MAX 4
#define UNSENT      INT32_MIN

enum phase {
	PHASE_DOWN,    /* a connection is missing */
	PHASE_SYNC,    /* stopped; levels are being read */
	PHASE_FILL,    /* stopped; readings are to be filled in */
	PHASE_RUNNING, /* edges count */
};

struct sent {
	int32_t mv[BP_RAILS];
	int32_t ma[BP_RAILS];
	int32_t vin_mv[BP_RAILS];
	int activity;
};

struct bp_rig {
	struct bp_rig_cfg cfg;
	uv_loop_t *loop;
	struct bp_qmp qmp;
	struct bp_conn qtest;
	uv_pipe_t trace;
	int trace_fd;
	struct bp_lines trace_lines;
	char rx[4096];
	enum phase phase;
	bool qmp_ready;
	bool qtest_ready;
	bool silent;
	unsigned int device[PORTS_MAX];
	size_t devices;
	unsigned int reads_left; /* levels still due in PHASE_SYNC */
	unsigned int sets_left;  /* pin settings not answered yet */
	uint8_t level[PORTS_MAX];
	struct sent sent[BP_SLOTS];
	int32_t sent_mdegc;
	unsigned int next_slot; /* whose turn it is in a refresh */
};

static void forget_sent(struct bp_rig *r)
{
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		for (unsigned int k = 0; k < BP_RAILS; k++) {
			r->sent[i].mv[k] = UNSENT;
			r->sent[i].ma[k] = UNSENT;
			r->sent[i].vin_mv[k] = UNSENT;
		}
		r->sent[i].activity = -1;
	}
	r->sent_mdegc = UNSENT;
}

static void link_lost(struct bp_rig *r)
{
	if (r->phase != PHASE_DOWN) {
		log_info("rig is gone: all gates off");
		r->phase = PHASE_DOWN;
		r->cfg.events.gates_off(r->cfg.events.arg);
	}
}

/* ---- edges ---- */

static void pin_changed(struct bp_rig *r, unsigned int port, unsigned int pin,
			bool on)
{
	const struct vboard *b = r->cfg.board;

	for (unsigned int i = 0; i < b->slots; i++) {
		for (unsigned int k = 0; k < BP_RAILS; k++) {
			if (b->slot[i].gate[k].port == port &&
			    b->slot[i].gate[k].pin == pin)
				r->cfg.events.gate(r->cfg.events.arg, i, k, on);
		}
	}
}

static void port_changed(struct bp_rig *r, unsigned int port, uint8_t level)
{
	for (unsigned int pin = 0; pin < 8; pin++)
		pin_changed(r, port, pin, level & (1u << pin));
}

static void on_trace_line(void *arg, const char *line)
{
	struct bp_rig *r = arg;
	struct bp_trace t;

	bp_trace_parse(&t, line);
	if (t.kind == BP_TRACE_OTHER || r->phase != PHASE_RUNNING)
		return;
	for (unsigned int port = 0; port < r->devices; port++) {
		if (r->device[port] != t.device)
			continue;
		if (t.kind == BP_TRACE_RESET)
			port_changed(r, port, 0);
		else
			pin_changed(r, port, t.pin, t.level);
	}
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	struct bp_rig *r = h->data;

	(void)suggested;
	*buf = uv_buf_init(r->rx, sizeof(r->rx));
}

static void on_trace(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct bp_rig *r = s->data;

	if (n > 0)
		bp_lines_feed(&r->trace_lines, buf->base, (size_t)n,
			      on_trace_line, r);
}

/* What is in the pipe is older than the levels about to be read. */
static void trace_drain(struct bp_rig *r)
{
	while (read(r->trace_fd, r->rx, sizeof(r->rx)) > 0)
		;
	bp_lines_init(&r->trace_lines);
}

/* Open for reading and writing, so that the pipe outlives its writers. */
static int trace_open(struct bp_rig *r)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/gates.fifo", r->cfg.run);
	if (mkfifo(path, 0600) && errno != EEXIST)
		return -errno;
	r->trace_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (r->trace_fd < 0)
		return -errno;
	uv_pipe_init(r->loop, &r->trace, 0);
	r->trace.data = r;
	bp_lines_init(&r->trace_lines);
	uv_pipe_open(&r->trace, r->trace_fd);
	return uv_read_start((uv_stream_t *)&r->trace, on_alloc, on_trace);
}

/* ---- bring-up: stop, read all levels, fill the sensors in, go on ---- */

static void running(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_rig *r = arg;

	if (m && m->kind == BP_QMP_RETURN)
		log_info("rig runs: %s", r->cfg.board->name);
}

static void levels_known(struct bp_rig *r)
{
	for (unsigned int port = 0; port < r->devices; port++)
		port_changed(r, port, r->level[port]);
	forget_sent(r);
	r->silent = true; /* it stands until the first refresh is through */
	r->phase = PHASE_FILL;
}

static void read_levels(struct bp_rig *r)
{
	const struct vboard *b = r->cfg.board;
	char text[64];

	r->reads_left = 2 * b->ports;
	for (unsigned int i = 0; i < b->ports; i++) {
		r->level[i] = 0xff;
		snprintf(text, sizeof(text), "readl 0x%x", b->gpio_data[i]);
		bp_conn_send(&r->qtest, text);
		snprintf(text, sizeof(text), "readl 0x%x", b->gpio_dir[i]);
		bp_conn_send(&r->qtest, text);
	}
}

/* Data and direction of each port, in the order asked. */
static void level_came(struct bp_rig *r, uint64_t value)
{
	unsigned int n = 2 * r->cfg.board->ports - r->reads_left;

	r->level[n / 2] &= (uint8_t)value;
	if (!--r->reads_left)
		levels_known(r);
}

static void stopped(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_rig *r = arg;

	if (!m || r->phase != PHASE_SYNC)
		return;
	trace_drain(r);
	read_levels(r);
}

static void devices_came(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_rig *r = arg;

	if (!m || r->phase != PHASE_SYNC)
		return;
	r->devices = bp_qmp_devices(m->data, r->cfg.board->gpio_type, r->device,
				    PORTS_MAX);
	if (r->devices != r->cfg.board->ports) {
		log_warnx("emulator has %zu GPIO ports, board %s needs %u",
			  r->devices, r->cfg.board->name, r->cfg.board->ports);
		return;
	}
	bp_qmp_send(&r->qmp, "stop", NULL, stopped, r);
}

static void sync_start(struct bp_rig *r)
{
	if (!r->qmp_ready || !r->qtest_ready || r->phase != PHASE_DOWN)
		return;
	r->phase = PHASE_SYNC;
	bp_qmp_send(&r->qmp, "qom-list",
		    json_pack("{s:s}", "path", "/machine/unattached"),
		    devices_came, r);
}

static void on_qtest_line(void *arg, const char *line)
{
	struct bp_rig *r = arg;
	struct bp_qtest q;

	bp_qtest_parse(&q, line);
	if (q.kind == BP_QTEST_FAIL)
		log_warnx("emulator refuses: %s", line);
	if (q.kind != BP_QTEST_OK && q.kind != BP_QTEST_FAIL)
		return;
	/* Answers come in order: pins were set before levels were asked. */
	if (r->sets_left)
		r->sets_left--;
	else if (r->phase == PHASE_SYNC && r->reads_left)
		level_came(r, q.value);
}

static void on_qtest_up(void *arg)
{
	struct bp_rig *r = arg;

	r->qtest_ready = true;
	r->sets_left = 0;
	r->reads_left = 0;
	sync_start(r);
}

static void on_qtest_down(void *arg)
{
	struct bp_rig *r = arg;

	r->qtest_ready = false;
	link_lost(r);
	bp_qmp_reset(&r->qmp);
}

static void on_qmp_ready(void *arg)
{
	struct bp_rig *r = arg;

	r->qmp_ready = true;
	sync_start(r);
}

static void on_qmp_down(void *arg)
{
	struct bp_rig *r = arg;

	r->qmp_ready = false;
	link_lost(r);
	bp_conn_reset(&r->qtest);
}

/* A reset of the emulated machine also clears the sensors, which a reset of
 * the real part does not: hold the MCU until they have their readings back,
 * or it would take rails that still fall for proven off. */
static void on_qmp_event(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_rig *r = arg;

	if (strcmp(m->name, "RESET") != 0 || r->phase != PHASE_RUNNING)
		return;
	log_info("rig was reset");
	r->phase = PHASE_SYNC;
	r->cfg.events.gates_off(r->cfg.events.arg);
	bp_qmp_send(&r->qmp, "stop", NULL, stopped, r);
}

/* ---- what the firmware sees ---- */

static void on_set(void *arg, const struct bp_qmp_msg *m)
{
	(void)arg;
	if (m && m->kind == BP_QMP_ERROR)
		log_warnx("emulator refuses a reading: %s", m->detail);
}

static void set_property(struct bp_rig *r, const char *id, const char *property,
			 int32_t value)
{
	char path[64];

	snprintf(path, sizeof(path), "/machine/peripheral/%s", id);
	bp_qmp_send(&r->qmp, "qom-set",
		    json_pack("{s:s, s:s, s:i}", "path", path, "property",
			      property, "value", (int)value),
		    on_set, r);
}

/* Zero is always worth telling: proof of off hangs on it. */
static bool worth_sending(int32_t sent, int32_t now, int32_t step)
{
	if (sent == UNSENT || (now == 0 && sent != 0))
		return true;
	return abs(sent - now) >= step;
}

static void refresh_rail(struct bp_rig *r, unsigned int slot, unsigned int rail,
			 const struct bp_outputs *out)
{
	struct sent *sent = &r->sent[slot];
	char id[32];

	snprintf(id, sizeof(id), "s%u-%s", slot, rail == BP_5V ? "5v" : "12v");
	if (worth_sending(sent->mv[rail], out->mv[rail], STEP_MV)) {
		sent->mv[rail] = out->mv[rail];
		set_property(r, id, "vout", out->mv[rail]);
	}
	if (worth_sending(sent->ma[rail], out->ma[rail], STEP_MA)) {
		sent->ma[rail] = out->ma[rail];
		set_property(r, id, "iout", out->ma[rail]);
	}
	if (worth_sending(sent->vin_mv[rail], out->vin_mv[rail], STEP_MV)) {
		sent->vin_mv[rail] = out->vin_mv[rail];
		set_property(r, id, "vin", out->vin_mv[rail]);
	}
}

static void refresh_activity(struct bp_rig *r, unsigned int slot, bool level)
{
	const struct vboard_pin *p = &r->cfg.board->slot[slot].activity;
	char text[128];

	if (r->sent[slot].activity == level)
		return;
	r->sent[slot].activity = level;
	snprintf(text, sizeof(text),
		 "set_irq_in /machine/unattached/device[%u] unnamed-gpio-in "
		 "%u %d",
		 r->device[p->port], p->pin, level);
	r->sets_left++;
	bp_conn_send(&r->qtest, text);
}

static void refresh_silent(struct bp_rig *r, bool silent)
{
	if (r->silent == silent)
		return;
	r->silent = silent;
	if (silent)
		bp_qmp_send(&r->qmp, "stop", NULL, NULL, NULL);
	else
		bp_qmp_send(&r->qmp, "cont", NULL, running, r);
}

/* Each slot gets its turn, also when there is always more to tell than time
 * to tell it. */
static void refresh_slots(struct bp_rig *r, const struct bp_model *m)
{
	for (unsigned int i = 0; i < r->cfg.board->slots; i++) {
		const struct bp_outputs *out =
			bp_model_outputs(m, r->next_slot);

		if (r->phase == PHASE_RUNNING &&
		    bp_qmp_pending(&r->qmp) > PENDING_MAX)
			return;
		for (unsigned int k = 0; k < BP_RAILS; k++)
			refresh_rail(r, r->next_slot, k, out);
		refresh_activity(r, r->next_slot, out->activity);
		r->next_slot = (r->next_slot + 1) % r->cfg.board->slots;
	}
}

static void rig_qemu_refresh(struct bp_rig *r, const struct bp_model *m)
{
	int32_t mdegc = bp_model_board_mdegc(m);

	if (r->phase != PHASE_RUNNING && r->phase != PHASE_FILL)
		return;
	if (worth_sending(r->sent_mdegc, mdegc, STEP_MDEGC)) {
		r->sent_mdegc = mdegc;
		set_property(r, "temp", "temperature", mdegc);
	}
	refresh_slots(r, m);
	r->phase = PHASE_RUNNING;
	refresh_silent(r, bp_model_silent(m));
}

struct settle {
	bp_rig_fn fn;
	void *arg;
};

static void settled(void *arg, const struct bp_qmp_msg *m)
{
	struct settle s = *(struct settle *)arg;

	(void)m;
	free(arg);
	s.fn(s.arg);
}

/* QEMU does what it is told one after the other, so the answer to any
 * question comes when what was sent before it is done. */
static bool rig_qemu_settle(struct bp_rig *r, bp_rig_fn fn, void *arg)
{
	struct settle *s;

	if (r->phase == PHASE_SYNC || r->phase == PHASE_FILL)
		return false;
	s = malloc(sizeof(*s));
	if (!s)
		return false;
	*s = (struct settle){ .fn = fn, .arg = arg };
	bp_qmp_send(&r->qmp, "query-status", NULL, settled, s);
	return true;
}

static bool rig_qemu_online(const struct bp_rig *r)
{
	return r->phase == PHASE_RUNNING;
}

static void connect_all(struct bp_rig *r)
{
	struct bp_qmp_cfg qmp = { .ready = on_qmp_ready,
				  .down = on_qmp_down,
				  .event = on_qmp_event,
				  .arg = r };
	struct bp_conn_cfg qtest = { .up = on_qtest_up,
				     .line = on_qtest_line,
				     .down = on_qtest_down,
				     .arg = r };

	snprintf(qmp.path, sizeof(qmp.path), "%s/qmp-rig.sock", r->cfg.run);
	snprintf(qtest.path, sizeof(qtest.path), "%s/qtest-rig.sock",
		 r->cfg.run);
	bp_qmp_open(&r->qmp, r->loop, &qmp);
	bp_conn_open(&r->qtest, r->loop, &qtest);
}

static struct bp_rig *rig_qemu_open(uv_loop_t *loop,
				    const struct bp_rig_cfg *cfg)
{
	struct bp_rig *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return NULL;
	r->cfg = *cfg;
	r->loop = loop;
	forget_sent(r);
	rc = trace_open(r);
	if (rc) {
		free(r);
		errno = -rc;
		return NULL;
	}
	connect_all(r);
	return r;
}

static void rig_qemu_close(struct bp_rig *r)
{
	bp_qmp_close(&r->qmp);
	bp_conn_close(&r->qtest);
	uv_close((uv_handle_t *)&r->trace, NULL);
}

const struct bp_rig_ops bp_rig_qemu = {
	.name = "qemu",
	.open = rig_qemu_open,
	.refresh = rig_qemu_refresh,
	.online = rig_qemu_online,
	.settle = rig_qemu_settle,
	.close = rig_qemu_close,
};
