#include "boards/virtual/backplane/disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/util/log.h"

#define STATUS_US 50000
/* A model that has not answered for so long is hung up on, which pulls its
 * disk: longer than a machine that writes back may hold a process up. */
#define SILENCE_US 30000000

struct bp_disk_request {
	struct bp_disk_request *next;
	bp_disk_fn fn;
	void *arg;
};

static void finish(struct bp_disk *d, const char *answer)
{
	struct bp_disk_request *r = d->head;

	d->head = r->next;
	if (!d->head)
		d->tail = &d->head;
	r->fn(r->arg, answer);
	free(r);
}

static void on_line(void *arg, const char *line)
{
	struct bp_disk *d = arg;

	if (d->head)
		finish(d, line);
}

static void on_down(void *arg)
{
	struct bp_disk *d = arg;
	const struct bp_disk_state gone = { .known = false };

	log_warnx("disk %s: its model is gone", d->serial);
	while (d->head)
		finish(d, NULL);
	d->power_sent_known = false;
	d->power_pending = 0;
	d->status_pending = false;
	d->fn(d->arg, d->slot, &gone);
}

/* What a connection is, and who hears of it. */
/* NOLINTNEXTLINE(readability-function-size) */
void bp_disk_open(struct bp_disk *d, uv_loop_t *loop, const char *run,
		  unsigned int slot, const char *serial, bp_disk_state_fn fn,
		  void *arg)
{
	struct bp_conn_cfg conn = { .line = on_line,
				    .down = on_down,
				    .arg = d };

	memset(d, 0, sizeof(*d));
	d->slot = slot;
	d->tail = &d->head;
	d->fn = fn;
	d->arg = arg;
	snprintf(d->serial, sizeof(d->serial), "%s", serial);
	snprintf(conn.path, sizeof(conn.path), "%s/disk-%s.ctl", run, serial);
	bp_conn_open(&d->conn, loop, &conn);
}

void bp_disk_command(struct bp_disk *d, const char *text, bp_disk_fn fn,
		     void *arg)
{
	struct bp_disk_request *r = NULL;

	if (d->conn.up)
		r = calloc(1, sizeof(*r));
	if (!r) {
		fn(arg, NULL);
		return;
	}
	r->fn = fn;
	r->arg = arg;
	*d->tail = r;
	d->tail = &r->next;
	bp_conn_send(&d->conn, text);
}

static void on_power(void *arg, const char *answer)
{
	struct bp_disk *d = arg;
	char err[128];

	if (!answer)
		return;
	d->power_pending--;
	if (bp_disk_parse_ack(answer, err, sizeof(err)))
		log_warnx("disk %s: power command refused: %s", d->serial, err);
}

static void on_status(void *arg, const char *answer)
{
	struct bp_disk *d = arg;
	struct bp_disk_state state;

	if (!answer)
		return;
	d->status_pending = false;
	if (bp_disk_parse(&state, answer))
		log_warnx("disk %s: no usable status", d->serial);
	else if (!d->power_pending)
		d->fn(d->arg, d->slot, &state);
}

static void send_power(struct bp_disk *d, bool power)
{
	d->power_sent_known = true;
	d->power_sent = power;
	d->power_pending++;
	bp_disk_command(d, power ? "power on" : "power off", on_power, d);
}

void bp_disk_tick(struct bp_disk *d, bool power, uint64_t now_us)
{
	bool due = now_us - d->status_us >= STATUS_US;

	if (!d->conn.up)
		return;
	if (!d->power_sent_known || d->power_sent != power) {
		send_power(d, power);
		due = true;
	}
	if (d->status_pending && now_us - d->status_us >= SILENCE_US)
		bp_conn_reset(&d->conn);
	if (!due || d->status_pending)
		return;
	d->status_us = now_us;
	d->status_pending = true;
	bp_disk_command(d, "status", on_status, d);
}

void bp_disk_close(struct bp_disk *d)
{
	bp_conn_close(&d->conn);
	while (d->head)
		finish(d, NULL);
}
