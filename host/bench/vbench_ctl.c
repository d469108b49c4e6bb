/* bench.ctl: one JSON object a line in, one out. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bench/vbench_priv.h"
#include "host/util/clock.h"
#include "host/util/fs.h"
#include "host/util/log.h"

/* Takes root over. */
static void answer(struct line_client *client, json_t *root)
{
	char *text = json_dumps(root, JSON_COMPACT);

	if (text)
		line_client_answer(client, text);
	free(text);
	json_decref(root);
}

static void answer_ok(struct line_client *client)
{
	answer(client, json_pack("{s:b}", "ok", 1));
}

/* What a client waited for has happened; if one did. */
static void answer_held(struct line_client **client)
{
	if (!*client)
		return;
	answer_ok(*client);
	line_client_release(*client);
	*client = NULL;
}

static void answer_error(struct line_client *client, const char *sentence)
{
	answer(client, json_pack("{s:b, s:s}", "ok", 0, "error", sentence));
}

/* The command itself is wrong. */
static void answer_usage(struct line_client *client, const char *sentence)
{
	answer(client, json_pack("{s:b, s:s, s:b}", "ok", 0, "error", sentence,
				 "usage", 1));
}

/* ---- state ---- */

static const char *child_state(const struct vbench_child *c)
{
	if (c->frozen)
		return "stopped";
	if (c->running)
		return "running";
	if (c->failed)
		return "failed";
	return uv_is_active((const uv_handle_t *)&c->again) ? "restarting"
							    : "ended";
}

static json_t *children_json(const struct vbench *vb)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < vb->children; i++) {
		const struct vbench_child *c = &vb->child[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:i, s:s, s:i, s:s}", "name", c->name,
				  "pid", c->running ? (int)c->run.pid : 0,
				  "state", child_state(c), "restarts",
				  (int)c->restarts, "last_exit", c->last_exit));
	}
	return list;
}

json_t *vbench_state_json(struct vbench *vb)
{
	static const char *const phases[] = {
		[VBENCH_STARTING] = "starting",
		[VBENCH_UP] = "up",
		[VBENCH_STOPPING] = "stopping",
	};

	return json_pack("{s:b, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:s, s:o}",
			 "ok", 1, "name", vb->cfg->name, "run", vb->cfg->run,
			 "state", phases[vb->phase], "pid", (int)getpid(),
			 "board", vb->cfg->board, "kernel", vb->kernel,
			 "booting", vb->booting, "accel",
			 vb->kvm ? "kvm" : "tcg", "children",
			 children_json(vb));
}

void vbench_state_write(struct vbench *vb)
{
	char path[VBENCH_PATH_MAX];
	json_t *root = vbench_state_json(vb);
	char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;

	json_decref(root);
	if (!text)
		return;
	vbench_file(vb, path, "state.json");
	fs_write_atomic(path, text, strlen(text));
	free(text);
}

/* ---- commands ---- */

static void cmd_status(struct vbench *vb, struct line_client *client,
		       const json_t *args)
{
	json_t *root = vbench_state_json(vb);
	json_t *backplane = NULL;

	(void)args;
	if (vb->phase == VBENCH_UP)
		backplane = vbench_backplane(vb, "status");
	json_object_set_new(root, "backplane",
			    backplane ? backplane : json_null());
	answer(client, root);
}

void vbench_boot_done(struct vbench *vb, int rc, const char *why)
{
	struct line_client *client = vb->boot_client;
	uint64_t ms = (clock_mono_ns() - vb->boot_since_ns) / NS_PER_MS;

	vb->booting = false;
	vb->boot_client = NULL;
	if (!client)
		return;
	/* Before the answer: who has it may look there. */
	if (vb->phase == VBENCH_UP)
		vbench_state_write(vb);
	if (rc)
		answer_error(client, why);
	else
		answer(client, json_pack("{s:b, s:s, s:I}", "ok", 1, "kernel",
					 vb->kernel, "ms", (json_int_t)ms));
	line_client_release(client);
}

static void cmd_boot(struct vbench *vb, struct line_client *client,
		     const json_t *args)
{
	const char *kernel = json_string_value(json_object_get(args, "kernel"));
	struct err err = { 0 };

	if (!kernel)
		kernel = vb->kernel;
	if (!vbench_has_kernel(vb->cfg, kernel))
		answer_usage(client, "this bench has no such kernel");
	else if (vbench_boot(vb, kernel, &err))
		answer_error(client, err.text);
	else
		vb->boot_client = line_client_hold(client);
}

static struct vbench_child *running_rig(struct vbench *vb,
					struct line_client *client)
{
	struct vbench_child *rig = vbench_child_find(vb, VBENCH_RIG, 0);

	if (rig && rig->running)
		return rig;
	answer_error(client, "the rig does not run");
	return NULL;
}

void vbench_kill_done(struct vbench_child *c)
{
	answer_held(&c->kill_client);
}

/* As pulling its plug: the emulator dies and is started again. Answered when
 * it is dead: until then it may go on for a while. */
static void cmd_reset_rig(struct vbench *vb, struct line_client *client,
			  const json_t *args)
{
	struct vbench_child *rig = running_rig(vb, client);

	(void)args;
	if (!rig)
		return;
	if (rig->kill_client) {
		answer_error(client, "the rig is being reset");
		return;
	}
	rig->kill_client = line_client_hold(client);
	vbench_child_signal(rig, SIGKILL);
}

static void freeze_rig(struct vbench *vb, struct line_client *client,
		       bool freeze)
{
	struct vbench_child *rig = running_rig(vb, client);

	if (!rig)
		return;
	rig->frozen = freeze;
	vbench_child_signal(rig, freeze ? SIGSTOP : SIGCONT);
	answer_ok(client);
}

static void cmd_stop_rig(struct vbench *vb, struct line_client *client,
			 const json_t *args)
{
	(void)args;
	freeze_rig(vb, client, true);
}

static void cmd_cont_rig(struct vbench *vb, struct line_client *client,
			 const json_t *args)
{
	(void)args;
	freeze_rig(vb, client, false);
}

/* Serial to "N", nothing to "all"; NULL: no such disk. */
static const char *slot_of(const struct vbench *vb, const json_t *disk,
			   char text[16])
{
	const char *serial = json_string_value(disk);

	if (!disk)
		return "all";
	for (unsigned int i = 0; serial && i < vb->cfg->disks; i++) {
		if (strcmp(vb->cfg->disk[i].serial, serial) != 0)
			continue;
		snprintf(text, 16, "%u", vb->cfg->disk[i].slot);
		return text;
	}
	return NULL;
}

static void ask_backplane(struct vbench *vb, struct line_client *client,
			  const char *verb, const json_t *args)
{
	const char *fault = json_string_value(json_object_get(args, "fault"));
	char slot_text[16];
	const char *slot =
		slot_of(vb, json_object_get(args, "disk"), slot_text);
	char line[256];
	json_t *root;

	if (!slot) {
		answer_usage(client, "this bench has no such disk");
		return;
	}
	if (fault && strchr(fault, '\n')) {
		answer_usage(client, "a fault is one line");
		return;
	}
	snprintf(line, sizeof(line), "%s %s %s", verb, slot,
		 fault ? fault : "");
	root = vbench_backplane(vb, line);
	if (root)
		answer(client, root);
	else
		answer_error(client, "the backplane does not answer");
}

/* {"cmd": "plant", "fault": "NAME [K=V ...]", "disk": SERIAL} */
static void cmd_plant(struct vbench *vb, struct line_client *client,
		      const json_t *args)
{
	if (json_is_string(json_object_get(args, "fault")))
		ask_backplane(vb, client, "plant", args);
	else
		answer_error(client, "plant needs a fault");
}

static void cmd_clear(struct vbench *vb, struct line_client *client,
		      const json_t *args)
{
	ask_backplane(vb, client, "clear", args);
}

static void cmd_faults(struct vbench *vb, struct line_client *client,
		       const json_t *args)
{
	json_t *root = vbench_backplane(vb, "faults");

	(void)args;
	if (root)
		answer(client, root);
	else
		answer_error(client, "the backplane does not answer");
}

void vbench_down_done(struct vbench *vb)
{
	answer_held(&vb->down_client);
}

static void cmd_down(struct vbench *vb, struct line_client *client,
		     const json_t *args)
{
	(void)args;
	if (vb->down_client) {
		answer_error(client, "the bench goes down already");
		return;
	}
	vb->down_client = line_client_hold(client);
	if (vb->phase == VBENCH_STARTING)
		err_set(vb->err, -ECANCELED, "taken down before it was up");
	vbench_stop(vb, vb->was_up ? 0 : -ECANCELED);
}

static const struct {
	const char *name;
	void (*run)(struct vbench *vb, struct line_client *client,
		    const json_t *args);
	bool up_only;
} commands[] = {
	{ "status", cmd_status, false },
	{ "down", cmd_down, false },
	{ "boot", cmd_boot, true },
	{ "reset-rig", cmd_reset_rig, true },
	{ "stop-rig", cmd_stop_rig, true },
	{ "cont-rig", cmd_cont_rig, true },
	{ "plant", cmd_plant, true },
	{ "clear", cmd_clear, true },
	{ "faults", cmd_faults, true },
};

static void dispatch(struct vbench *vb, struct line_client *client,
		     const json_t *args)
{
	const char *name = json_string_value(json_object_get(args, "cmd"));

	for (size_t i = 0; name && i < sizeof(commands) / sizeof(commands[0]);
	     i++) {
		if (strcmp(commands[i].name, name) != 0)
			continue;
		if (commands[i].up_only && vb->phase != VBENCH_UP)
			answer_error(client, "the bench is not up");
		else
			commands[i].run(vb, client, args);
		return;
	}
	answer_error(client, "unknown command");
}

static void on_line(void *arg, struct line_client *client, char *line)
{
	json_t *args = json_loads(line, 0, NULL);

	if (json_is_object(args))
		dispatch(arg, client, args);
	else
		answer_error(client, "a command is one JSON object a line");
	json_decref(args);
}

int vbench_ctl_open(struct vbench *vb)
{
	char path[VBENCH_PATH_MAX];

	vbench_file(vb, path, "bench.ctl");
	return line_server_open(&vb->ctl, &vb->loop, path, on_line, vb);
}
