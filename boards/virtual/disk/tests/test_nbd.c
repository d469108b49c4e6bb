/* boards/virtual/disk/tests/test_nbd.c - the plugin in nbdkit, seen from an NBD
 * client: what a host sees of a disk whose power goes.
 *
 * Usage: test-vdisk-nbd PLUGIN.so */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "boards/virtual/disk/tests/nbd_disk.h"

#define POLLS_MAX 100u
#define BLOCK     65536u
#define MIB       1048576u

static const char *plugin;

static int setup(void **state)
{
	struct nbd_disk *d = malloc(sizeof(*d));

	nbd_disk_init(d);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	nbd_disk_fini(*state);
	free(*state);
	return 0;
}

static void start(struct nbd_disk *d)
{
	static const char *const params[] = { "size=64M", "timescale=0",
					      "holdup_ms=0", NULL };

	nbd_disk_start(d, plugin, params);
}

static void start_with_image(struct nbd_disk *d)
{
	char image[128];
	const char *const params[] = { "size=64M", "timescale=0", image, NULL };

	snprintf(image, sizeof(image), "image=%s", d->image);
	nbd_disk_start(d, plugin, params);
}

static void stop(struct nbd_disk *d)
{
	int status = nbd_disk_stop(d, SIGTERM);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(access(d->ctl, F_OK), -1);
}

static int put(struct nbd_disk *d, uint64_t offset, char fill, uint32_t flags)
{
	char buf[BLOCK];

	memset(buf, fill, sizeof(buf));
	return nbd_pwrite(d->h, buf, sizeof(buf), offset, flags);
}

/* The byte at `offset`, or -1. */
static int get(struct nbd_disk *d, uint64_t offset)
{
	char buf[BLOCK];

	if (nbd_pread(d->h, buf, sizeof(buf), offset, 0) != 0)
		return -1;
	return buf[0];
}

static void ask(struct nbd_disk *d, const char *line, const char *wanted)
{
	char answer[4096];

	nbd_disk_ask(d, line, answer, sizeof(answer));
	if (strstr(answer, wanted) == NULL)
		fail_msg("%s: %s", line, answer);
}

static void the_server_offers_what_a_disk_can(void **state)
{
	struct nbd_disk *d = *state;

	start(d);
	assert_int_equal(nbd_get_size(d->h), 64 * MIB);
	assert_int_equal(nbd_can_flush(d->h), 1);
	assert_int_equal(nbd_can_fua(d->h), 1);
	assert_int_equal(nbd_can_trim(d->h), 1);
	assert_int_equal(nbd_can_zero(d->h), 1);
	assert_int_equal(nbd_can_multi_conn(d->h), 1);
	assert_int_equal(nbd_is_rotational(d->h), 1);
	assert_int_equal(nbd_get_block_size(d->h, LIBNBD_SIZE_MINIMUM), 512);
	stop(d);
}

static void a_power_cut_loses_what_was_not_flushed(void **state)
{
	struct nbd_disk *d = *state;

	start(d);
	assert_int_equal(put(d, 0, 'a', 0), 0);
	assert_int_equal(nbd_flush(d->h, 0), 0);
	assert_int_equal(put(d, MIB, 'b', LIBNBD_CMD_FLAG_FUA), 0);
	assert_int_equal(put(d, 2 * MIB, 'c', 0), 0);
	assert_int_equal(get(d, 2 * MIB), 'c');
	ask(d, "power off", "\"power\":\"off\"");
	assert_int_equal(get(d, 0), -1);
	assert_int_equal(nbd_get_errno(), EIO);
	ask(d, "power on", "\"ok\":true");
	ask(d, "status", "\"power\":\"on\"");
	assert_int_equal(get(d, 0), 'a');
	assert_int_equal(get(d, MIB), 'b');
	assert_int_equal(get(d, 2 * MIB), 0);
	ask(d, "status", "\"lost_bytes\":65536,");
	stop(d);
}

static void a_lying_disk_loses_what_was_flushed(void **state)
{
	struct nbd_disk *d = *state;

	start(d);
	ask(d, "fault lie-flush", "\"ok\":true");
	assert_int_equal(put(d, 0, 'a', 0), 0);
	assert_int_equal(nbd_flush(d->h, 0), 0);
	ask(d, "power off", "\"ok\":true");
	ask(d, "power on", "\"ok\":true");
	assert_int_equal(get(d, 0), 0);
	stop(d);
}

static void trim_and_zero_read_as_zeros(void **state)
{
	struct nbd_disk *d = *state;

	start(d);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(put(d, i * MIB, 'a', 0), 0);
	assert_int_equal(nbd_trim(d->h, BLOCK, 0, 0), 0);
	assert_int_equal(nbd_zero(d->h, BLOCK, MIB, LIBNBD_CMD_FLAG_FUA), 0);
	assert_int_equal(get(d, 0), 0);
	assert_int_equal(get(d, MIB), 0);
	assert_int_equal(get(d, 2 * MIB), 'a');
	stop(d);
}

static void flushed_data_outlives_a_killed_server_with_an_image(void **state)
{
	struct nbd_disk *d = *state;

	start_with_image(d);
	assert_int_equal(put(d, MIB, 'a', LIBNBD_CMD_FLAG_FUA), 0);
	nbd_disk_stop(d, SIGKILL);
	start_with_image(d);
	assert_int_equal(get(d, MIB), 'a');
	stop(d);
}

static int count_error(void *user, int *error)
{
	unsigned *failed = user;

	if (*error != 0)
		++*failed;
	return 1;
}

/* Sixteen hung requests on the way, the server told to end: it does. */
static void a_hanging_disk_does_not_keep_the_server_up(void **state)
{
	static char buf[BLOCK];
	struct nbd_disk *d = *state;
	unsigned failed = 0;
	nbd_completion_callback done = { .callback = count_error,
					 .user_data = &failed };

	start(d);
	ask(d, "fault hang", "\"ok\":true");
	for (unsigned i = 0; i < 16; i++)
		assert_true(nbd_aio_pwrite(d->h, buf, BLOCK, i * BLOCK, done,
					   0) > 0);
	while (nbd_aio_in_flight(d->h) > 0 && failed == 0) {
		char answer[1024];

		nbd_disk_ask(d, "status", answer, sizeof(answer));
		if (strstr(answer, "\"pending\":16,") != NULL)
			break;
		assert_true(nbd_poll(d->h, 10) >= 0);
	}
	assert_int_equal(failed, 0);
	/* nbdkit 1.32 aborts in its threads' answers when the client of several
	 * requests closes under them: take the answers first. */
	kill(d->pid, SIGTERM);
	for (unsigned i = 0; nbd_aio_in_flight(d->h) > 0 && i < POLLS_MAX; i++)
		if (nbd_poll(d->h, 100) < 0)
			break;
	stop(d);
}

/* The sockets of a running disk are refused to a second one. */
static void a_second_disk_on_the_same_socket_is_refused(void **state)
{
	struct nbd_disk *d = *state;
	char ctl[128];
	int status = 0;
	pid_t pid;

	start(d);
	snprintf(ctl, sizeof(ctl), "ctl=%s", d->ctl);
	pid = fork();
	if (pid == 0) {
		/* Its complaint is wanted, the test's reader's time not. */
		fclose(stderr);
		execlp("nbdkit", "nbdkit", "-f", "--exit-with-parent", "-s",
		       plugin, "serial=T2", ctl, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(access(d->ctl, F_OK), 0);
	stop(d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(the_server_offers_what_a_disk_can),
		TEST(a_power_cut_loses_what_was_not_flushed),
		TEST(a_lying_disk_loses_what_was_flushed),
		TEST(trim_and_zero_read_as_zeros),
		TEST(flushed_data_outlives_a_killed_server_with_an_image),
		TEST(a_hanging_disk_does_not_keep_the_server_up),
		TEST(a_second_disk_on_the_same_socket_is_refused),
	};

	if (argc != 2)
		return 2;
	plugin = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
