#include "boards/virtual/vboard.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "boards/table.h"

static_assert(RIG_SLOTS_MAX <= VBOARD_SLOTS && RIG_RAILS == VBOARD_RAILS &&
		      PORT_FAMILY_PORTS_MAX <= VBOARD_PORTS,
	      "the bench has a place for all of a board");

static struct vboard_pin pin_of(struct hal_pin p)
{
	return (struct vboard_pin){ .port = p.port, .pin = p.bit };
}

static void fill_slot(struct vboard_slot *s, const struct board *b,
		      unsigned int slot)
{
	for (unsigned int rail = 0; rail < VBOARD_RAILS; rail++) {
		s->gate[rail] = pin_of(board_gate(b, slot, rail));
		s->monitor[rail] = b->slot[slot].monitor[rail].address;
	}
	s->activity = pin_of(b->activity[slot]);
}

static void fill_machine(struct vboard *v, const struct port_family *f)
{
	const struct port_machine *m = f->machine;

	if (!m)
		return;
	v->machine = m->name;
	v->gpio_type = m->gpio_type;
	v->ports = f->ports;
	for (unsigned int i = 0; i < f->ports; i++) {
		v->gpio_data[i] = m->gpio_base(i) + m->gpio_data;
		v->gpio_dir[i] = m->gpio_base(i) + m->gpio_dir;
	}
}

int vboard_find(struct vboard *v, const char *name, struct err *err)
{
	const struct board_row *row = board_find(name);
	const struct board *b;

	if (!row)
		return err_set(err, -ENOENT, "there is no board '%s'", name);
	b = row->board;
	*v = (struct vboard){ .name = row->folder,
			      .slots = b->slots,
			      .thermometer = b->thermometer,
			      .eeprom = b->eeprom.address,
			      .eeprom_bytes = b->eeprom.size_bytes };
	fill_machine(v, row->family);
	for (unsigned int i = 0; i < b->slots; i++)
		fill_slot(&v->slot[i], b, i);
	return 0;
}
