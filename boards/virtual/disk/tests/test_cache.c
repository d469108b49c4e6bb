/* boards/virtual/disk/tests/test_cache.c - the ordered write cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boards/virtual/disk/cache.h"

static unsigned char page[2][4096];

static struct cache_entry *add(struct cache *c, uint64_t offset,
			       const unsigned char *data)
{
	struct vdisk_op op = {
		.kind = VDISK_WRITE, .offset = offset, .n = 4096, .data = data
	};
	struct cache_entry *e = cache_add(c, &op);

	assert_non_null(e);
	return e;
}

static int setup(void **state)
{
	struct cache *c = malloc(sizeof(*c));

	cache_init(c);
	memset(page[0], 'a', sizeof(page[0]));
	memset(page[1], 'b', sizeof(page[1]));
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct cache *c = *state;

	while (!TAILQ_EMPTY(&c->entries))
		cache_remove(c, TAILQ_FIRST(&c->entries));
	free(c);
	return 0;
}

static struct cache_entry *pick(const struct cache *c, uint64_t head)
{
	struct cache_choice choice = { .policy = VDISK_DESTAGE_ELEVATOR,
				       .head_byte = head };

	return cache_pick(c, &choice);
}

static void a_newer_entry_overlays_an_older_one(void **state)
{
	struct cache *c = *state;
	unsigned char buf[8192];

	add(c, 4096, page[0]);
	add(c, 6144, page[1]);
	memset(buf, '.', sizeof(buf));
	cache_overlay(c, buf, 2048, 8192);
	assert_int_equal(buf[2047], '.');
	assert_int_equal(buf[2048], 'a');
	assert_int_equal(buf[4095], 'a');
	assert_int_equal(buf[4096], 'b');
	assert_int_equal(buf[8191], 'b');
}

static void entries_cover_a_range_together_in_any_order(void **state)
{
	struct cache *c = *state;

	add(c, 8192, page[0]);
	add(c, 4096, page[0]);
	assert_true(cache_covers(c, 4096, 8192));
	assert_false(cache_covers(c, 4096, 8704));
	assert_false(cache_covers(c, 3584, 4096));
}

static void room_is_counted_in_bytes_and_entries(void **state)
{
	struct cache *c = *state;
	struct vdisk_op trim = { .kind = VDISK_TRIM, .n = 1 << 20 };
	struct vdisk_op zero = { .kind = VDISK_ZERO, .n = 8192 };

	add(c, 0, page[0]);
	cache_add(c, &trim);
	cache_add(c, &zero);
	assert_int_equal(c->count, 3);
	assert_int_equal(c->dirty_bytes, 4096 + 8192);
	cache_remove(c, TAILQ_FIRST(&c->entries));
	assert_int_equal(c->dirty_bytes, 8192);
}

static void the_elevator_goes_on_and_then_starts_over(void **state)
{
	struct cache *c = *state;
	struct cache_entry *low = add(c, 4096, page[0]);
	struct cache_entry *high = add(c, 40960, page[0]);

	assert_ptr_equal(pick(c, 8192), high);
	assert_ptr_equal(pick(c, 4096), low);
	assert_ptr_equal(pick(c, 81920), low);
}

static void an_urgent_entry_goes_before_a_nearer_one(void **state)
{
	struct cache *c = *state;
	struct cache_entry *far = add(c, 40960, page[0]);

	add(c, 8192, page[0]);
	cache_hurry(c, far->id, far->id);
	assert_ptr_equal(pick(c, 8192), far);
}

static void an_old_entry_goes_before_a_nearer_one(void **state)
{
	struct cache *c = *state;
	struct cache_choice choice = { .head_byte = 8192,
				       .aged_before_ns = 100 };
	struct cache_entry *old = add(c, 0, page[0]);

	add(c, 8192, page[0])->arrive_ns = 200;
	assert_ptr_equal(cache_pick(c, &choice), old);
}

static void an_overlapped_older_entry_goes_first(void **state)
{
	struct cache *c = *state;
	struct cache_entry *oldest = add(c, 2048, page[0]);
	struct cache_entry *newest;

	add(c, 4096, page[0]);
	newest = add(c, 6144, page[1]);
	cache_hurry(c, newest->id, newest->id);
	assert_ptr_equal(pick(c, 6144), oldest);
}

static void holds_tells_whether_ids_are_still_there(void **state)
{
	struct cache *c = *state;
	struct cache_entry *first = add(c, 0, page[0]);

	add(c, 4096, page[0]);
	assert_true(cache_holds(c, 1, 1));
	cache_remove(c, first);
	assert_false(cache_holds(c, 1, 1));
	assert_true(cache_holds(c, 1, 2));
	assert_false(cache_holds(c, 3, 9));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_newer_entry_overlays_an_older_one),
		TEST(entries_cover_a_range_together_in_any_order),
		TEST(room_is_counted_in_bytes_and_entries),
		TEST(the_elevator_goes_on_and_then_starts_over),
		TEST(an_urgent_entry_goes_before_a_nearer_one),
		TEST(an_old_entry_goes_before_a_nearer_one),
		TEST(an_overlapped_older_entry_goes_first),
		TEST(holds_tells_whether_ids_are_still_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
