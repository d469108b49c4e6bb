/* The arguments of the guest, and what is refused before QEMU sees it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boards/virtual/dut/dut.h"
#include "host/util/fs.h"

static const struct dut_disk two[] = {
	{ "BAYV0001", "/run/b/disk-BAYV0001.nbd" },
	{ "BAYV0002", "/run/b/disk-BAYV0002.nbd" },
};

static const struct dut_cfg plain = {
	.image_dir = "/img",
	.kernel = "6.12",
	.memory_mb = 1024,
	.vcpus = 2,
	.disks = two,
	.n_disks = 2,
	.qmp_path = "/run/b/qmp-dut.sock",
	.agent_path = "/run/b/agent.sock",
	.console_path = "/run/b/console.log",
};

/* The argument after the n-th one equal to name (n from 0), or NULL. */
static const char *value(char **argv, const char *name, unsigned n)
{
	for (size_t i = 0; argv[i] && argv[i + 1]; i++) {
		if (!strcmp(argv[i], name) && n-- == 0)
			return argv[i + 1];
	}
	return NULL;
}

/* True if some argument contains text. */
static int mentions(char **argv, const char *text)
{
	for (size_t i = 0; argv[i]; i++) {
		if (strstr(argv[i], text))
			return 1;
	}
	return 0;
}

static void a_guest_boots_the_named_kernel(void **state)
{
	struct err err = { 0 };
	char **argv = NULL;

	(void)state;
	assert_int_equal(dut_argv_new(&plain, &argv, &err), 0);
	assert_string_equal(argv[0], "qemu-system-x86_64");
	assert_string_equal(value(argv, "-kernel", 0), "/img/6.12/vmlinux");
	assert_string_equal(value(argv, "-initrd", 0),
			    "/img/6.12/initramfs.cpio");
	assert_string_equal(value(argv, "-bios", 0), "qboot.rom");
	assert_string_equal(value(argv, "-smp", 0), "2");
	assert_string_equal(value(argv, "-m", 0), "1024");
	assert_true(mentions(argv, "filename=/img/root.squashfs"));
	dut_argv_free(argv);
}

static void disks_are_nodes_and_not_yet_devices(void **state)
{
	struct err err = { 0 };
	char **argv = NULL;

	(void)state;
	assert_int_equal(dut_argv_new(&plain, &argv, &err), 0);
	assert_true(mentions(argv, "node-name=nb-BAYV0001,"));
	assert_true(mentions(argv, "server.path=/run/b/disk-BAYV0002.nbd"));
	assert_false(mentions(argv, "scsi-hd"));
	dut_argv_free(argv);
}

static void what_is_optional_is_absent_unless_asked_for(void **state)
{
	struct dut_cfg cfg = plain;
	struct err err = { 0 };
	char **argv = NULL;

	(void)state;
	assert_int_equal(dut_argv_new(&cfg, &argv, &err), 0);
	assert_false(mentions(argv, "org.bay.shell"));
	assert_false(mentions(argv, "bay-state"));
	assert_false(mentions(argv, "usb"));
	dut_argv_free(argv);

	cfg.shell_path = "/run/b/shell.sock";
	cfg.state_path = "/run/b/state.img";
	cfg.rig_path = "/run/b/rig.sock";
	cfg.append = "quiet";
	assert_int_equal(dut_argv_new(&cfg, &argv, &err), 0);
	assert_true(mentions(argv, "org.bay.shell"));
	assert_true(mentions(argv, "bay-state"));
	assert_true(mentions(argv, "usb-serial"));
	assert_true(mentions(argv, " quiet"));
	dut_argv_free(argv);
}

static void kvm_uses_the_host_processor(void **state)
{
	struct dut_cfg cfg = plain;
	struct err err = { 0 };
	char **argv = NULL;

	(void)state;
	cfg.accel = DUT_ACCEL_KVM;
	assert_int_equal(dut_argv_new(&cfg, &argv, &err), 0);
	assert_string_equal(value(argv, "-accel", 0), "kvm");
	assert_string_equal(value(argv, "-cpu", 0), "host");
	dut_argv_free(argv);
}

static void commas_in_paths_stay_part_of_them(void **state)
{
	struct dut_cfg cfg = plain;
	struct err err = { 0 };
	char **argv = NULL;

	(void)state;
	cfg.console_path = "/run/a,b/console";
	assert_int_equal(dut_argv_new(&cfg, &argv, &err), 0);
	assert_true(mentions(argv, "path=/run/a,,b/console"));
	dut_argv_free(argv);
}

static void refuse(const struct dut_cfg *cfg, int rc, const char *text)
{
	struct err err = { 0 };
	char **argv = NULL;

	assert_int_equal(dut_argv_new(cfg, &argv, &err), rc);
	assert_null(argv);
	if (!strstr(err.text, text))
		fail_msg("'%s' lacks '%s'", err.text, text);
}

static void bad_settings_are_refused_with_a_reason(void **state)
{
	static char long_path[200];
	struct dut_disk odd = { "A,b", "/d" };
	struct dut_cfg cfg = plain;

	(void)state;
	cfg.memory_mb = 64;
	refuse(&cfg, -EINVAL, "64 MB");
	cfg = plain;
	cfg.vcpus = 0;
	refuse(&cfg, -EINVAL, "processors");
	cfg = plain;
	cfg.kernel = "../6.1";
	refuse(&cfg, -EINVAL, "kernel");
	cfg = plain;
	cfg.disks = &odd;
	cfg.n_disks = 1;
	refuse(&cfg, -EINVAL, "A,b");
	cfg = plain;
	cfg.qmp_path = NULL;
	refuse(&cfg, -EINVAL, "QMP");
	cfg = plain;
	memset(long_path, 'x', sizeof(long_path) - 1);
	cfg.agent_path = long_path;
	refuse(&cfg, -ENAMETOOLONG, "agent");
}

static void names_of_disk_and_node_follow_the_serial(void **state)
{
	char name[DUT_ID_BYTES];

	(void)state;
	dut_disk_id(name, "BAYV0001");
	assert_string_equal(name, "disk-BAYV0001");
	dut_node_name(name, "BAYV0001");
	assert_string_equal(name, "nb-BAYV0001");
}

static char *temp_dir(void)
{
	char *dir = strdup("/tmp/test-dut-XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	return dir;
}

static void a_missing_image_names_the_file_and_the_remedy(void **state)
{
	struct err err = { 0 };
	char *dir = temp_dir();

	(void)state;
	assert_int_equal(dut_image_check(dir, "6.1", &err), -ENOENT);
	assert_non_null(strstr(err.text, "root.squashfs"));
	assert_non_null(strstr(err.text, "build-image"));
	fs_remove_tree(dir);
	free(dir);
}

static void a_state_disk_is_made_once_and_kept(void **state)
{
	char from[FS_PATH_BYTES];
	char to[FS_PATH_BYTES];
	struct err err = { 0 };
	struct stat st;
	char *dir = temp_dir();
	char byte = 0;
	int fd;

	(void)state;
	fs_path(from, "%s/state.img", dir);
	fs_path(to, "%s/copy.img", dir);
	assert_int_equal(dut_state_create(dir, to, &err), -ENOENT);
	assert_false(fs_exists(to));

	fd = open(from, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 700000), 1);
	close(fd);
	assert_int_equal(dut_state_create(dir, to, &err), 0);
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(st.st_size, 1 << 20);
	assert_true(st.st_blocks < 1024);

	fd = open(to, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 700000), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(pwrite(fd, "y", 1, 0), 1);
	assert_int_equal(dut_state_create(dir, to, &err), 0);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'y');
	close(fd);
	fs_remove_tree(dir);
	free(dir);
}

static void the_kvm_probe_comes_to_an_end(void **state)
{
	(void)state;
	if (access("/dev/kvm", R_OK | W_OK) < 0)
		assert_false(dut_kvm_usable());
	else
		dut_kvm_usable();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_boots_the_named_kernel),
		cmocka_unit_test(disks_are_nodes_and_not_yet_devices),
		cmocka_unit_test(what_is_optional_is_absent_unless_asked_for),
		cmocka_unit_test(kvm_uses_the_host_processor),
		cmocka_unit_test(commas_in_paths_stay_part_of_them),
		cmocka_unit_test(bad_settings_are_refused_with_a_reason),
		cmocka_unit_test(names_of_disk_and_node_follow_the_serial),
		cmocka_unit_test(a_missing_image_names_the_file_and_the_remedy),
		cmocka_unit_test(a_state_disk_is_made_once_and_kept),
		cmocka_unit_test(the_kvm_probe_comes_to_an_end),
	};

	return cmocka_run_group_tests_name("dut", tests, NULL, NULL);
}
