#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boards/virtual/backplane/wire.h"

struct heard {
	unsigned int count;
	char last[64];
};

static void hear(void *arg, const char *line)
{
	struct heard *h = arg;

	h->count++;
	strncpy(h->last, line, sizeof(h->last) - 1);
}

static void lines_are_put_together_from_pieces(void **state)
{
	struct bp_lines *l = calloc(1, sizeof(*l));
	struct heard h = { 0 };

	(void)state;
	bp_lines_init(l);
	bp_lines_feed(l, "IRQ ra", 6, hear, &h);
	assert_int_equal(h.count, 0);
	bp_lines_feed(l, "ise 3\r\nOK", 9, hear, &h);
	assert_int_equal(h.count, 1);
	assert_string_equal(h.last, "IRQ raise 3");
	bp_lines_feed(l, "\n\n", 2, hear, &h);
	assert_int_equal(h.count, 3);
	assert_string_equal(h.last, "");
	free(l);
}

static void nul_in_a_line_does_not_end_it(void **state)
{
	struct bp_lines *l = calloc(1, sizeof(*l));
	struct heard h = { 0 };

	(void)state;
	bp_lines_init(l);
	bp_lines_feed(l, "a\0b\n", 4, hear, &h);
	assert_string_equal(h.last, "a?b");
	free(l);
}

static void line_that_is_too_long_is_dropped_as_a_whole(void **state)
{
	struct bp_lines *l = calloc(1, sizeof(*l));
	struct heard h = { 0 };

	(void)state;
	bp_lines_init(l);
	for (unsigned int i = 0; i < BP_LINE_MAX + 10; i++)
		bp_lines_feed(l, "x", 1, hear, &h);
	bp_lines_feed(l, "\nok\n", 4, hear, &h);
	assert_int_equal(h.count, 1);
	assert_string_equal(h.last, "ok");
	assert_int_equal(l->dropped, 1);
	free(l);
}

static void trace_tells_outputs_and_resets(void **state)
{
	struct bp_trace t;

	(void)state;
	bp_trace_parse(&t, "pl061_set_output /machine/unattached/device[8] "
			   "setting output 2 to 1");
	assert_int_equal(t.kind, BP_TRACE_OUTPUT);
	assert_int_equal(t.device, 8);
	assert_int_equal(t.pin, 2);
	assert_true(t.level);
	bp_trace_parse(&t, "pl061_set_output /machine/unattached/device[14] "
			   "setting output 7 to 0");
	assert_int_equal(t.kind, BP_TRACE_OUTPUT);
	assert_int_equal(t.device, 14);
	assert_false(t.level);
	bp_trace_parse(&t, "pl061_reset /machine/unattached/device[9] reset");
	assert_int_equal(t.kind, BP_TRACE_RESET);
	assert_int_equal(t.device, 9);
}

static void other_trace_lines_are_passed_over(void **state)
{
	static const char *const rows[] = {
		"",
		"Timer with period zero, disabling",
		"pl061_set_output ",
		"pl061_set_output /machine/unattached/device[] setting "
		"output 2 to 1",
		"pl061_set_output /machine/unattached/device[8] setting "
		"output 9 to 1",
		"pl061_set_output /machine/unattached/device[8] setting "
		"output 2 to 7",
		"pl061_set_output /machine/unattached/device[8] setting "
		"output 2 to 1x",
		"pl061_set_output /machine/unattached/device[8] setting "
		"output 2 to",
	};
	struct bp_trace t;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bp_trace_parse(&t, rows[i]);
		assert_int_equal(t.kind, BP_TRACE_OTHER);
	}
}

static void qtest_answers_are_told_from_interrupts(void **state)
{
	struct bp_qtest q;

	(void)state;
	bp_qtest_parse(&q, "OK");
	assert_int_equal(q.kind, BP_QTEST_OK);
	bp_qtest_parse(&q, "OK 0x0000000000000081");
	assert_int_equal(q.kind, BP_QTEST_OK);
	assert_int_equal(q.value, 0x81);
	bp_qtest_parse(&q, "IRQ raise 5");
	assert_int_equal(q.kind, BP_QTEST_IRQ);
	assert_int_equal(q.value, 5);
	assert_true(q.level);
	bp_qtest_parse(&q, "IRQ lower 255");
	assert_false(q.level);
	bp_qtest_parse(&q, "FAIL IRQ intercept already enabled");
	assert_int_equal(q.kind, BP_QTEST_FAIL);
	bp_qtest_parse(&q, "IRQ raise x");
	assert_int_equal(q.kind, BP_QTEST_OTHER);
	bp_qtest_parse(&q, "");
	assert_int_equal(q.kind, BP_QTEST_OTHER);
}

static void posix_firmware_tells_its_gates(void **state)
{
	static const char *const nonsense[] = {
		"",           "gate",        "gate 8 5 1", "gate 1 3 1",
		"gate 1 5 2", "gate 1 5 1x", "hello 2 8",  "now 5",
	};
	struct bp_posix p;

	(void)state;
	bp_posix_parse(&p, "hello 1 8");
	assert_int_equal(p.kind, BP_POSIX_HELLO);
	bp_posix_parse(&p, "reset 4");
	assert_int_equal(p.kind, BP_POSIX_RESET);
	bp_posix_parse(&p, "gate 7 12 1");
	assert_int_equal(p.kind, BP_POSIX_GATE);
	assert_int_equal(p.slot, 7);
	assert_int_equal(p.rail, BP_12V);
	assert_true(p.level);
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		bp_posix_parse(&p, nonsense[i]);
		assert_int_equal(p.kind, BP_POSIX_OTHER);
	}
}

static void qmp_messages_are_classified(void **state)
{
	struct bp_qmp_msg m;

	(void)state;
	bp_qmp_msg_parse(&m, "{\"QMP\": {\"version\": {}}}");
	assert_int_equal(m.kind, BP_QMP_GREETING);
	bp_qmp_msg_free(&m);
	bp_qmp_msg_parse(&m, "{\"return\": {}, \"id\": 7}");
	assert_int_equal(m.kind, BP_QMP_RETURN);
	assert_int_equal(m.id, 7);
	bp_qmp_msg_free(&m);
	bp_qmp_msg_parse(&m, "{\"id\": 8, \"error\": {\"class\": "
			     "\"DeviceNotFound\", \"desc\": \"no\"}}");
	assert_int_equal(m.kind, BP_QMP_ERROR);
	assert_string_equal(m.name, "DeviceNotFound");
	assert_string_equal(m.detail, "no");
	bp_qmp_msg_free(&m);
	bp_qmp_msg_parse(&m, "{\"event\": \"RESET\", \"data\": {}}");
	assert_int_equal(m.kind, BP_QMP_EVENT);
	assert_string_equal(m.name, "RESET");
	bp_qmp_msg_free(&m);
	bp_qmp_msg_parse(&m, "[1, 2");
	assert_int_equal(m.kind, BP_QMP_OTHER);
	bp_qmp_msg_free(&m);
	bp_qmp_msg_parse(&m, "[]");
	assert_int_equal(m.kind, BP_QMP_OTHER);
	bp_qmp_msg_free(&m);
}

static void devices_of_a_type_come_in_rising_order(void **state)
{
	json_t *list = json_loads(
		"[{\"name\": \"device[12]\", \"type\": \"child<pl061>\"},"
		" {\"name\": \"device[9]\", \"type\": \"child<pl061>\"},"
		" {\"name\": \"device[1]\", \"type\": \"child<uart>\"},"
		" {\"name\": \"io[0]\", \"type\": \"child<pl061>\"},"
		" {\"name\": 3}, 4]",
		0, NULL);
	unsigned int device[4] = { 0 };

	(void)state;
	assert_int_equal(bp_qmp_devices(list, "pl061", device, 4), 2);
	assert_int_equal(device[0], 9);
	assert_int_equal(device[1], 12);
	assert_int_equal(bp_qmp_devices(list, "pl061", device, 1), 1);
	json_decref(list);
	assert_int_equal(bp_qmp_devices(NULL, "pl061", device, 4), 0);
}

static void disk_status_is_read(void **state)
{
	struct bp_disk_state d;

	(void)state;
	assert_int_equal(
		bp_disk_parse(&d,
			      "{\"ok\":true,\"power\":\"spinup\",\"ops\":17,"
			      "\"busy\":true,\"ma_5v\":700,\"ma_12v\":2100,"
			      "\"spinup_left_ms\":400}"),
		0);
	assert_true(d.known);
	assert_true(d.busy);
	assert_int_equal(d.power, BP_DISK_SPINUP);
	assert_int_equal(d.ops, 17);
	assert_int_equal(d.ma[BP_5V], 700);
	assert_int_equal(d.ma[BP_12V], 2100);
}

static void disk_answers_that_are_none_are_refused(void **state)
{
	struct bp_disk_state d;
	char err[64];

	(void)state;
	assert_int_equal(bp_disk_parse(&d, "nonsense"), -EBADMSG);
	assert_int_equal(bp_disk_parse(&d, "{\"ok\":true}"), -EBADMSG);
	assert_int_equal(bp_disk_parse(&d, "{\"ok\":true,\"power\":\"x\"}"),
			 -EBADMSG);
	assert_false(d.known);
	assert_int_equal(
		bp_disk_parse_ack("{\"ok\":false,\"error\":\"no such fault\"}",
				  err, sizeof(err)),
		-EREMOTEIO);
	assert_string_equal(err, "no such fault");
	assert_int_equal(bp_disk_parse_ack("{\"ok\":true}", err, sizeof(err)),
			 0);
	assert_int_equal(bp_disk_parse(&d, "{\"ok\":true,\"power\":\"on\","
					   "\"ma_5v\":-4,\"ma_12v\":99999999}"),
			 0);
	assert_int_equal(d.ma[BP_5V], 0);
	assert_int_equal(d.ma[BP_12V], 65535);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_put_together_from_pieces),
		cmocka_unit_test(nul_in_a_line_does_not_end_it),
		cmocka_unit_test(line_that_is_too_long_is_dropped_as_a_whole),
		cmocka_unit_test(trace_tells_outputs_and_resets),
		cmocka_unit_test(other_trace_lines_are_passed_over),
		cmocka_unit_test(qtest_answers_are_told_from_interrupts),
		cmocka_unit_test(posix_firmware_tells_its_gates),
		cmocka_unit_test(qmp_messages_are_classified),
		cmocka_unit_test(devices_of_a_type_come_in_rising_order),
		cmocka_unit_test(disk_status_is_read),
		cmocka_unit_test(disk_answers_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
