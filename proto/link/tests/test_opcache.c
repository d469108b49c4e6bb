#include "proto/link/opcache.h"

#include "proto/link/tests/cmocka_all.h"

static void the_last_sixteen_results_are_kept(void **state)
{
	struct opcache c;

	(void)state;
	opcache_init(&c);
	for (uint64_t id = 1; id <= 20; id++)
		opcache_store(
			&c, &(struct opcache_entry){ .op_id = id,
						     .status = (uint16_t)id });
	for (uint64_t id = 1; id <= 4; id++)
		assert_null(opcache_find(&c, id));
	for (uint64_t id = 5; id <= 20; id++)
		assert_int_equal(opcache_find(&c, id)->status, id);
}

static void an_empty_cache_knows_no_number_not_even_zero(void **state)
{
	struct opcache c;

	(void)state;
	opcache_init(&c);
	assert_null(opcache_find(&c, 0));
	assert_null(opcache_find(&c, 1));
}

static void storing_again_replaces(void **state)
{
	struct opcache c;

	(void)state;
	opcache_init(&c);
	opcache_store(&c, &(struct opcache_entry){ .op_id = 9, .status = 3 });
	opcache_store(&c, &(struct opcache_entry){ .op_id = 9, .status = 0 });
	assert_int_equal(opcache_find(&c, 9)->status, 0);
	assert_int_equal(c.next, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_sixteen_results_are_kept),
		cmocka_unit_test(an_empty_cache_knows_no_number_not_even_zero),
		cmocka_unit_test(storing_again_replaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
