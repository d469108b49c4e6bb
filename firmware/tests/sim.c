#include "firmware/tests/sim.h"

#include <pb_decode.h>
#include <pb_encode.h>

#include "firmware/hal/activity.h"
#include "firmware/hal/clock.h"
#include "firmware/hal/gpio.h"
#include "firmware/hal/idle.h"
#include "firmware/hal/reset.h"
#include "firmware/hal/uart.h"
#include "firmware/hal/watchdog.h"
#include "firmware/tests/test.h"
#include "proto/schema.h"

#define STEP_US 500u
/* 115200 baud */
#define BYTES_A_STEP 6u

struct sim sim;
static jmp_buf sim_jump;

/* ---- hal/ ---- */

uint64_t hal_clock_us(void)
{
	return sim.now_us;
}

void hal_gpio_outputs_low(const struct hal_pin *pins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hal_gpio_set(pins[i], false);
}

void hal_gpio_set(struct hal_pin pin, bool high)
{
	sim.gate[pin.port * 8u + pin.bit] = high;
}

bool hal_gpio_get(struct hal_pin pin)
{
	return sim.gate[pin.port * 8u + pin.bit];
}

void hal_activity_init(const struct hal_pin *pins, size_t n)
{
	(void)pins;
	(void)n;
	memset(sim.edges, 0, sizeof(sim.edges));
}

uint32_t hal_activity_edges(size_t ch)
{
	return sim.edges[ch];
}

bool hal_activity_is_active(size_t ch)
{
	return sim.active[ch];
}

const struct hal_i2c *hal_i2c_init(void)
{
	return &sim.parts.bus;
}

void hal_idle(uint64_t until_us)
{
	(void)until_us;
}

reset_cause hal_reset_cause(void)
{
	return sim.cause;
}

/* Ends the step that called it. */
_Noreturn void hal_reset(reset_cause why)
{
	longjmp(sim_jump, (int)why);
}

void *hal_retained(size_t size)
{
	return size <= sizeof(sim.retained) ? sim.retained : NULL;
}

size_t hal_unique_id(uint8_t id[16])
{
	memset(id, 7, 16);
	return 8;
}

void hal_uart_init(uint32_t baud)
{
	(void)baud;
}

static size_t pipe_take(struct sim_pipe *p, uint8_t *buf, size_t cap)
{
	size_t n = p->len < cap ? p->len : cap;

	memcpy(buf, p->bytes, n);
	memmove(p->bytes, p->bytes + n, p->len - n);
	p->len -= n;
	return n;
}

static size_t pipe_put(struct sim_pipe *p, const uint8_t *buf, size_t len)
{
	size_t room = SIM_PIPE_BYTES - p->len;
	size_t n = len < room ? len : room;

	memcpy(p->bytes + p->len, buf, n);
	p->len += n;
	return n;
}

size_t hal_uart_read(uint8_t *buf, size_t cap, uint64_t *at_us)
{
	size_t n = pipe_take(&sim.to_rig, buf, cap);

	if (n)
		*at_us = sim.now_us;
	return n;
}

/* The FIFO takes what the line can carry in a step. */
size_t hal_uart_write(const uint8_t *buf, size_t len)
{
	static uint64_t step_us;
	static size_t taken;
	size_t n;

	if (step_us != sim.now_us) {
		step_us = sim.now_us;
		taken = 0;
	}
	n = len < BYTES_A_STEP - taken ? len : BYTES_A_STEP - taken;
	taken += n;
	return pipe_put(&sim.to_host, buf, n);
}

uint32_t hal_uart_overruns(void)
{
	return 0;
}

void hal_watchdog_start(uint32_t timeout_ms)
{
	sim.watchdog_ms = timeout_ms;
	hal_watchdog_feed();
}

void hal_watchdog_feed(void)
{
	sim.fed_us = sim.now_us;
}

/* ---- the host ---- */

static bool on_receive(void *arg, uint8_t channel, uint8_t flags,
		       const uint8_t *payload, size_t len)
{
	struct sim_host *h = arg;
	pb_istream_t in = pb_istream_from_buffer(payload, len);
	Result r = Result_init_zero;

	if (channel == CHANNEL_EVENT && h->events < SIM_EVENTS) {
		assert_true(pb_decode(&in, Event_fields, &h->event[h->events]));
		h->events++;
	} else if (channel == CHANNEL_LOG && h->lines < SIM_LINES) {
		assert_true(pb_decode(&in, LogLine_fields, &h->line[h->lines]));
		h->lines++;
	} else if (channel == CHANNEL_TELEMETRY) {
		assert_true(
			pb_decode(&in, Telemetry_fields, &h->last_telemetry));
		h->telemetry[h->last_telemetry.slot]++;
	} else if (channel == CHANNEL_COMMAND &&
		   pb_decode(&in, Result_fields, &r) &&
		   r.op_id == h->waits_for) {
		h->result = r;
		h->result_flags = flags;
		h->answered = true;
	}
	return true;
}

static void on_up(void *arg, const struct control_hello *peer,
		  const struct control_info *info)
{
	struct sim_host *h = arg;

	(void)peer;
	h->info = *info;
	h->up = true;
}

static void on_lost(void *arg, enum session_loss why)
{
	struct sim_host *h = arg;

	(void)why;
	h->up = false;
}

static void on_all_off_done(void *arg)
{
	struct sim_host *h = arg;

	h->all_off_done = true;
}

static uint32_t on_random(void *arg)
{
	static uint32_t seed = 12345;

	(void)arg;
	return test_random(&seed);
}

static const struct session_ops host_ops = {
	.receive = on_receive,
	.up = on_up,
	.lost = on_lost,
	.all_off_done = on_all_off_done,
	.random = on_random,
};

static void host_init(struct sim_host *h)
{
	struct session_cfg cfg = {
		.role = SESSION_HOST,
		.major = SESSION_MAJOR,
		.minor = SESSION_MINOR,
		.lowest_major = SESSION_LOWEST_MAJOR,
		.schema = SCHEMA_HASH,
		.ops = &host_ops,
		.arg = h,
		.packets = h->packets,
		.payloads = h->payloads,
		.payload_max = FRAME_PAYLOAD_MAX,
		.window = 4,
		.tx = h->tx,
		.tx_size = sizeof(h->tx),
	};

	memset(h, 0, sizeof(*h));
	h->next_op = 1000;
	session_init(&h->session, &cfg);
}

static void host_step(struct sim_host *h)
{
	uint8_t buf[64];
	size_t len;
	size_t n = pipe_take(&sim.to_host, buf, sizeof(buf));
	const uint8_t *out;

	if (n && !h->deaf)
		session_rx(&h->session, buf, n, sim.now_us);
	if (h->silent)
		return;
	session_poll(&h->session, sim.now_us);
	out = session_tx(&h->session, &len);
	if (len > BYTES_A_STEP)
		len = BYTES_A_STEP;
	if (!len)
		return;
	assert_int_equal(pipe_put(&sim.to_rig, out, len), len);
	session_tx_done(&h->session, len, sim.now_us);
}

/* ---- disks ---- */

static int32_t rail_moves(int32_t mv, bool gate, unsigned rail, int32_t floor)
{
	int32_t nominal = rail_nominal_mv(rail);

	/* 5 ms up; down to a tenth in 90 ms. */
	if (gate)
		mv += nominal / 10;
	else
		mv -= mv / 80 + 2;
	if (mv < floor)
		return floor;
	return mv > nominal ? nominal : mv;
}

static void disk_step(unsigned slot)
{
	struct sim_disk *d = &sim.disk[slot];
	bool spins;

	for (unsigned rail = 0; rail < RIG_RAILS; rail++)
		d->mv[rail] = rail_moves(d->mv[rail],
					 sim.gate[slot * RIG_RAILS + rail],
					 rail, d->back_feed && !rail ? 600 : 0);
	spins = d->mv[RAIL_5V] > 4500 && d->mv[RAIL_12V] > 10800;
	if (!spins)
		d->on_us = sim.now_us;
	for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
		struct parts_rail *p = &sim.parts.rail[slot * 2 + rail];

		p->vout_mv = d->mv[rail] * sim.vin_percent / 100;
		p->vin_mv = rail_nominal_mv(rail) * sim.vin_percent / 100;
		p->iout_ma = spins ? d->ma[rail] : 0;
		if (spins && rail == RAIL_12V &&
		    sim.now_us - d->on_us < d->spinup_us)
			p->iout_ma = d->spinup_ma;
	}
}

/* ---- running ---- */

static void boot(reset_cause why)
{
	memset(&sim.app, 0, sizeof(sim.app));
	memset(sim.gate, 0, sizeof(sim.gate));
	sim.to_rig.len = 0;
	sim.cause = why;
	app_init(&sim.app, &board);
}

void sim_start(void)
{
	memset(&sim, 0, sizeof(sim));
	memset(sim.eeprom, 0xff, sizeof(sim.eeprom));
	memset(sim.retained, 0x3c, sizeof(sim.retained));
	parts_init(&sim.parts, sim.eeprom);
	sim.vin_percent = 100;
	sim.now_us = 1000;
	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++) {
		sim.disk[i].ma[RAIL_5V] = 300;
		sim.disk[i].ma[RAIL_12V] = 350;
		sim.disk[i].spinup_ma = 2400;
		sim.disk[i].spinup_us = 3000000;
	}
	host_init(&sim.host);
	boot(RESET_POWER);
}

void sim_reset(reset_cause why)
{
	sim.resets++;
	boot(why);
}

static void run_app(void)
{
	int why = setjmp(sim_jump);

	if (why)
		sim_reset((reset_cause)why);
	else
		app_run(&sim.app);
}

static void step(void)
{
	sim.now_us += STEP_US;
	for (unsigned i = 0; i < RIG_SLOTS_MAX; i++)
		disk_step(i);
	host_step(&sim.host);
	run_app();
	assert_true(sim.now_us - sim.fed_us < sim.watchdog_ms * 1000ull);
}

void sim_run_ms(uint32_t ms)
{
	for (uint32_t i = 0; i < ms * 1000u / STEP_US; i++)
		step();
}

void sim_connect(void)
{
	session_open(&sim.host.session, sim.now_us);
	for (unsigned i = 0; i < 10000 && !sim.host.up; i++)
		step();
	assert_true(sim.host.up);
}

const Result *sim_command(const Command *cmd)
{
	struct sim_host *h = &sim.host;
	Command c = *cmd;
	uint8_t buf[Command_size];
	pb_ostream_t out = pb_ostream_from_buffer(buf, sizeof(buf));

	if (!c.op_id)
		c.op_id = h->next_op++;
	h->waits_for = c.op_id;
	h->answered = false;
	assert_true(pb_encode(&out, Command_fields, &c));
	assert_int_equal(session_send(&h->session, CHANNEL_COMMAND, 0, buf,
				      out.bytes_written),
			 SESSION_OK);
	for (unsigned i = 0; i < 10000 && !h->answered; i++)
		step();
	assert_true(h->answered);
	return &h->result;
}

rig_status sim_set(uint32_t mask, bool on)
{
	Command c = Command_init_zero;

	c.which_body = Command_slot_set_tag;
	c.body.slot_set.mask = mask;
	c.body.slot_set.on = on;
	return sim_command(&c)->status;
}

rig_status sim_simple(pb_size_t tag)
{
	Command c = Command_init_zero;

	c.which_body = tag;
	return sim_command(&c)->status;
}

const SlotStatus *sim_status(unsigned slot)
{
	Command c = Command_init_zero;

	c.which_body = Command_get_status_tag;
	c.body.get_status.slot = slot;
	assert_int_equal(sim_command(&c)->status, RIG_OK);
	return &sim.host.result.body.slot_status;
}

uint32_t sim_until(unsigned slot, slot_state state, uint32_t limit_ms)
{
	uint64_t start_us = sim.now_us;

	while (sim.app.slot[slot].state != state &&
	       sim.now_us - start_us < limit_ms * 1000ull)
		step();
	assert_int_equal(sim.app.slot[slot].state, state);
	return (uint32_t)((sim.now_us - start_us) / 1000);
}

const Event *sim_last_event(event_kind kind)
{
	for (uint32_t i = sim.host.events; i > 0; i--) {
		if (sim.host.event[i - 1].kind == kind)
			return &sim.host.event[i - 1];
	}
	return NULL;
}

void sim_ask_log(void)
{
	Command since = { .which_body = Command_events_since_tag,
			  .body.events_since.log = true };
	Command info = { .which_body = Command_get_info_tag };

	sim.host.events = 0;
	sim.host.lines = 0;
	assert_int_equal(sim_command(&since)->status, RIG_OK);
	while (sim_command(&info)->body.info.log_waiting)
		;
}

unsigned sim_count_lines(const char *text)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sim.host.lines; i++)
		n += strstr(sim.host.line[i].text, text) != NULL;
	return n;
}
