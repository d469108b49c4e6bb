/* The tables of every board, and that a mistake in them is found. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boards/table.h"
#include "firmware/tests/test.h"

#define PATH_BYTES 512
#define WHY_BYTES  256

/* A sentence on what is wrong; "" while nothing is. */
struct why {
	char text[WHY_BYTES];
};

__attribute__((format(printf, 2, 3))) static void say(struct why *w,
						      const char *format, ...)
{
	va_list ap;

	/* The first one is the one to mend. */
	if (w->text[0])
		return;
	va_start(ap, format);
	vsnprintf(w->text, sizeof(w->text), format, ap);
	va_end(ap);
}

/* ---- pins ---- */

struct pins {
	const struct port_family *family;
	char user[PORT_FAMILY_PORTS_MAX][8][16];
	struct why *why;
};

/* Give a pin to its user, once. */
static void take(struct pins *p, struct hal_pin pin, const char *kind,
		 unsigned slot)
{
	const struct port_family *f = p->family;
	const char port = (char)('A' + pin.port);
	char *user;

	if (pin.port >= f->ports || pin.bit > 7 ||
	    !(f->pins[pin.port] >> pin.bit & 1u)) {
		say(p->why, "slot %u: %s on port %u pin %u, which %s lacks",
		    slot, kind, pin.port, pin.bit, f->name);
		return;
	}
	for (size_t i = 0; i < f->reserved_count; i++) {
		if (f->reserved[i].pin.port == pin.port &&
		    f->reserved[i].pin.bit == pin.bit)
			say(p->why, "slot %u: %s on P%c%u, which is %s", slot,
			    kind, port, pin.bit, f->reserved[i].what);
	}
	user = p->user[pin.port][pin.bit];
	if (*user)
		say(p->why, "slot %u: %s on P%c%u, which is used by %s", slot,
		    kind, port, pin.bit, user);
	snprintf(user, sizeof(p->user[0][0]), "%s %u", kind, slot);
}

static void check_pins(const struct board *b, const struct port_family *f,
		       struct why *why)
{
	struct pins p = { .family = f, .why = why };

	for (unsigned i = 0; i < b->slots; i++) {
		take(&p, board_gate(b, i, RAIL_5V), "5 V gate", i);
		take(&p, board_gate(b, i, RAIL_12V), "12 V gate", i);
		take(&p, b->activity[i], "activity", i);
	}
}

/* ---- parts on the bus ---- */

static void take_address(bool taken[128], unsigned address, const char *part,
			 struct why *why)
{
	/* The others are reserved by the bus itself. */
	if (address < 0x08 || address > 0x77)
		say(why, "%s: 0x%02x is no address of a part", part, address);
	else if (taken[address])
		say(why, "%s: another part has address 0x%02x", part, address);
	else
		taken[address] = true;
}

static void check_parts(const struct board *b, struct why *why)
{
	bool taken[128] = { false };
	char part[32];

	take_address(taken, b->thermometer, "thermometer", why);
	take_address(taken, b->eeprom.address, "EEPROM", why);
	if (!b->eeprom.size_bytes)
		say(why, "the EEPROM has no size");
	for (unsigned i = 0; i < b->slots; i++) {
		for (unsigned rail = 0; rail < RIG_RAILS; rail++) {
			const struct adm127x_cfg *m = &b->slot[i].monitor[rail];

			snprintf(part, sizeof(part), "slot %u %s monitor", i,
				 rail == RAIL_5V ? "5 V" : "12 V");
			take_address(taken, m->address, part, why);
			if (!m->shunt_uohm)
				say(why, "%s: no shunt", part);
		}
	}
}

/* ---- the rest ---- */

static void check_limits(const struct board *b, struct why *why)
{
	const RigConfig *rig = &b->defaults.rig;
	const SlotConfig *slot = &b->defaults.slot;
	struct config c;
	uint32_t field = 0;

	config_default(&c, &b->defaults, b->slots);
	if (config_check(&c, &field) != RIG_OK)
		say(why, "defaults: field %u is out of range (rig.proto)",
		    (unsigned)(field % 100));
	if (!rig->budget_5v_ma || !rig->budget_mw || !slot->min_off_ms)
		say(why, "defaults: a budget or the minimum off time is 0");
	if (!slot->no_12v && (!rig->budget_12v_ma || !slot->spinup_reserve_ma ||
			      !slot->idle_12v_ma))
		say(why, "defaults: a budget or current of 12 V is 0");
}

static void check_board(const char *folder, const struct board *b,
			const struct port_family *f, struct why *why)
{
	if (strcmp(b->name, folder) != 0)
		say(why, "board.c: name is \"%s\", not the folder's", b->name);
	if (strlen(b->name) > 31)
		say(why, "board.c: name is longer than 31 bytes");
	if (!b->revision || !b->baud)
		say(why, "board.c: revision or baud is 0");
	if (!b->slots || b->slots > RIG_SLOTS_MAX) {
		say(why, "board.c: %u slots, 1..%u are possible", b->slots,
		    RIG_SLOTS_MAX);
		return;
	}
	check_pins(b, f, why);
	check_parts(b, why);
	check_limits(b, why);
}

/* Board posix has no board.ini: the host build is its build. */
static void check_ini(const char *dir, const char *folder, struct why *why)
{
	char path[PATH_BYTES], wanted[64], line[256];
	bool said = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/board.ini", dir, folder);
	snprintf(wanted, sizeof(wanted), "board = '%s'\n", folder);
	f = fopen(path, "re");
	if (!f) {
		if (strcmp(folder, "posix") != 0)
			say(why, "there is no board.ini");
		return;
	}
	while (fgets(line, sizeof(line), f))
		said = said || strcmp(line, wanted) == 0;
	fclose(f);
	if (!said)
		say(why, "board.ini: it must say board = '%s'", folder);
}

/* ---- the boards that there are ---- */

static void every_board_is_sound(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (const struct board_row *r = board_table; r->folder; r++) {
		struct why why = { "" };

		check_ini(BOARDS_DIR, r->folder, &why);
		check_board(r->folder, r->board, r->family, &why);
		if (!why.text[0])
			continue;
		print_error("boards/%s: %s\n", r->folder, why.text);
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* meson looks for boards when it configures; ninja alone does not see a new
 * folder. */
static void every_folder_is_in_this_build(void **state)
{
	char path[PATH_BYTES];
	DIR *dir = opendir(BOARDS_DIR);
	const struct dirent *e;

	(void)state;
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s/board.c", BOARDS_DIR,
			 e->d_name);
		if (access(path, F_OK) == 0 && !board_find(e->d_name))
			fail_msg("boards/%s is new: meson setup --reconfigure "
				 "this build",
				 e->d_name);
	}
	closedir(dir);
}

/* ---- mistakes in a copy of a board ---- */

struct copy {
	struct board b;
	struct hal_pin gates[RIG_SLOTS_MAX * RIG_RAILS];
	struct hal_pin activity[RIG_SLOTS_MAX];
	struct board_slot slot[RIG_SLOTS_MAX];
	const struct port_family *family;
};

static void copy_of(struct copy *c, const char *folder)
{
	const struct board_row *r = board_find(folder);

	assert_non_null(r);
	c->b = *r->board;
	memcpy(c->gates, c->b.gates,
	       c->b.slots * RIG_RAILS * sizeof(*c->gates));
	memcpy(c->activity, c->b.activity, c->b.slots * sizeof(*c->activity));
	memcpy(c->slot, c->b.slot, c->b.slots * sizeof(*c->slot));
	c->b.gates = c->gates;
	c->b.activity = c->activity;
	c->b.slot = c->slot;
	c->family = r->family;
}

static void assert_found(const struct copy *c, const char *sentence)
{
	struct why why = { "" };

	check_board("lm3s6965evb", &c->b, c->family, &why);
	assert_string_equal(why.text, sentence);
}

static void the_name_of_another_board_is_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	assert_found(&c, "");
	c.b.name = "old";
	assert_found(&c, "board.c: name is \"old\", not the folder's");
}

static void a_pin_used_twice_is_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	c.gates[5] = c.gates[0];
	assert_found(&c, "slot 2: 12 V gate on PD0, which is used by "
			 "5 V gate 0");
	copy_of(&c, "lm3s6965evb");
	c.activity[3] = c.gates[1];
	assert_found(&c, "slot 3: activity on PC4, which is used by "
			 "12 V gate 0");
}

static void a_pin_that_the_port_needs_is_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	c.gates[0] = (struct hal_pin){ 0, 1 };
	assert_found(&c, "slot 0: 5 V gate on PA1, which is UART0 transmit");
	c.gates[0] = (struct hal_pin){ 1, 2 };
	assert_found(&c, "slot 0: 5 V gate on PB2, which is I2C0 clock");
	c.gates[0] = (struct hal_pin){ 2, 3 };
	assert_found(&c, "slot 0: 5 V gate on PC3, which is JTAG TDO");
}

static void a_pin_that_is_not_there_is_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	c.gates[2] = (struct hal_pin){ 7, 0 };
	assert_found(&c, "slot 1: 5 V gate on port 7 pin 0, which lm3s lacks");
	c.gates[2] = (struct hal_pin){ 3, 8 };
	assert_found(&c, "slot 1: 5 V gate on port 3 pin 8, which lm3s lacks");
	c.gates[2] = (struct hal_pin){ 6, 2 };
	assert_found(&c, "slot 1: 5 V gate on port 6 pin 2, which lm3s lacks");
}

static void an_address_used_twice_is_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	c.slot[4].monitor[RAIL_12V].address = 0x10;
	assert_found(&c, "slot 4 12 V monitor: another part has address 0x10");
	c.slot[4].monitor[RAIL_12V].address = 0x48;
	assert_found(&c, "slot 4 12 V monitor: another part has address 0x48");
	c.slot[4].monitor[RAIL_12V].address = 0x50;
	assert_found(&c, "slot 4 12 V monitor: another part has address 0x50");
	c.slot[4].monitor[RAIL_12V].address = 0x80;
	assert_found(&c, "slot 4 12 V monitor: 0x80 is no address of a part");
}

static void slots_that_do_not_fit_are_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	c.b.slots = RIG_SLOTS_MAX + 1;
	assert_found(&c, "board.c: 9 slots, 1..8 are possible");
	c.b.slots = 0;
	assert_found(&c, "board.c: 0 slots, 1..8 are possible");
}

static void limits_that_make_no_sense_are_found(void **state)
{
	struct copy c;

	(void)state;
	copy_of(&c, "lm3s6965evb");
	c.b.defaults.slot.trip_12v_ma = 0;
	assert_found(&c, "defaults: field 9 is out of range (rig.proto)");
	copy_of(&c, "lm3s6965evb");
	c.b.defaults.rig.budget_mw = 0;
	assert_found(&c, "defaults: a budget or the minimum off time is 0");
}

static void the_cross_file_of_another_board_is_found(void **state)
{
	char dir[] = "/tmp/test-boards-XXXXXX";
	char path[PATH_BYTES];
	struct why why = { "" };
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/copied", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/copied/board.ini", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("[project options]\nboard = 'lm3s6965evb'\n", f);
	assert_int_equal(fclose(f), 0);
	check_ini(dir, "copied", &why);
	assert_string_equal(why.text,
			    "board.ini: it must say board = 'copied'");
	unlink(path);
	snprintf(path, sizeof(path), "%s/copied", dir);
	rmdir(path);
	rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_board_is_sound),
		cmocka_unit_test(every_folder_is_in_this_build),
		cmocka_unit_test(the_name_of_another_board_is_found),
		cmocka_unit_test(a_pin_used_twice_is_found),
		cmocka_unit_test(a_pin_that_the_port_needs_is_found),
		cmocka_unit_test(a_pin_that_is_not_there_is_found),
		cmocka_unit_test(an_address_used_twice_is_found),
		cmocka_unit_test(slots_that_do_not_fit_are_found),
		cmocka_unit_test(limits_that_make_no_sense_are_found),
		cmocka_unit_test(the_cross_file_of_another_board_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
