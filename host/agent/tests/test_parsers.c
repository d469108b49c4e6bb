/* Small parsers and rules of the agent. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/agent/fsys.h"
#include "host/agent/kmsg.h"
#include "host/agent/mounts.h"
#include "host/agent/probe.h"
#include "host/util/run.h"

static void mountinfo_is_read_with_its_escapes(void **state)
{
	static const char line[] =
		"36 35 98:0 /mnt1 /mnt/my\\040disk rw,noatime master:1 "
		"shared:2 - ext3 /dev/a\\134b rw,errors=continue";
	struct mount m;

	(void)state;
	assert_true(mounts_parse(line, strlen(line), &m));
	assert_int_equal(m.major, 98);
	assert_string_equal(m.point, "/mnt/my disk");
	assert_string_equal(m.fs_type, "ext3");
	assert_string_equal(m.source, "/dev/a\\b");
	assert_string_equal(m.options, "rw,errors=continue");
	for (size_t n = 0; n < strlen(line) - 40; n++)
		assert_false(mounts_parse(line, n, &m));
}

static void only_errors_of_the_kernel_count(void **state)
{
	char error[] = "3,1234,5678,-;sd 0:0:0:0: rejecting I/O\n SUBSYSTEM=x";
	char info[] = "6,1,2,-;hello";
	char facility[] = "11,1,2,-;daemon error";
	char damaged[] = "no semicolon";
	const char *text;

	(void)state;
	assert_true(kmsg_parse(error, &text));
	assert_string_equal(text, "sd 0:0:0:0: rejecting I/O");
	assert_false(kmsg_parse(info, &text));
	assert_true(kmsg_parse(facility, &text));
	assert_false(kmsg_parse(damaged, &text));
}

static void ours_is_told_by_name_and_label(void **state)
{
	(void)state;
	assert_true(probe_is_ours("linux_raid_member", "bay:t"));
	assert_false(probe_is_ours("linux_raid_member", "host:0"));
	assert_false(probe_is_ours("linux_raid_member", "bay-t"));
	assert_true(probe_is_ours("ext4", "bay-t-0"));
	assert_false(probe_is_ours("ext4", ""));
	assert_false(probe_is_ours("ext4", "bayern"));
}

static void labels_fit_their_file_system(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_string_equal(
		fsys_label(fsys_find("xfs"), "a-long-name-of-it", 12, &arena),
		"bay-a-lon-12");
	assert_string_equal(fsys_label(fsys_find("ext4"), "t", 0, &arena),
			    "bay-t-0");
	assert_null(fsys_find("ntfs"));
	arena_free(&arena);
}

static int image_with(const char *label)
{
	const char *argv[] = {
		"mkfs.ext4", "-q", "-F", "-L", label, NULL, NULL
	};
	const struct run_spec spec = { .argv = argv };
	char path[] = "/tmp/bay-test-image-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	argv[5] = path;
	assert_int_equal(run_ok(NULL, &spec, NULL), 0);
	(void)unlink(path);
	return fd;
}

static void our_signature_is_erased_and_a_foreign_one_kept(void **state)
{
	int ours = image_with("bay-t-0");
	int foreign = image_with("photos");
	char uuid[PROBE_UUID_BYTES];
	struct probe_result r;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(probe_read(ours, &r, &err), 0);
	assert_int_equal(r.count, 1);
	assert_string_equal(r.sig[0].type, "ext4");
	assert_int_equal(r.sig[0].offset_bytes, 1080);
	assert_true(r.sig[0].ours);
	probe_uuid(ours, "ext4", uuid);
	assert_string_equal(uuid, r.sig[0].uuid);
	probe_uuid(ours, "linux_raid_member", uuid);
	assert_string_equal(uuid, "");
	assert_int_equal(probe_wipe_ours(ours, &err), 0);
	assert_int_equal(probe_read(ours, &r, &err), 0);
	assert_int_equal(r.count, 0);

	assert_int_equal(probe_wipe_ours(foreign, &err), -EPERM);
	assert_int_equal(probe_read(foreign, &r, &err), 0);
	assert_int_equal(r.count, 1);
	assert_string_equal(r.sig[0].label, "photos");
	assert_false(r.sig[0].ours);
	close(ours);
	close(foreign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mountinfo_is_read_with_its_escapes),
		cmocka_unit_test(only_errors_of_the_kernel_count),
		cmocka_unit_test(ours_is_told_by_name_and_label),
		cmocka_unit_test(labels_fit_their_file_system),
		cmocka_unit_test(
			our_signature_is_erased_and_a_foreign_one_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
