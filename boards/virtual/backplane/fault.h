/* backplane/fault.h - faults that can be planted, by name: one row each in
 * fault.c, which is all a new one takes. */
#ifndef BOARDS_VIRTUAL_BACKPLANE_FAULT_H
#define BOARDS_VIRTUAL_BACKPLANE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BP_FAULTS_MAX 32
#define BP_ALL_SLOTS  0xffu

enum bp_rail {
	BP_5V,
	BP_12V,
	BP_RAILS,
};

/* What all faults together do to a slot. All zero: nothing. */
struct bp_effects {
	bool closed[BP_RAILS];      /* switch conducts whatever the gate */
	bool open[BP_RAILS];        /* switch never conducts */
	int32_t floor_mv[BP_RAILS]; /* fed from elsewhere up to this */
	int32_t limit_mv[BP_RAILS]; /* rail never rises above; 0: no limit */
	int32_t extra_ma[BP_RAILS]; /* drawn on top while the rail is up */
	uint32_t slow_fall;         /* tau times this; 0: as specified */
	int32_t sag_percent;        /* input sits this much too low */
	int32_t board_mdegc;        /* temperature instead; 0: modelled */
	bool dead;                  /* disk answers nothing, draws nothing */
	bool no_spin;               /* motor stalls at the next power-on */
	bool no_return;             /* guest does not get it back */
	bool frozen;                /* monitor repeats its last reading */
	bool silent;                /* firmware stands still */
};

struct bp_fault;

struct bp_fault_kind {
	const char *name;
	const char *summary;
	const char *unit; /* of value: "ma", "mv", ...; NULL: none */
	int32_t value_default;
	int32_t value_min;
	int32_t value_max;
	bool per_rail; /* takes rail=5v|12v, default 12v */
	void (*apply)(struct bp_effects *fx, const struct bp_fault *f);
};

struct bp_fault {
	const struct bp_fault_kind *kind;
	unsigned int slot; /* or BP_ALL_SLOTS */
	enum bp_rail rail;
	int32_t value;
};

extern const struct bp_fault_kind bp_fault_kinds[];
extern const size_t bp_fault_kind_count;

/* NULL: no such fault here (it may be one of the disk model's). */
const struct bp_fault_kind *bp_fault_find(const char *name);

/* Read "NAME [rail=5v|12v] [UNIT=N]" into f, whose slot is left alone.
 * 0; -ENOENT: unknown name; -EINVAL, -ERANGE with one sentence in err. */
int bp_fault_parse(struct bp_fault *f, const char *text, char *err,
		   size_t err_size);

#endif
