#include "boards/virtual/backplane/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/virtual/backplane/app.h"

/* Takes root over. */
static void answer(struct line_client *cl, json_t *root)
{
	char *text = json_dumps(root, JSON_COMPACT);

	if (text)
		line_client_answer(cl, text);
	free(text);
	json_decref(root);
}

static void answer_error(struct line_client *cl, const char *sentence)
{
	answer(cl, json_pack("{s:b, s:s}", "ok", 0, "error", sentence));
}

/* The command itself is wrong. */
static void answer_usage(struct line_client *cl, const char *sentence)
{
	answer(cl, json_pack("{s:b, s:s, s:b}", "ok", 0, "error", sentence,
			     "usage", 1));
}

/* ---- status ---- */

static json_t *rail_json(const struct bp_slot *s, unsigned int rail)
{
	return json_pack("{s:b, s:i, s:i}", "gate", s->rail[rail].gate, "mv",
			 s->out.mv[rail], "ma", s->out.ma[rail]);
}

static json_t *slot_faults_json(const struct bp_model *m, unsigned int slot)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < m->faults; i++) {
		const struct bp_fault *f = &m->fault[i];

		if (f->slot == slot || f->slot == BP_ALL_SLOTS)
			json_array_append_new(list, json_string(f->kind->name));
	}
	return list;
}

static json_t *slot_json(const struct bp_app *app, unsigned int slot)
{
	static const char *const power[] = {
		[BP_DISK_OFF] = "off",
		[BP_DISK_SPINUP] = "spinup",
		[BP_DISK_ON] = "on",
		[BP_DISK_FALLING] = "falling",
	};
	const struct bp_slot *s = &app->model.slot[slot];

	return json_pack("{s:i, s:s, s:o, s:o, s:b, s:s, s:b, s:b, s:o}",
			 "slot", (int)slot, "serial", app->cfg.serial[slot],
			 "5v", rail_json(s, BP_5V), "12v", rail_json(s, BP_12V),
			 "power", s->out.disk_power, "disk",
			 s->disk.known ? power[s->disk.power] : "gone",
			 "present", s->out.present, "attached",
			 bp_guest_attached(&app->guest, slot), "faults",
			 slot_faults_json(&app->model, slot));
}

static void cmd_status(struct bp_app *app, struct line_client *cl, char *args)
{
	json_t *slots = json_array();

	(void)args;
	for (unsigned int i = 0; i < BP_SLOTS; i++) {
		if (app->cfg.serial[i])
			json_array_append_new(slots, slot_json(app, i));
	}
	answer(cl,
	       json_pack("{s:b, s:b, s:b, s:b, s:i, s:o}", "ok", 1, "rig",
			 app->cfg.rig->online(app->rig), "guest",
			 bp_guest_online(&app->guest), "agent",
			 bp_guest_agent(&app->guest), "board_mdegc",
			 bp_model_board_mdegc(&app->model), "slots", slots));
}

static void cmd_faults(struct bp_app *app, struct line_client *cl, char *args)
{
	json_t *list = json_array();

	(void)app;
	(void)args;
	for (size_t i = 0; i < bp_fault_kind_count; i++) {
		const struct bp_fault_kind *k = &bp_fault_kinds[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:b, s:s*, s:i}", "name",
					k->name, "summary", k->summary, "rail",
					k->per_rail, "unit", k->unit, "default",
					k->value_default));
	}
	answer(cl, json_pack("{s:b, s:o}", "ok", 1, "faults", list));
}

/* ---- answers that wait for their effect ---- */

static void wait_answer(struct bp_ctl_wait *w)
{
	if (!w->cl)
		return;
	answer(w->cl, w->root);
	line_client_release(w->cl);
	w->cl = NULL;
}

static void wait_part(void *arg)
{
	struct bp_ctl_wait *w = arg;

	if (!--w->left)
		wait_answer(w);
}

/* One part is left: the rig's, which is asked at the next tick. Takes root
 * over. NULL: too many wait, which has been answered. */
static struct bp_ctl_wait *wait_new(struct bp_app *app, struct line_client *cl,
				    json_t *root)
{
	struct bp_ctl_wait *w = app->ctl.wait;
	struct bp_ctl_wait *end = w + BP_CTL_WAITS;

	while (w < end && w->left)
		w++;
	if (w == end) {
		json_decref(root);
		answer_error(cl, "done, but too many wait to see it");
		return NULL;
	}
	w->app = app;
	w->left = 1;
	w->rig_due = true;
	w->cl = line_client_hold(cl);
	w->root = root;
	w->deadline_us = uv_hrtime() / 1000 + app->cfg.settle_ms * 1000ull;
	bp_app_tick_soon(app);
	return w;
}

static void ask_rig(struct bp_ctl_wait *w)
{
	struct bp_app *app = w->app;

	w->rig_due = false;
	if (!app->cfg.rig->settle(app->rig, wait_part, w))
		w->rig_due = true;
}

void bp_ctl_tick(struct bp_ctl *c, uint64_t now_us)
{
	for (unsigned int i = 0; i < BP_CTL_WAITS; i++) {
		struct bp_ctl_wait *w = &c->wait[i];

		if (w->left && w->rig_due)
			ask_rig(w);
		if (w->left && now_us >= w->deadline_us)
			wait_answer(w);
	}
}

/* ---- plant, clear ---- */

static bool slot_parse(const struct bp_app *app, const char *text,
		       unsigned int *slot)
{
	if (!text)
		return false;
	if (!strcmp(text, "all")) {
		*slot = BP_ALL_SLOTS;
		return true;
	}
	if (text[0] < '0' || text[0] >= '0' + BP_SLOTS || text[1])
		return false;
	*slot = (unsigned int)(text[0] - '0');
	return app->cfg.serial[*slot] != NULL;
}

static void disk_answered(void *arg, const char *text)
{
	struct line_client *cl = arg;

	if (text)
		line_client_answer(cl, text);
	else
		answer_error(cl, "the disk model does not answer");
	line_client_release(cl);
}

static void plant_at_disk(struct bp_app *app, struct line_client *cl,
			  unsigned int slot, const char *text)
{
	char command[256];

	if (slot == BP_ALL_SLOTS) {
		answer_usage(cl, "no fault of that name can be planted at all "
				 "slots at once");
		return;
	}
	snprintf(command, sizeof(command), "fault %s", text);
	bp_disk_command(&app->disk[slot], command, disk_answered,
			line_client_hold(cl));
}

static void plant_here(struct bp_app *app, struct line_client *cl,
		       const struct bp_fault *f)
{
	int rc = bp_model_plant(&app->model, f);

	if (rc == -ENOSPC) {
		answer_error(cl, "too many faults are planted");
		return;
	}
	if (rc) {
		answer_error(cl, "no such slot");
		return;
	}
	wait_new(app, cl, json_pack("{s:b}", "ok", 1));
}

static void cmd_plant(struct bp_app *app, struct line_client *cl, char *args)
{
	struct bp_fault f = { 0 };
	char *rest = NULL;
	char *slot = strtok_r(args, " ", &rest);
	char err[160] = "";
	int rc;

	if (!slot_parse(app, slot, &f.slot)) {
		answer_usage(cl, "no disk in that slot");
		return;
	}
	rc = bp_fault_parse(&f, rest, err, sizeof(err));
	if (rc == -ENOENT)
		plant_at_disk(app, cl, f.slot, rest);
	else if (rc)
		answer_usage(cl, err);
	else
		plant_here(app, cl, &f);
}

static void disk_cleared(void *arg, const char *text)
{
	(void)text; /* of a model that is gone the faults are gone as well */
	if (arg)
		wait_part(arg);
}

static void clear_here(struct bp_app *app, struct line_client *cl,
		       unsigned int slot, const struct bp_fault_kind *kind)
{
	unsigned int n = bp_model_clear(&app->model, slot, kind);
	struct bp_ctl_wait *w = wait_new(
		app, cl, json_pack("{s:b, s:i}", "ok", 1, "cleared", (int)n));

	for (unsigned int i = 0; i < BP_SLOTS && !kind; i++) {
		if (!app->cfg.serial[i] || (slot != i && slot != BP_ALL_SLOTS))
			continue;
		if (w)
			w->left++;
		bp_disk_command(&app->disk[i], "faults clear", disk_cleared, w);
	}
}

static void cmd_clear(struct bp_app *app, struct line_client *cl, char *args)
{
	const struct bp_fault_kind *kind = NULL;
	char *rest = NULL;
	char *slot_text = strtok_r(args, " ", &rest);
	char *name = strtok_r(NULL, " ", &rest);
	unsigned int slot;

	if (!slot_parse(app, slot_text, &slot)) {
		answer_usage(cl, "no disk in that slot");
		return;
	}
	if (name)
		kind = bp_fault_find(name);
	if (name && !kind) {
		answer_usage(cl, "no fault of that name");
		return;
	}
	clear_here(app, cl, slot, kind);
}

static const struct {
	const char *name;
	void (*run)(struct bp_app *app, struct line_client *cl, char *args);
} commands[] = {
	{ "status", cmd_status },
	{ "faults", cmd_faults },
	{ "plant", cmd_plant },
	{ "clear", cmd_clear },
};

static void on_line(void *arg, struct line_client *cl, char *line)
{
	char *args = NULL;
	char *name = strtok_r(line, " ", &args);

	for (size_t i = 0; name && i < sizeof(commands) / sizeof(commands[0]);
	     i++) {
		if (!strcmp(commands[i].name, name)) {
			commands[i].run(arg, cl, args);
			return;
		}
	}
	answer_error(cl, "unknown command");
}

int bp_ctl_open(struct bp_ctl *c, struct bp_app *app, const char *run)
{
	char path[108];

	snprintf(path, sizeof(path), "%s/backplane.ctl", run);
	return line_server_open(&c->server, &app->loop, path, on_line, app);
}

void bp_ctl_close(struct bp_ctl *c)
{
	line_server_close(&c->server);
	for (unsigned int i = 0; i < BP_CTL_WAITS; i++) {
		struct bp_ctl_wait *w = &c->wait[i];

		if (w->left && w->rig_due)
			wait_part(w);
	}
}
