#include "boards/virtual/backplane/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bp_lines_init(struct bp_lines *l)
{
	l->len = 0;
	l->skipping = false;
	l->dropped = 0;
}

static void line_end(struct bp_lines *l, bp_line_fn fn, void *arg)
{
	if (l->skipping) {
		l->skipping = false;
		l->dropped++;
	} else {
		if (l->len && l->buf[l->len - 1] == '\r')
			l->len--;
		l->buf[l->len] = '\0';
		fn(arg, l->buf);
	}
	l->len = 0;
}

void bp_lines_feed(struct bp_lines *l, const char *data, size_t len,
		   bp_line_fn fn, void *arg)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n')
			line_end(l, fn, arg);
		else if (l->len < sizeof(l->buf) - 1)
			l->buf[l->len++] = data[i] ? data[i] : '?';
		else
			l->skipping = true;
	}
}

/* Number with base 10 of at most 9 digits at *s, which moves behind it. */
static bool number(const char **s, unsigned int *n)
{
	const char *p = *s;

	for (*n = 0; *p >= '0' && *p <= '9' && p - *s < 9; p++)
		*n = *n * 10 + (unsigned int)(*p - '0');
	if (p == *s)
		return false;
	*s = p;
	return true;
}

static bool word(const char **s, const char *expect)
{
	size_t len = strlen(expect);

	if (strncmp(*s, expect, len) != 0)
		return false;
	*s += len;
	return true;
}

static bool trace_device(const char **s, const char *event, unsigned int *n)
{
	return word(s, event) && word(s, " /machine/unattached/device[") &&
	       number(s, n) && word(s, "]");
}

void bp_trace_parse(struct bp_trace *t, const char *line)
{
	const char *s = line;
	unsigned int level = 0;

	memset(t, 0, sizeof(*t));
	if (trace_device(&s, "pl061_reset", &t->device)) {
		t->kind = BP_TRACE_RESET;
		return;
	}
	s = line;
	if (trace_device(&s, "pl061_set_output", &t->device) &&
	    word(&s, " setting output ") && number(&s, &t->pin) &&
	    word(&s, " to ") && number(&s, &level) && !*s && t->pin < 8 &&
	    level < 2) {
		t->kind = BP_TRACE_OUTPUT;
		t->level = level;
	}
}

void bp_qtest_parse(struct bp_qtest *q, const char *line)
{
	const char *s = line;
	unsigned int n = 0;

	memset(q, 0, sizeof(*q));
	if (word(&s, "IRQ raise ") || word(&s, "IRQ lower ")) {
		q->level = line[4] == 'r';
		if (number(&s, &n) && !*s)
			q->kind = BP_QTEST_IRQ;
		q->value = n;
	} else if (word(&s, "OK")) {
		q->kind = BP_QTEST_OK;
		if (word(&s, " 0x"))
			q->value = strtoull(s, NULL, 16);
	} else if (word(&s, "FAIL") || word(&s, "ERR")) {
		q->kind = BP_QTEST_FAIL;
	}
}

static bool posix_gate(struct bp_posix *p, const char *s)
{
	unsigned int volts = 0;
	unsigned int level = 0;

	if (!number(&s, &p->slot) || !word(&s, " ") || !number(&s, &volts) ||
	    !word(&s, " ") || !number(&s, &level) || *s)
		return false;
	p->rail = volts == 12 ? BP_12V : BP_5V;
	p->level = level;
	return p->slot < BP_SLOTS && (volts == 5 || volts == 12) && level < 2;
}

void bp_posix_parse(struct bp_posix *p, const char *line)
{
	const char *s = line;

	memset(p, 0, sizeof(*p));
	if (word(&s, "hello 1 "))
		p->kind = BP_POSIX_HELLO;
	else if (word(&s, "reset "))
		p->kind = BP_POSIX_RESET;
	else if (word(&s, "gate ") && posix_gate(p, s))
		p->kind = BP_POSIX_GATE;
}

static const char *string_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void qmp_classify(struct bp_qmp_msg *m)
{
	const json_t *error = json_object_get(m->root, "error");

	m->id = json_integer_value(json_object_get(m->root, "id"));
	if (json_is_object(error)) {
		m->kind = BP_QMP_ERROR;
		m->name = string_of(error, "class");
		m->detail = string_of(error, "desc");
	} else if (json_object_get(m->root, "QMP")) {
		m->kind = BP_QMP_GREETING;
	} else if (json_is_string(json_object_get(m->root, "event"))) {
		m->kind = BP_QMP_EVENT;
		m->name = string_of(m->root, "event");
		m->data = json_object_get(m->root, "data");
	} else {
		m->data = json_object_get(m->root, "return");
		m->kind = m->data ? BP_QMP_RETURN : BP_QMP_OTHER;
	}
}

void bp_qmp_msg_parse(struct bp_qmp_msg *m, const char *line)
{
	memset(m, 0, sizeof(*m));
	m->name = "";
	m->detail = "";
	m->root = json_loads(line, 0, NULL);
	if (json_is_object(m->root))
		qmp_classify(m);
}

void bp_qmp_msg_free(struct bp_qmp_msg *m)
{
	json_decref(m->root);
	m->root = NULL;
}

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

size_t bp_qmp_devices(const json_t *list, const char *type,
		      unsigned int *device, size_t max)
{
	char wanted[64];
	size_t n = 0;
	size_t i;
	const json_t *entry;

	snprintf(wanted, sizeof(wanted), "child<%s>", type);
	json_array_foreach((json_t *)list, i, entry)
	{
		const char *s = string_of(entry, "name");

		if (n < max && !strcmp(string_of(entry, "type"), wanted) &&
		    word(&s, "device[") && number(&s, &device[n]) &&
		    !strcmp(s, "]"))
			n++;
	}
	qsort(device, n, sizeof(device[0]), compare);
	return n;
}

static int answer_check(const json_t *root, char *err, size_t err_size)
{
	const json_t *ok = json_object_get(root, "ok");

	if (!json_is_boolean(ok)) {
		snprintf(err, err_size, "disk model answers nonsense");
		return -EBADMSG;
	}
	if (json_is_false(ok)) {
		snprintf(err, err_size, "%s", string_of(root, "error"));
		return -EREMOTEIO;
	}
	return 0;
}

int bp_disk_parse_ack(const char *line, char *err, size_t err_size)
{
	json_t *root = json_loads(line, 0, NULL);
	int rc = answer_check(root, err, err_size);

	json_decref(root);
	return rc;
}

static int power_of(const json_t *root, enum bp_disk_power *power)
{
	static const char *const names[] = {
		[BP_DISK_OFF] = "off",
		[BP_DISK_SPINUP] = "spinup",
		[BP_DISK_ON] = "on",
		[BP_DISK_FALLING] = "falling",
	};
	const char *s = string_of(root, "power");

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], s)) {
			*power = (enum bp_disk_power)i;
			return 0;
		}
	}
	return -EBADMSG;
}

static int32_t ma_of(const json_t *root, const char *key)
{
	json_int_t ma = json_integer_value(json_object_get(root, key));

	if (ma < 0)
		return 0;
	return ma > 65535 ? 65535 : (int32_t)ma;
}

int bp_disk_parse(struct bp_disk_state *d, const char *line)
{
	json_t *root = json_loads(line, 0, NULL);
	char err[8];
	int rc = answer_check(root, err, sizeof(err));

	memset(d, 0, sizeof(*d));
	if (!rc)
		rc = power_of(root, &d->power);
	if (!rc) {
		d->known = true;
		d->busy = json_is_true(json_object_get(root, "busy"));
		d->ops = (uint64_t)json_integer_value(
			json_object_get(root, "ops"));
		d->ma[BP_5V] = ma_of(root, "ma_5v");
		d->ma[BP_12V] = ma_of(root, "ma_12v");
	}
	json_decref(root);
	return rc;
}
