/* A real guest, one kernel: test_guest IMAGE_DIR KERNEL FIRMWARE. Skips (77)
 * when there is no image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "boards/virtual/dut/tests/guest.h"

static struct guest_args args;

/* At most a minute, for a guest that is slow. */
#define UNTIL(condition)                                                       \
	"for n in $(seq 600); do " condition " && break; usleep 100000; "      \
	"done; " condition

/* Run in the guest; fail the test unless it exits 0. */
static void expect(struct guest *g, const char *command)
{
	struct err err = { 0 };
	int rc = guest_run(g, command, &err);

	if (rc)
		fail_msg("%s\nends %d %s\n%s", command, rc, err.text,
			 buf_str(&g->out));
}

static void plug(struct guest *g, unsigned i)
{
	struct err err = { 0 };

	if (guest_plug(g, i, &err))
		fail_msg("%s", err.text);
}

static void pull(struct guest *g, unsigned i)
{
	struct err err = { 0 };

	if (guest_pull(g, i, &err))
		fail_msg("%s", err.text);
}

static void the_kernel_is_the_one_of_the_image(void **state)
{
	struct guest *g = *state;
	char path[FS_PATH_BYTES];
	char release[128];

	fs_path(path, "%s/%s/release", args.image_dir, args.kernel);
	assert_int_equal(fs_read_line(path, release, sizeof(release)), 0);
	expect(g, "uname -r");
	assert_memory_equal(buf_str(&g->out), release, strlen(release));
}

/* One alone boots, see dut.c. */
static void every_processor_is_up(void **state)
{
	expect(*state, "grep -c ^processor /proc/cpuinfo | grep -qx 2");
}

static void no_disk_is_there_before_it_is_plugged(void **state)
{
	expect(*state, "! ls /sys/block | grep sd");
}

static void a_plugged_disk_is_found_by_its_serial(void **state)
{
	struct guest *g = *state;

	plug(g, 0);
	plug(g, 1);
	expect(g, "[ -b \"$(disk T0000001)\" ] && [ -b \"$(disk T0000002)\" ]");
	expect(g, "d=$(sd T0000001); "
		  "grep -x 'write back' /sys/block/$d/queue/write_cache");
}

static void every_array_carries_every_file_system(void **state)
{
	static const char *const levels[] = { "0", "1" };
	static const char *const makers[] = { "mkfs.ext4 -qF", "mkfs.xfs -qf",
					      "mkfs.btrfs -qf" };
	struct guest *g = *state;
	char command[512];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(command, sizeof(command),
			 "mdadm --create /dev/md0 --run --assume-clean "
			 "--level=%s --raid-devices=2 $(disk T0000001) "
			 "$(disk T0000002)",
			 levels[i]);
		expect(g, command);
		for (unsigned j = 0; j < 3; j++) {
			snprintf(command, sizeof(command),
				 "%s /dev/md0 && mount /dev/md0 /mnt && "
				 "dd if=/dev/zero of=/mnt/f bs=64k count=64 "
				 "conv=fsync && umount /mnt && "
				 "wipefs -qa /dev/md0",
				 makers[j]);
			expect(g, command);
		}
		expect(g, "mdadm --stop /dev/md0 && mdadm --zero-superblock "
			  "$(disk T0000001) $(disk T0000002)");
	}
}

static void a_pulled_leg_leaves_and_is_taken_back(void **state)
{
	struct guest *g = *state;

	expect(g, "mdadm --create /dev/md0 --run --assume-clean --level=1 "
		  "--bitmap=internal --raid-devices=2 $(disk T0000001) "
		  "$(disk T0000002) && mkfs.ext4 -qF /dev/md0 && "
		  "mount /dev/md0 /mnt");
	pull(g, 1);
	expect(g, "gone T0000002");
	expect(g, "dd if=/dev/zero of=/mnt/f bs=64k count=64 conv=fsync");
	expect(g, "grep -q '\\[U_\\]' /proc/mdstat");
	plug(g, 1);
	expect(g, "d=$(disk T0000002); mdadm /dev/md0 --remove detached && "
		  "mdadm /dev/md0 --re-add $d");
	/* mdadm --wait returns at once when the recovery has not begun. */
	expect(g, UNTIL("grep -q '\\[UU\\]' /proc/mdstat"));
}

static void nothing_assembles_an_array_by_itself(void **state)
{
	struct guest *g = *state;

	expect(g, "umount /mnt && mdadm --stop /dev/md0");
	pull(g, 0);
	pull(g, 1);
	expect(g, "gone T0000001 && gone T0000002");
	plug(g, 0);
	plug(g, 1);
	expect(g, "mdadm --examine $(disk T0000001) $(disk T0000002)");
	expect(g, "! grep ^md /proc/mdstat");
	expect(g, "mdadm --assemble /dev/md0 $(disk T0000001) "
		  "$(disk T0000002) && mdadm --stop /dev/md0");
}

static void a_stripe_that_lost_its_disks_can_be_stopped(void **state)
{
	struct guest *g = *state;

	expect(g, "mdadm --zero-superblock $(disk T0000001) $(disk T0000002); "
		  "mdadm --create /dev/md0 --run --level=0 --raid-devices=2 "
		  "$(disk T0000001) $(disk T0000002) && mkfs.xfs -qf /dev/md0 "
		  "&& mount /dev/md0 /mnt");
	pull(g, 0);
	pull(g, 1);
	expect(g, "! dd if=/dev/zero of=/mnt/f bs=64k count=64 conv=fsync");
	expect(g, "umount /mnt; mdadm --stop /dev/md0 && "
		  "! grep ^md /proc/mdstat");
	plug(g, 0);
	plug(g, 1);
	expect(g, "[ -b \"$(disk T0000001)\" ] && [ -b \"$(disk T0000002)\" ]");
}

static void what_is_rarely_needed_loads_on_demand(void **state)
{
	expect(*state, "for m in ftdi_sio xhci_pci raid456 raid10 loop sg bfq "
		       "dm_flakey dm_delay dm_log_writes nfsv4 nfsd overlay "
		       "vfat f2fs; do "
		       "modprobe $m || exit; done");
}

static bool has_bay(struct guest *g)
{
	struct err err = { 0 };

	return guest_run(g, "[ -x /opt/bay/bin/bay ]", &err) == 0;
}

/* As at a real bench: the port is found by its USB numbers, whatever its name
 * is, and the firmware answers through it. */
static void bay_finds_the_rig_by_its_usb_numbers(void **state)
{
	struct guest *g = *state;

	expect(g, "for n in $(seq 1000); do [ -c /dev/ttyUSB0 ] && break; "
		  "usleep 10000; done; [ -c /dev/ttyUSB0 ]");
	if (!has_bay(g))
		skip();
	expect(g, "echo \"{name: t, agent: {type: local}, disks: [{serial: X, "
		  "slot: 0}], rig: {type: serial, usb: '" DUT_RIG_USB_ID
		  "', usb_serial: " DUT_RIG_USB_SERIAL "}}\" >/tmp/bench.yaml");
	expect(g, "bay rig info -f /tmp/bench.yaml");
}

static void an_adapter_that_is_not_there_is_named(void **state)
{
	struct guest *g = *state;

	if (!has_bay(g))
		skip();
	expect(g, "echo \"{name: t, agent: {type: local}, disks: [{serial: X, "
		  "slot: 0}], rig: {type: serial, usb: '" DUT_RIG_USB_ID
		  "', usb_serial: ANOTHER}}\" >/tmp/none.yaml");
	expect(g, "bay rig info -f /tmp/none.yaml; [ $? = 5 ]");
	assert_non_null(strstr(buf_str(&g->out), "ANOTHER is not plugged in"));
}

/* A monitor that runs meanwhile goes on when the rig is back. */
static void pulling_the_plug_of_the_rig_is_survived(void **state)
{
	struct guest *g = *state;
	struct err err = { 0 };

	if (!has_bay(g))
		skip();
	expect(g, "bay rig monitor -f /tmp/bench.yaml --json --period 100 "
		  ">/tmp/monitor 2>/tmp/errors & echo $! >/tmp/pid");
	expect(g, UNTIL("[ -s /tmp/monitor ]"));
	if (guest_qmp(g, "device_del", "{\"id\":\"rig-usb\"}", &err))
		fail_msg("%s", err.text);
	expect(g, UNTIL("grep -q lost /tmp/errors"));
	expect(g, "kill -0 $(cat /tmp/pid) && : >/tmp/monitor");
	if (guest_qmp(g, "device_add",
		      "{\"driver\":\"usb-serial\",\"id\":\"rig-usb\","
		      "\"bus\":\"usb.0\",\"chardev\":\"rig\","
		      "\"always-plugged\":true,"
		      "\"serial\":\"" DUT_RIG_USB_SERIAL "\"}",
		      &err))
		fail_msg("%s", err.text);
	expect(g, UNTIL("[ -s /tmp/monitor ]"));
	/* Ctrl-C ends it without an error. */
	expect(g, "kill -INT $(cat /tmp/pid); wait $(cat /tmp/pid)");
}

static void a_killed_agent_is_started_again(void **state)
{
	struct guest *g = *state;
	struct err err = { 0 };

	if (guest_run(g, "[ -x /opt/bay/bin/bay-agent ]", &err))
		skip();
	expect(g, "agent() { for n in $(seq 500); do p=$(pidof bay-agent); "
		  "[ \"${p:-$1}\" = \"$1\" ] || { echo $p; return; }; "
		  "usleep 10000; done; false; }");
	expect(g, "old=$(agent '') && kill -9 $old && agent $old");
}

static void the_tools_run(void **state)
{
	expect(*state, "fio --version && mdadm --version && iostat -V && "
		       "mkfs.xfs -V && mkfs.btrfs -V && lsblk -V && "
		       "dd --version | grep coreutils");
}

static void trace_files_are_mounted(void **state)
{
	expect(*state, "ls /sys/kernel/tracing/events/writeback >/dev/null && "
		       "ls /sys/kernel/debug/block >/dev/null");
}

static void the_state_disk_outlives_the_guest(void **state)
{
	struct guest *g = *state;
	struct err err = { 0 };

	expect(g, "echo kept >/var/lib/t && sync /var/lib/t");
	guest_kill(g);
	if (guest_boot(g, &err))
		fail_msg("%s", err.text);
	expect(g, "grep -x kept /var/lib/t");
}

static int boot(void **state)
{
	static struct guest g;
	struct err err = { 0 };
	int rc = guest_open(&g, &args, &err);

	*state = &g;
	if (!rc)
		rc = guest_boot(&g, &err);
	if (rc)
		print_error("%s\n", err.text);
	return rc;
}

static int halt(void **state)
{
	guest_close(*state);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_is_the_one_of_the_image),
		cmocka_unit_test(every_processor_is_up),
		cmocka_unit_test(no_disk_is_there_before_it_is_plugged),
		cmocka_unit_test(a_plugged_disk_is_found_by_its_serial),
		cmocka_unit_test(every_array_carries_every_file_system),
		cmocka_unit_test(a_pulled_leg_leaves_and_is_taken_back),
		cmocka_unit_test(nothing_assembles_an_array_by_itself),
		cmocka_unit_test(a_stripe_that_lost_its_disks_can_be_stopped),
		cmocka_unit_test(what_is_rarely_needed_loads_on_demand),
		cmocka_unit_test(bay_finds_the_rig_by_its_usb_numbers),
		cmocka_unit_test(an_adapter_that_is_not_there_is_named),
		cmocka_unit_test(pulling_the_plug_of_the_rig_is_survived),
		cmocka_unit_test(a_killed_agent_is_started_again),
		cmocka_unit_test(the_tools_run),
		cmocka_unit_test(trace_files_are_mounted),
		cmocka_unit_test(the_state_disk_outlives_the_guest),
	};
	int rc = guest_args_read(&args, argc, argv);

	return rc ? rc
		  : cmocka_run_group_tests_name(args.kernel, tests, boot, halt);
}
