/* boards/virtual/disk/ctl.c - parse and answer control lines. */
#include "boards/virtual/disk/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS 1000000u
#define WORDS_MAX (VDISK_FAULT_ARGS + 2u)

/* A word is a piece of the caller's line. */
struct word {
	const char *at;
	size_t n;
};

struct words {
	struct word word[WORDS_MAX];
	unsigned count;
};

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '=' ||
	       c == '.';
}

static int split(const char *line, size_t n, struct words *w, char why[128])
{
	bool inside = false;

	w->count = 0;
	for (size_t i = 0; i < n; i++) {
		bool gap = line[i] == ' ' || line[i] == '\t';

		if (!gap && !is_plain(line[i])) {
			snprintf(why, 128, "byte %zu is not of a word", i);
			return -EINVAL;
		}
		if (!gap && !inside && w->count == WORDS_MAX) {
			snprintf(why, 128, "more than %u words", WORDS_MAX);
			return -EINVAL;
		}
		if (!gap && !inside)
			w->word[w->count++] = (struct word){ line + i, 0 };
		inside = !gap;
		if (inside)
			w->word[w->count - 1].n++;
	}
	return 0;
}

static bool word_is(const struct word *w, const char *text)
{
	return w->n == strlen(text) && memcmp(w->at, text, w->n) == 0;
}

static int parse_number(const char *text, size_t n, uint64_t *value)
{
	uint64_t v = 0;

	if (n == 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return -EINVAL;
		v = v * 10 + digit;
	}
	*value = v;
	return 0;
}

static int parse_arg(const struct word *w, struct vdisk_fault_arg *arg)
{
	const char *equals = memchr(w->at, '=', w->n);
	size_t key = equals == NULL ? 0 : (size_t)(equals - w->at);

	if (key == 0 || key >= sizeof(arg->key))
		return -EINVAL;
	memset(arg->key, 0, sizeof(arg->key));
	memcpy(arg->key, w->at, key);
	return parse_number(equals + 1, w->n - key - 1, &arg->value);
}

static int parse_fault(const struct words *w, struct ctl_cmd *cmd,
		       char why[128])
{
	cmd->verb = CTL_FAULT;
	if (w->count < 2 || w->word[1].n >= sizeof(cmd->fault)) {
		snprintf(why, 128, "fault needs the name of a fault");
		return -EINVAL;
	}
	memcpy(cmd->fault, w->word[1].at, w->word[1].n);
	for (unsigned i = 2; i < w->count; i++) {
		if (parse_arg(&w->word[i], &cmd->arg[i - 2]) != 0) {
			snprintf(why, 128, "word %u is not KEY=NUMBER", i + 1);
			return -EINVAL;
		}
		cmd->arg_count++;
	}
	return 0;
}

static const struct {
	const char *word[2];
	enum ctl_verb verb;
} phrases[] = {
	{ { "status", NULL }, CTL_STATUS },
	{ { "snapshot", NULL }, CTL_SNAPSHOT },
	{ { "power", "on" }, CTL_POWER_ON },
	{ { "power", "off" }, CTL_POWER_OFF },
	{ { "faults", "clear" }, CTL_FAULTS_CLEAR },
	{ { "faults", "list" }, CTL_FAULTS_LIST },
};

static bool phrase_is(const struct words *w, const char *const word[2])
{
	unsigned count = word[1] == NULL ? 1 : 2;

	if (w->count != count || !word_is(&w->word[0], word[0]))
		return false;
	return count == 1 || word_is(&w->word[1], word[1]);
}

int ctl_parse(const char *line, size_t n, struct ctl_cmd *cmd, char why[128])
{
	struct words w;
	int err;

	memset(cmd, 0, sizeof(*cmd));
	if (n > 0 && line[n - 1] == '\r')
		n--;
	err = split(line, n, &w, why);
	if (err != 0)
		return err;
	if (w.count > 0 && word_is(&w.word[0], "fault"))
		return parse_fault(&w, cmd, why);
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (!phrase_is(&w, phrases[i].word))
			continue;
		cmd->verb = phrases[i].verb;
		return 0;
	}
	snprintf(why, 128,
		 "not one of: power on, power off, status, snapshot, "
		 "fault NAME, faults clear, faults list");
	return -EINVAL;
}

static void answer_status(const struct vdisk *d, const char *serial,
			  char answer[CTL_ANSWER_MAX])
{
	struct vdisk_status st;

	vdisk_status(d, &st);
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "pending", st.pending },
		{ "ops", st.ops },
		{ "errors", st.errors },
		{ "read_bytes", st.read_bytes },
		{ "write_bytes", st.write_bytes },
		{ "media_bytes", st.media_bytes },
		{ "flushes", st.flushes },
		{ "dirty_bytes", st.dirty_bytes },
		{ "cuts", st.cuts },
		{ "lost_bytes", st.lost_bytes },
		{ "lost_entries", st.lost_entries },
		{ "jobs", st.jobs },
		{ "position_ms", st.position_ns / NS_PER_MS },
		{ "transfer_ms", st.transfer_ns / NS_PER_MS },
		{ "ma_5v", st.ma_5v },
		{ "ma_12v", st.ma_12v },
		{ "spinup_left_ms", st.spinup_left_ms },
	};
	size_t n = (size_t)snprintf(
		answer, CTL_ANSWER_MAX,
		"{\"ok\":true,\"serial\":\"%s\",\"power\":\"%s\",\"busy\":%s",
		serial, vdisk_power_name(st.power), st.busy ? "true" : "false");

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		n += (size_t)snprintf(answer + n, CTL_ANSWER_MAX - n,
				      ",\"%s\":%" PRIu64, numbers[i].name,
				      numbers[i].value);
	snprintf(answer + n, CTL_ANSWER_MAX - n, "}\n");
}

static void answer_snapshot(struct vdisk *d, char answer[CTL_ANSWER_MAX])
{
	uint64_t hash;
	int err = vdisk_media_hash(d, &hash);

	if (err != 0)
		ctl_refuse(strerror(-err), answer);
	else
		snprintf(answer, CTL_ANSWER_MAX,
			 "{\"ok\":true,\"media\":\"%016" PRIx64 "\"}\n", hash);
}

static void answer_list(char answer[CTL_ANSWER_MAX])
{
	size_t n = (size_t)snprintf(answer, CTL_ANSWER_MAX,
				    "{\"ok\":true,\"faults\":[");

	for (unsigned i = 0; vdisk_fault_name(i) != NULL; i++)
		n += (size_t)snprintf(answer + n, CTL_ANSWER_MAX - n,
				      "%s{\"name\":\"%s\",\"help\":\"%s\"}",
				      i == 0 ? "" : ",", vdisk_fault_name(i),
				      vdisk_fault_help(i));
	snprintf(answer + n, CTL_ANSWER_MAX - n, "]}\n");
}

void ctl_refuse(const char *why, char answer[CTL_ANSWER_MAX])
{
	snprintf(answer, CTL_ANSWER_MAX, "{\"ok\":false,\"error\":\"%s\"}\n",
		 why);
}

void ctl_refuse_usage(const char *why, char answer[CTL_ANSWER_MAX])
{
	snprintf(answer, CTL_ANSWER_MAX,
		 "{\"ok\":false,\"error\":\"%s\",\"usage\":true}\n", why);
}

static void plant(struct vdisk *d, const char *serial,
		  const struct ctl_cmd *cmd, char answer[CTL_ANSWER_MAX])
{
	char why[128];

	int err = vdisk_fault(d, cmd->fault, cmd->arg, cmd->arg_count, why);

	if (err == -ENOSPC)
		ctl_refuse(why, answer);
	else if (err != 0)
		ctl_refuse_usage(why, answer);
	else
		answer_status(d, serial, answer);
}

void ctl_execute(struct vdisk *d, const char *serial, const struct ctl_cmd *cmd,
		 char answer[CTL_ANSWER_MAX])
{
	switch (cmd->verb) {
	case CTL_FAULT:
		plant(d, serial, cmd, answer);
		return;
	case CTL_SNAPSHOT:
		answer_snapshot(d, answer);
		return;
	case CTL_FAULTS_LIST:
		answer_list(answer);
		return;
	case CTL_POWER_ON:
	case CTL_POWER_OFF:
		vdisk_power(d, cmd->verb == CTL_POWER_ON);
		break;
	case CTL_FAULTS_CLEAR:
		vdisk_faults_clear(d);
		break;
	case CTL_STATUS:
		break;
	}
	answer_status(d, serial, answer);
}

bool ctl_lines_take(struct ctl_lines *l, char byte)
{
	if (byte == '\n')
		return true;
	if (l->n == sizeof(l->line))
		l->overflow = true;
	else
		l->line[l->n++] = byte;
	return false;
}

void ctl_lines_next(struct ctl_lines *l)
{
	l->n = 0;
	l->overflow = false;
}
