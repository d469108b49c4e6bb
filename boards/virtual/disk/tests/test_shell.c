/* boards/virtual/disk/tests/test_shell.c - a disk behind its control socket,
 * with no clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "boards/virtual/disk/ctl_server.h"
#include "boards/virtual/disk/media_file.h"
#include "boards/virtual/disk/shell.h"
#include "boards/virtual/disk/tests/drive.h"

struct rig {
	char dir[64];
	char ctl[96];
	char image[96];
	struct vdisk *disk;
	struct shell *shell;
	struct ctl_server *server;
	int fd;
};

static bool always_gone(void)
{
	return true;
}

static int connect_ctl(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct shell_cfg shell = { .host_gone = always_gone };
	struct vdisk_cfg cfg;

	drive_cfg(&cfg);
	strcpy(r->dir, "/tmp/bay-disk-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->ctl, sizeof(r->ctl), "%s/ctl", r->dir);
	snprintf(r->image, sizeof(r->image), "%s/image", r->dir);
	r->disk = vdisk_new(&cfg, NULL, NULL);
	shell.disk = r->disk;
	r->shell = shell_new(&shell);
	assert_int_equal(shell_start(r->shell), 0);
	r->server = ctl_server_new(r->ctl, "T1");
	assert_non_null(r->server);
	assert_int_equal(ctl_server_start(r->server, r->shell), 0);
	r->fd = connect_ctl(r->ctl);
	assert_true(r->fd >= 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	close(r->fd);
	ctl_server_free(r->server);
	shell_stop(r->shell);
	shell_free(r->shell);
	vdisk_free(r->disk);
	assert_int_equal(access(r->ctl, F_OK), -1);
	unlink(r->image);
	assert_int_equal(rmdir(r->dir), 0);
	free(r);
	return 0;
}

/* Send bytes, read one line. */
static void ask(struct rig *r, const char *text, char *answer, size_t size)
{
	size_t n = 0;

	assert_int_equal(write(r->fd, text, strlen(text)), strlen(text));
	while (n + 1 < size && read(r->fd, answer + n, 1) == 1)
		if (answer[n++] == '\n')
			break;
	answer[n] = '\0';
}

static int put(struct rig *r, uint64_t offset, unsigned char fill)
{
	unsigned char data[4096];
	struct vdisk_op op = { .kind = VDISK_WRITE,
			       .offset = offset,
			       .n = sizeof(data),
			       .data = data };

	memset(data, fill, sizeof(data));
	return shell_request(r->shell, &op);
}

static int get(struct rig *r, uint64_t offset)
{
	unsigned char data[4096] = { 0 };
	struct vdisk_op op = { .kind = VDISK_READ,
			       .offset = offset,
			       .n = sizeof(data),
			       .buf = data };
	int err = shell_request(r->shell, &op);

	return err != 0 ? err : data[0];
}

static int flush(struct rig *r)
{
	struct vdisk_op op = { .kind = VDISK_FLUSH };

	return shell_request(r->shell, &op);
}

static void power_lines_switch_the_disk(void **state)
{
	struct rig *r = *state;
	char answer[512];

	ask(r, "power off\n", answer, sizeof(answer));
	assert_non_null(strstr(answer, "{\"ok\":true,"));
	assert_int_equal(get(r, 0), -EIO);
	ask(r, "status\n", answer, sizeof(answer));
	assert_non_null(strstr(answer, "\"power\":\"off\""));
	ask(r, "power on\n", answer, sizeof(answer));
	ask(r, "status\n", answer, sizeof(answer));
	assert_non_null(strstr(answer, "\"power\":\"on\""));
	assert_int_equal(get(r, 0), 0);
}

static void a_power_cycle_drops_what_was_not_flushed(void **state)
{
	struct rig *r = *state;
	char answer[512];

	assert_int_equal(put(r, 0, 'a'), 0);
	assert_int_equal(flush(r), 0);
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(put(r, MIB + i * MIB / 2, 'b'), 0);
	ask(r, "power off\n", answer, sizeof(answer));
	ask(r, "power on\n", answer, sizeof(answer));
	assert_int_equal(get(r, 0), 'a');
	assert_int_equal(get(r, MIB + 63 * MIB / 2), 0);
}

static void lines_may_come_in_pieces_and_together(void **state)
{
	struct rig *r = *state;
	char answer[512];

	assert_int_equal(write(r->fd, "sta", 3), 3);
	ask(r, "tus\nstatus\n", answer, sizeof(answer));
	assert_non_null(strstr(answer, "{\"ok\":true,"));
	ask(r, "", answer, sizeof(answer));
	assert_non_null(strstr(answer, "{\"ok\":true,"));
}

static void an_endless_line_is_refused_and_forgotten(void **state)
{
	struct rig *r = *state;
	char line[2000];
	char answer[512];

	memset(line, 'a', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	ask(r, line, answer, sizeof(answer));
	assert_string_equal(answer, "{\"ok\":false,\"error\":"
				    "\"the line is too long\"}\n");
	ask(r, "status\n", answer, sizeof(answer));
	assert_non_null(strstr(answer, "{\"ok\":true,"));
}

static void a_second_server_is_refused(void **state)
{
	struct rig *r = *state;

	assert_null(ctl_server_new(r->ctl, "T2"));
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(access(r->ctl, F_OK), 0);
}

static void a_dead_servers_socket_is_replaced(void **state)
{
	struct rig *r = *state;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct ctl_server *server;

	strcpy(addr.sun_path, r->image);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	server = ctl_server_new(r->image, "T2");
	assert_non_null(server);
	ctl_server_free(server);
}

static void the_socket_is_the_owners_alone(void **state)
{
	struct rig *r = *state;
	struct stat st;

	assert_int_equal(stat(r->ctl, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_request_ends_when_its_host_is_gone(void **state)
{
	struct rig *r = *state;
	char answer[512];

	ask(r, "fault hang\n", answer, sizeof(answer));
	assert_int_equal(put(r, 0, 'a'), -ESHUTDOWN);
	ask(r, "status\n", answer, sizeof(answer));
	assert_non_null(strstr(answer, "\"pending\":0,"));
}

static void an_image_outlives_its_disk(void **state)
{
	struct rig *r = *state;
	struct media_file *m = media_file_open(r->image, MIB);
	unsigned char data[4096];

	assert_non_null(m);
	assert_null(media_file_open(r->image, MIB));
	assert_int_equal(errno, EBUSY);
	memset(data, 'a', sizeof(data));
	assert_int_equal(media_file_ops.write(m, data, 8192, 4096), 0);
	assert_int_equal(media_file_ops.write(m, data, 12288, 4096), 0);
	assert_int_equal(media_file_ops.zero(m, 12288, 4096), 0);
	media_file_close(m);
	assert_null(media_file_open(r->image, 2 * MIB));
	assert_int_equal(errno, EFBIG);
	m = media_file_open(r->image, MIB);
	assert_non_null(m);
	assert_int_equal(media_file_ops.read(m, data, 8192, 4096), 0);
	assert_int_equal(data[4095], 'a');
	assert_int_equal(media_file_ops.read(m, data, 12288, 4096), 0);
	assert_int_equal(data[0], 0);
	media_file_close(m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(power_lines_switch_the_disk),
		TEST(a_power_cycle_drops_what_was_not_flushed),
		TEST(lines_may_come_in_pieces_and_together),
		TEST(an_endless_line_is_refused_and_forgotten),
		TEST(a_second_server_is_refused),
		TEST(a_dead_servers_socket_is_replaced),
		TEST(the_socket_is_the_owners_alone),
		TEST(a_request_ends_when_its_host_is_gone),
		TEST(an_image_outlives_its_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
