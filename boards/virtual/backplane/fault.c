#include "boards/virtual/backplane/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void apply_stuck(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->closed[f->rail] = true;
}

static void apply_open(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->open[f->rail] = true;
}

static void apply_back_feed(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->floor_mv[f->rail] = f->value;
}

static void apply_no_discharge(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->slow_fall = (uint32_t)f->value;
}

static void apply_over_current(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->extra_ma[f->rail] += f->value;
}

static void apply_undervolt(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->limit_mv[f->rail] = f->value;
}

static void apply_sag(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->sag_percent = f->value;
}

static void apply_dead(struct bp_effects *fx, const struct bp_fault *f)
{
	(void)f;
	fx->dead = true;
}

static void apply_no_spin(struct bp_effects *fx, const struct bp_fault *f)
{
	(void)f;
	fx->no_spin = true;
}

static void apply_no_return(struct bp_effects *fx, const struct bp_fault *f)
{
	(void)f;
	fx->no_return = true;
}

static void apply_frozen(struct bp_effects *fx, const struct bp_fault *f)
{
	(void)f;
	fx->frozen = true;
}

static void apply_hot(struct bp_effects *fx, const struct bp_fault *f)
{
	fx->board_mdegc = f->value;
}

static void apply_silent(struct bp_effects *fx, const struct bp_fault *f)
{
	(void)f;
	fx->silent = true;
}

const struct bp_fault_kind bp_fault_kinds[] = {
	{ "stuck-switch", "switch conducts although its gate is off", NULL, 0,
	  0, 0, true, apply_stuck },
	{ "open-switch", "switch never conducts", NULL, 0, 0, 0, true,
	  apply_open },
	{ "back-feed", "rail is held up from elsewhere", "mv", 1800, 1, 12000,
	  true, apply_back_feed },
	{ "no-discharge", "rails fall slower by this factor", "factor", 200, 2,
	  10000, false, apply_no_discharge },
	{ "over-current", "disk draws this much more", "ma", 5000, 1, 20000,
	  true, apply_over_current },
	{ "undervolt", "rail does not rise above this", "mv", 4000, 1, 12000,
	  true, apply_undervolt },
	{ "input-sag", "supply sags by this much", "percent", 15, 1, 100, false,
	  apply_sag },
	{ "dead-disk", "disk draws nothing and never answers", NULL, 0, 0, 0,
	  false, apply_dead },
	{ "no-spin", "motor stalls at the next power-on", NULL, 0, 0, 0, false,
	  apply_no_spin },
	{ "no-return", "guest does not get the disk back", NULL, 0, 0, 0, false,
	  apply_no_return },
	{ "frozen-monitor", "rail monitors repeat their last reading", NULL, 0,
	  0, 0, false, apply_frozen },
	{ "hot", "board temperature", "mdegc", 90000, 1, 125000, false,
	  apply_hot },
	{ "silent-link", "firmware stands still and answers nothing", NULL, 0,
	  0, 0, false, apply_silent },
};

const size_t bp_fault_kind_count =
	sizeof(bp_fault_kinds) / sizeof(bp_fault_kinds[0]);

const struct bp_fault_kind *bp_fault_find(const char *name)
{
	for (size_t i = 0; i < bp_fault_kind_count; i++) {
		if (!strcmp(bp_fault_kinds[i].name, name))
			return &bp_fault_kinds[i];
	}
	return NULL;
}

static int parse_rail(struct bp_fault *f, const char *text, char *err,
		      size_t err_size)
{
	if (f->kind->per_rail && !strcmp(text, "5v")) {
		f->rail = BP_5V;
		return 0;
	}
	if (f->kind->per_rail && !strcmp(text, "12v")) {
		f->rail = BP_12V;
		return 0;
	}
	snprintf(err, err_size, "fault %s takes no rail '%.16s'", f->kind->name,
		 text);
	return -EINVAL;
}

static int parse_value(struct bp_fault *f, const char *text, char *err,
		       size_t err_size)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end) {
		snprintf(err, err_size,
			 "%s of fault %s is not a number: '%.16s'",
			 f->kind->unit, f->kind->name, text);
		return -EINVAL;
	}
	if (errno || n < f->kind->value_min || n > f->kind->value_max) {
		snprintf(err, err_size, "%s of fault %s is outside %d..%d",
			 f->kind->unit, f->kind->name, f->kind->value_min,
			 f->kind->value_max);
		return -ERANGE;
	}
	f->value = (int32_t)n;
	return 0;
}

static int parse_word(struct bp_fault *f, char *word, char *err,
		      size_t err_size)
{
	char *eq = strchr(word, '=');

	if (eq) {
		*eq = '\0';
		if (!strcmp(word, "rail"))
			return parse_rail(f, eq + 1, err, err_size);
		if (f->kind->unit && !strcmp(word, f->kind->unit))
			return parse_value(f, eq + 1, err, err_size);
	}
	snprintf(err, err_size, "fault %s has no parameter '%.16s'",
		 f->kind->name, word);
	return -EINVAL;
}

int bp_fault_parse(struct bp_fault *f, const char *text, char *err,
		   size_t err_size)
{
	char buf[128];
	char *save = NULL;
	char *word;
	int rc = 0;

	if (snprintf(buf, sizeof(buf), "%s", text) >= (int)sizeof(buf)) {
		snprintf(err, err_size, "fault description is too long");
		return -EINVAL;
	}
	word = strtok_r(buf, " \t", &save);
	f->kind = word ? bp_fault_find(word) : NULL;
	if (!f->kind) {
		snprintf(err, err_size, "no fault of that name: '%.32s'",
			 word ? word : "");
		return -ENOENT;
	}
	f->rail = BP_12V;
	f->value = f->kind->value_default;
	while (!rc && (word = strtok_r(NULL, " \t", &save)))
		rc = parse_word(f, word, err, err_size);
	return rc;
}
