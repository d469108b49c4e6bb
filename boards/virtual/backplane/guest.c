#include "boards/virtual/backplane/guest.h"

#include <stdio.h>
#include <string.h>

#include "host/util/log.h"

/* Before a refused request is tried again: QEMU lets go of the old user of a
 * block node some milliseconds after device_del. */
#define RETRY_US 50000

/* dut.c names both the port so and its character device. */
#define AGENT_PORT "port1"

static struct bp_guest_disk *find(struct bp_guest *g, const char *id)
{
	if (strncmp(id, "disk-", 5) != 0)
		return NULL;
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		if (g->disk[i].serial[0] && !strcmp(g->disk[i].serial, id + 5))
			return &g->disk[i];
	}
	return NULL;
}

static void peripherals_came(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_guest *g = arg;
	size_t i;
	const json_t *entry;

	if (!m || m->kind != BP_QMP_RETURN)
		return;
	json_array_foreach((json_t *)m->data, i, entry)
	{
		const char *id =
			json_string_value(json_object_get(entry, "name"));
		struct bp_guest_disk *d = id ? find(g, id) : NULL;

		if (d)
			d->attached = true;
	}
	g->known = true;
	log_info("guest is there");
}

static void chardevs_came(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_guest *g = arg;
	size_t i;
	const json_t *entry;

	if (!m || m->kind != BP_QMP_RETURN)
		return;
	json_array_foreach((json_t *)m->data, i, entry)
	{
		const char *label =
			json_string_value(json_object_get(entry, "label"));

		if (label && !strcmp(label, AGENT_PORT))
			g->agent = json_is_true(
				json_object_get(entry, "frontend-open"));
	}
}

static void on_event(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_guest *g = arg;
	const char *id = json_string_value(json_object_get(m->data, "id"));

	if (!strcmp(m->name, "VSERPORT_CHANGE") && id &&
	    !strcmp(id, AGENT_PORT)) {
		g->agent = json_is_true(json_object_get(m->data, "open"));
		log_info("agent %s its port", g->agent ? "opens" : "closes");
	}
}

static void on_ready(void *arg)
{
	struct bp_guest *g = arg;

	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		g->disk[i].attached = false;
		g->disk[i].busy = false;
		g->disk[i].not_before_us = 0;
	}
	bp_qmp_send(&g->qmp, "qom-list",
		    json_pack("{s:s}", "path", "/machine/peripheral"),
		    peripherals_came, g);
	bp_qmp_send(&g->qmp, "query-chardev", NULL, chardevs_came, g);
}

static void on_down(void *arg)
{
	struct bp_guest *g = arg;

	g->known = false;
	g->agent = false;
	log_info("guest is gone");
}

static void plugged(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_guest_disk *d = arg;

	d->busy = false;
	if (!m)
		return;
	if (m->kind == BP_QMP_RETURN) {
		d->attached = true;
		log_info("disk %s: plugged into the guest", d->serial);
		return;
	}
	log_debug("disk %s: %s", d->serial, m->detail);
	d->not_before_us = d->guest->now_us + RETRY_US;
}

static void pulled(void *arg, const struct bp_qmp_msg *m)
{
	struct bp_guest_disk *d = arg;

	d->busy = false;
	if (!m)
		return;
	if (m->kind == BP_QMP_RETURN || !strcmp(m->name, "DeviceNotFound")) {
		d->attached = false;
		log_info("disk %s: pulled from the guest", d->serial);
		return;
	}
	log_warnx("disk %s: %s", d->serial, m->detail);
	d->not_before_us = d->guest->now_us + RETRY_US;
}

/* Caching and errors as dut.h asks: the guest sees the disk's own. */
static void plug(struct bp_guest_disk *d)
{
	char id[80];
	char node[80];

	snprintf(id, sizeof(id), "disk-%s", d->serial);
	snprintf(node, sizeof(node), "nb-%s", d->serial);
	bp_qmp_send(&d->guest->qmp, "device_add",
		    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, "
			      "s:s, s:s}",
			      "driver", "scsi-hd", "bus", "scsi0.0", "id", id,
			      "drive", node, "serial", d->serial, "device_id",
			      d->serial, "scsi-id", (int)d->slot, "lun", 0,
			      "write-cache", "on", "werror", "report", "rerror",
			      "report"),
		    plugged, d);
}

static void pull(struct bp_guest_disk *d)
{
	char id[80];

	snprintf(id, sizeof(id), "disk-%s", d->serial);
	bp_qmp_send(&d->guest->qmp, "device_del", json_pack("{s:s}", "id", id),
		    pulled, d);
}

void bp_guest_open(struct bp_guest *g, uv_loop_t *loop, const char *run)
{
	struct bp_qmp_cfg qmp = {
		.ready = on_ready, .down = on_down, .event = on_event, .arg = g
	};

	memset(g, 0, sizeof(*g));
	snprintf(qmp.path, sizeof(qmp.path), "%s/qmp-dut.sock", run);
	bp_qmp_open(&g->qmp, loop, &qmp);
}

void bp_guest_add(struct bp_guest *g, unsigned int slot, const char *serial)
{
	struct bp_guest_disk *d = &g->disk[slot];

	d->guest = g;
	d->slot = slot;
	snprintf(d->serial, sizeof(d->serial), "%s", serial);
}

void bp_guest_tick(struct bp_guest *g, unsigned int slot, bool present,
		   uint64_t now_us)
{
	struct bp_guest_disk *d = &g->disk[slot];

	g->now_us = now_us;
	if (!g->known || !d->serial[0] || d->busy || present == d->attached ||
	    now_us < d->not_before_us)
		return;
	d->busy = true;
	if (present)
		plug(d);
	else
		pull(d);
}

bool bp_guest_attached(const struct bp_guest *g, unsigned int slot)
{
	return g->known && g->disk[slot].attached;
}

bool bp_guest_online(const struct bp_guest *g)
{
	return g->known;
}

bool bp_guest_agent(const struct bp_guest *g)
{
	return g->agent;
}

void bp_guest_close(struct bp_guest *g)
{
	bp_qmp_close(&g->qmp);
}
