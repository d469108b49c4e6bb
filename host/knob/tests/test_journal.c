/* The journal against a world in memory, in which any call can fail. */
#include "host/knob/knob.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/util/parse.h"

#define FILES 12

/* Files by path; the journal is one of them. Call number fail_at fails. */
struct world {
	struct {
		char path[KNOB_PATH_BYTES];
		struct buf data;
	} file[FILES];
	unsigned calls;
	unsigned fail_at; /* 0: never */
	bool dead;        /* from fail_at on nothing works: kill -9 */
	bool failed;
};

static bool world_fails(struct world *w)
{
	w->calls++;
	if (!w->fail_at || w->calls < w->fail_at)
		return false;
	if (!w->dead && w->calls > w->fail_at)
		return false;
	w->failed = true;
	return true;
}

static struct buf *world_file(struct world *w, const char *path, bool make)
{
	for (int i = 0; i < FILES; i++) {
		if (strcmp(w->file[i].path, path) == 0)
			return &w->file[i].data;
	}
	for (int i = 0; make && i < FILES; i++) {
		if (w->file[i].path[0])
			continue;
		(void)str_copy(w->file[i].path, KNOB_PATH_BYTES, path);
		return &w->file[i].data;
	}
	return NULL;
}

static void world_put(struct world *w, const char *path, const char *text)
{
	struct buf *b = world_file(w, path, true);

	buf_clear(b);
	assert_int_equal(buf_append(b, text, strlen(text)), 0);
}

static const char *world_get(struct world *w, const char *path)
{
	struct buf *b = world_file(w, path, false);

	return b ? buf_str(b) : "";
}

static int world_read_line(void *arg, const char *path, char *text, size_t size)
{
	struct buf *b = world_file(arg, path, false);

	if (world_fails(arg))
		return -EIO;
	if (!b)
		return -ENOENT;
	return str_copy(text, size, buf_str(b)) ? 0 : -EMSGSIZE;
}

/* As the kernel: of a pair one is zero, and zero itself is refused. */
static int world_write_text(void *arg, const char *path, const char *text)
{
	struct world *w = arg;

	if (world_fails(w))
		return -EIO;
	if (!world_file(w, path, false))
		return -ENOENT;
	if (strstr(path, "dirty") && strcmp(text, "0") == 0)
		return -EINVAL;
	if (strstr(path, "scheduler")) {
		world_put(w, path,
			  strcmp(text, "none") == 0 ? "[none] kyber"
						    : "none [kyber]");
		return 0;
	}
	world_put(w, path, text);
	if (strstr(path, "dirty_bytes"))
		world_put(w, "/proc/sys/vm/dirty_ratio", "0");
	if (strstr(path, "dirty_ratio"))
		world_put(w, "/proc/sys/vm/dirty_bytes", "0");
	return 0;
}

static int world_load(void *arg, const char *path, struct buf *out)
{
	struct buf *b = world_file(arg, path, false);

	if (world_fails(arg))
		return -EIO;
	if (!b || !b->len)
		return -ENOENT;
	return buf_append(out, b->data, b->len);
}

static int world_save(void *arg, const char *path, const void *data, size_t len)
{
	struct buf *b = world_file(arg, path, true);

	if (world_fails(arg))
		return -ENOSPC;
	buf_clear(b);
	return buf_append(b, data, len);
}

static int world_remove(void *arg, const char *path)
{
	struct buf *b = world_file(arg, path, false);

	if (world_fails(arg))
		return -EIO;
	if (b)
		buf_clear(b);
	return 0;
}

static int world_set_aside(void *arg, const char *path, char *aside)
{
	struct buf *b = world_file(arg, path, false);

	if (world_fails(arg))
		return -EROFS;
	(void)snprintf(aside, KNOB_ASIDE_BYTES, "%s.bad", path);
	world_put(arg, aside, b ? buf_str(b) : "");
	b = world_file(arg, path, false);
	if (b)
		buf_clear(b);
	return 0;
}

static struct knob_ops world_ops(struct world *w)
{
	return (struct knob_ops){
		world_read_line, world_write_text, world_load, world_save,
		world_remove,    world_set_aside,  w
	};
}

static void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	world_put(w, "/proc/sys/vm/dirty_bytes", "0");
	world_put(w, "/proc/sys/vm/dirty_ratio", "20");
	world_put(w, "/sys/block/sda/queue/read_ahead_kb", "128");
	world_put(w, "/sys/block/sda/queue/scheduler", "none [kyber]");
	world_put(w, "/sys/block/sda/diskseq", "7");
}

static void world_free(struct world *w)
{
	for (int i = 0; i < FILES; i++)
		buf_free(&w->file[i].data);
}

static void assert_as_before(struct world *w)
{
	assert_string_equal(world_get(w, "/proc/sys/vm/dirty_bytes"), "0");
	assert_string_equal(world_get(w, "/proc/sys/vm/dirty_ratio"), "20");
	assert_string_equal(world_get(w, "/sys/block/sda/queue/read_ahead_kb"),
			    "128");
	assert_string_equal(world_get(w, "/sys/block/sda/queue/scheduler"),
			    "none [kyber]");
}

static int set(struct knob_journal *j, const char *name, const char *value)
{
	char before[KNOB_VALUE_BYTES];
	char now[KNOB_VALUE_BYTES];
	struct knob_ref ref;
	struct err err = { 0 };
	int rc = knob_resolve(&ref, knob_kind_find(name), "", "sda", "", &err);

	return rc ? rc : knob_set(j, &ref, value, before, now, &err);
}

/* What a cell does to the machine; stops at the first failure. */
static int change_all(struct knob_journal *j)
{
	int rc = set(j, "dirty_bytes", "104857600");

	if (!rc)
		rc = set(j, "read_ahead_kb", "512");
	if (!rc)
		rc = set(j, "scheduler", "none");
	if (!rc)
		rc = set(j, "dirty_bytes", "1048576");
	return rc;
}

static struct knob_journal *new_journal(const struct knob_ops *ops,
					const char *boot_id, int *rc)
{
	struct knob_journal *j = malloc(sizeof(*j));

	assert_non_null(j);
	*rc = knob_journal_open(j, ops, "/j", boot_id, NULL);
	return j;
}

static void settings_are_put_back_newest_first(void **state)
{
	struct world w;
	struct knob_ops ops = world_ops(&w);
	unsigned restored;
	int rc;
	struct knob_journal *j;

	(void)state;
	world_init(&w);
	j = new_journal(&ops, "boot", &rc);
	assert_int_equal(rc, 0);
	assert_int_equal(change_all(j), 0);
	assert_int_equal(j->count, 3);
	assert_string_equal(world_get(&w, "/proc/sys/vm/dirty_bytes"),
			    "1048576");
	assert_int_equal(knob_restore(j, &restored, NULL), 0);
	assert_int_equal(restored, 3);
	assert_as_before(&w);
	assert_string_equal(world_get(&w, "/j"), "");
	free(j);
	world_free(&w);
}

/* Anomaly loop: the agent is killed, or one call fails, at each call of a
 * cell's changes. The next agent of the same boot puts all back. */
static void nothing_stays_changed_whatever_call_fails(bool dead)
{
	bool failed = true;

	for (unsigned n = 1; failed; n++) {
		struct world w;
		struct knob_ops ops = world_ops(&w);
		unsigned restored;
		int rc;
		struct knob_journal *j;

		world_init(&w);
		w.fail_at = n;
		w.dead = dead;
		j = new_journal(&ops, "boot", &rc);
		if (!rc)
			rc = change_all(j);
		if (!rc)
			(void)knob_restore(j, &restored, NULL);
		failed = w.failed;
		free(j);
		/* the next agent, in a world that works */
		w.fail_at = 0;
		j = new_journal(&ops, "boot", &rc);
		assert_int_equal(rc, 0);
		assert_int_equal(knob_restore(j, &restored, NULL), 0);
		assert_as_before(&w);
		assert_string_equal(world_get(&w, "/j"), "");
		free(j);
		world_free(&w);
		assert_true(n < 1000);
	}
}

static void a_killed_agent_leaves_nothing_changed(void **state)
{
	(void)state;
	nothing_stays_changed_whatever_call_fails(true);
}

static void a_failing_call_leaves_nothing_changed(void **state)
{
	(void)state;
	nothing_stays_changed_whatever_call_fails(false);
}

static void another_boot_drops_the_journal(void **state)
{
	struct world w;
	struct knob_ops ops = world_ops(&w);
	int rc;
	struct knob_journal *j;

	(void)state;
	world_init(&w);
	j = new_journal(&ops, "boot", &rc);
	assert_int_equal(set(j, "read_ahead_kb", "512"), 0);
	free(j);
	j = new_journal(&ops, "other", &rc);
	assert_int_equal(rc, 0);
	assert_int_equal(j->count, 0);
	assert_string_equal(world_get(&w, "/j"), "");
	free(j);
	world_free(&w);
}

static void a_replaced_disk_is_left_alone(void **state)
{
	struct world w;
	struct knob_ops ops = world_ops(&w);
	unsigned restored;
	int rc;
	struct knob_journal *j;

	(void)state;
	world_init(&w);
	j = new_journal(&ops, "boot", &rc);
	assert_int_equal(set(j, "read_ahead_kb", "512"), 0);
	world_put(&w, "/sys/block/sda/diskseq", "8");
	world_put(&w, "/sys/block/sda/queue/read_ahead_kb", "4096");
	assert_int_equal(knob_restore(j, &restored, NULL), 0);
	assert_string_equal(world_get(&w, "/sys/block/sda/queue/read_ahead_kb"),
			    "4096");
	assert_int_equal(j->count, 0);
	free(j);
	world_free(&w);
}

static void a_damaged_journal_is_moved_aside(void **state)
{
	struct world w;
	struct knob_ops ops = world_ops(&w);
	int rc;
	struct knob_journal *j;

	(void)state;
	world_init(&w);
	world_put(&w, "/j", "bay-knobs 1 boot 2\n/a\n1\n\n\n\n\n/b\n");
	j = new_journal(&ops, "boot", &rc);
	assert_int_equal(rc, -EBADMSG);
	assert_int_equal(j->count, 0);
	assert_string_equal(world_get(&w, "/j"), "");
	assert_true(strlen(world_get(&w, "/j.bad")) > 10);
	free(j);
	world_free(&w);
}

static void bad_values_and_names_are_refused(void **state)
{
	const struct knob_kind *sysctl = knob_kind_find("sysctl");
	struct knob_ref ref;
	struct err err = { 0 };

	(void)state;
	assert_null(knob_kind_find("no_such"));
	assert_int_equal(
		knob_check_value(knob_kind_find("dirty_ratio"), "101", &err),
		-EINVAL);
	assert_int_equal(
		knob_check_value(knob_kind_find("scheduler"), "a b", &err),
		-EINVAL);
	assert_int_equal(knob_check_value(sysctl, "a\nb", &err), -EINVAL);
	assert_int_equal(
		knob_resolve(&ref, sysctl, "", "", "../../etc/passwd", &err),
		-EINVAL);
	assert_int_equal(
		knob_resolve(&ref, sysctl, "", "", "vm.dirty_bytes", &err), 0);
	/* The generic name keeps the pair of the known row. */
	assert_string_equal(ref.twin, "/proc/sys/vm/dirty_ratio");
	assert_int_equal(
		knob_resolve(&ref, sysctl, "/r", "", "net.core.x", &err), 0);
	assert_string_equal(ref.path, "/r/proc/sys/net/core/x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_put_back_newest_first),
		cmocka_unit_test(a_killed_agent_leaves_nothing_changed),
		cmocka_unit_test(a_failing_call_leaves_nothing_changed),
		cmocka_unit_test(another_boot_drops_the_journal),
		cmocka_unit_test(a_replaced_disk_is_left_alone),
		cmocka_unit_test(a_damaged_journal_is_moved_aside),
		cmocka_unit_test(bad_values_and_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
