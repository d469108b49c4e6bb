/* The control socket of a whole backplane, whose rig is this test: it speaks
 * QEMU's side of QMP and qtest, and answers when it likes. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "boards/virtual/backplane/app.h"

#define WAIT_MS  30000
#define GREETING "{\"QMP\": {\"version\": {}, \"capabilities\": []}}"
#define RESET    "{\"event\": \"RESET\", \"data\": {\"guest\": true}}"

enum {
	QMP,
	QTEST,
	CTL,
	SOCKETS
};

struct line_socket {
	int fd;
	char text[4096]; /* of the next line, so far */
	size_t len;
};

struct fake {
	char dir[64];
	struct vboard board;
	pid_t pid;
	struct line_socket s[SOCKETS];
	unsigned int stops;
	unsigned int conts;
	bool hold; /* answers wait, as of an emulator that is busy */
	char held[8192];
	char answer[256]; /* of the backplane; empty: none came */
};

/* ---- sockets ---- */

static void address(const struct fake *f, const char *name,
		    struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	snprintf(a->sun_path, sizeof(a->sun_path), "%s/%s", f->dir, name);
}

static int listen_at(const struct fake *f, const char *name)
{
	struct sockaddr_un a;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address(f, name, &a);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int accept_one(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	int fd;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	close(listener);
	return fd;
}

static void say(struct line_socket *s, const char *text)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	assert_true(n < (int)sizeof(line));
	assert_int_equal(send(s->fd, line, (size_t)n, MSG_NOSIGNAL), n);
}

/* ---- QEMU's side ---- */

static char *devices_text(const struct fake *f)
{
	json_t *list = json_array();
	char *text;

	for (unsigned int i = 0; i < f->board.ports; i++) {
		char type[64];
		char name[32];

		snprintf(type, sizeof(type), "child<%s>", f->board.gpio_type);
		snprintf(name, sizeof(name), "device[%u]", 8 + i);
		json_array_append_new(list, json_pack("{s:s, s:s}", "name",
						      name, "type", type));
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static void qmp_answer(struct fake *f, const char *command, json_int_t id)
{
	char *data = strcmp(command, "qom-list") ? NULL : devices_text(f);
	size_t used = strlen(f->held);
	int n = snprintf(f->held + used, sizeof(f->held) - used,
			 "{\"return\": %s, \"id\": %" JSON_INTEGER_FORMAT "}\n",
			 data ? data : "{}", id);

	free(data);
	assert_true(n < (int)(sizeof(f->held) - used));
}

static void release(struct fake *f)
{
	size_t len = strlen(f->held);

	f->hold = false;
	assert_int_equal(send(f->s[QMP].fd, f->held, len, MSG_NOSIGNAL), len);
	f->held[0] = '\0';
}

static void on_qmp(struct fake *f, const char *line)
{
	json_t *root = json_loads(line, 0, NULL);
	const char *command =
		json_string_value(json_object_get(root, "execute"));

	assert_non_null(command);
	f->stops += !strcmp(command, "stop");
	f->conts += !strcmp(command, "cont");
	qmp_answer(f, command, json_integer_value(json_object_get(root, "id")));
	json_decref(root);
	if (!f->hold)
		release(f);
}

static void on_line(struct fake *f, unsigned int which)
{
	const char *line = f->s[which].text;

	if (which == QMP)
		on_qmp(f, line);
	else if (which == QTEST)
		say(&f->s[QTEST], strncmp(line, "readl", 5) ? "OK" : "OK 0x0");
	else
		snprintf(f->answer, sizeof(f->answer), "%s", line);
}

/* Take one byte of each socket that has some. */
static void step(struct fake *f, int timeout_ms)
{
	struct pollfd p[SOCKETS];

	for (unsigned int i = 0; i < SOCKETS; i++)
		p[i] = (struct pollfd){ .fd = f->s[i].fd, .events = POLLIN };
	poll(p, SOCKETS, timeout_ms);
	for (unsigned int i = 0; i < SOCKETS; i++) {
		struct line_socket *s = &f->s[i];

		if (!p[i].revents)
			continue;
		assert_true(s->len < sizeof(s->text));
		assert_int_equal(recv(s->fd, s->text + s->len, 1, 0), 1);
		if (s->text[s->len++] != '\n')
			continue;
		s->text[s->len - 1] = '\0';
		s->len = 0;
		on_line(f, i);
	}
}

static void step_until(struct fake *f, const unsigned int *count,
		       unsigned int n)
{
	uint64_t end = uv_hrtime() + WAIT_MS * 1000000ull;

	while (*count < n) {
		assert_true(uv_hrtime() < end);
		step(f, 100);
	}
	assert_int_equal(*count, n);
}

static void ask(struct fake *f, const char *line)
{
	f->answer[0] = '\0';
	say(&f->s[CTL], line);
}

static bool is_answered(struct fake *f)
{
	struct pollfd p = { .fd = f->s[CTL].fd, .events = POLLIN };

	return f->answer[0] || f->s[CTL].len || poll(&p, 1, 0) == 1;
}

static void expect_ok(struct fake *f)
{
	uint64_t end = uv_hrtime() + WAIT_MS * 1000000ull;
	json_t *root;

	while (!f->answer[0]) {
		assert_true(uv_hrtime() < end);
		step(f, 100);
	}
	root = json_loads(f->answer, 0, NULL);
	if (!json_is_true(json_object_get(root, "ok")))
		fail_msg("%s", f->answer);
	json_decref(root);
}

/* ---- set-up ---- */

static void run_backplane(const struct fake *f, uint32_t settle_ms)
{
	static struct bp_app app;
	struct bp_app_cfg cfg = { .run = f->dir,
				  .rig = &bp_rig_qemu,
				  .board = &f->board,
				  .settle_ms = settle_ms };

	cfg.serial[0] = "D0";
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a test that has failed */
	_exit(bp_app_run(&app, &cfg) ? 1 : 0);
}

static int connect_ctl(const struct fake *f)
{
	struct sockaddr_un a;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address(f, "backplane.ctl", &a);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* A backplane whose rig runs. */
static int start_with(void **state, uint32_t settle_ms)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct err err = { 0 };
	int listener[2];

	assert_non_null(f);
	*state = f;
	snprintf(f->dir, sizeof(f->dir), "/tmp/bay-ctl.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(vboard_find(&f->board, "lm3s6965evb", &err), 0);
	listener[QMP] = listen_at(f, "qmp-rig.sock");
	listener[QTEST] = listen_at(f, "qtest-rig.sock");
	f->pid = fork();
	assert_true(f->pid >= 0);
	if (!f->pid)
		run_backplane(f, settle_ms);
	f->s[QMP].fd = accept_one(listener[QMP]);
	f->s[QTEST].fd = accept_one(listener[QTEST]);
	f->s[CTL].fd = -1;
	say(&f->s[QMP], GREETING);
	step_until(f, &f->conts, 1);
	f->s[CTL].fd = connect_ctl(f);
	assert_int_equal(f->stops, 1);
	return 0;
}

static int start(void **state)
{
	return start_with(state, 2 * WAIT_MS);
}

static int start_in_haste(void **state)
{
	return start_with(state, 100);
}

static int stop(void **state)
{
	static const char *const left[] = { "gates.fifo", "qmp-rig.sock",
					    "qtest-rig.sock" };
	struct fake *f = *state;
	char path[128];
	int status;

	kill(f->pid, SIGTERM);
	assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	for (unsigned int i = 0; i < SOCKETS; i++) {
		if (f->s[i].fd >= 0)
			close(f->s[i].fd);
	}
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, left[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

/* ---- tests ---- */

static void a_rig_told_to_be_silent_is_silent(void **state)
{
	struct fake *f = *state;

	f->hold = true;
	ask(f, "plant all silent-link");
	step_until(f, &f->stops, 2);
	assert_false(is_answered(f));
	release(f);
	expect_ok(f);
}

static void a_rig_told_to_go_on_goes_on(void **state)
{
	struct fake *f = *state;

	ask(f, "plant all silent-link");
	expect_ok(f);
	f->hold = true;
	ask(f, "clear all");
	step_until(f, &f->conts, 2);
	assert_false(is_answered(f));
	release(f);
	expect_ok(f);
}

static void a_silent_rig_that_is_reset_stays_silent(void **state)
{
	struct fake *f = *state;

	ask(f, "plant all silent-link");
	expect_ok(f);
	say(&f->s[QMP], RESET);
	step_until(f, &f->stops, 3);
	ask(f, "plant 0 hot");
	expect_ok(f);
	assert_int_equal(f->conts, 1);
	ask(f, "clear all");
	expect_ok(f);
	assert_int_equal(f->conts, 2);
	assert_int_equal(f->stops, 3);
}

static void an_emulator_that_stands_keeps_nobody_waiting(void **state)
{
	struct fake *f = *state;

	f->hold = true;
	ask(f, "plant 0 hot");
	expect_ok(f);
	/* Its answer is not waited for by a backplane that ends either. */
}

static void a_rig_that_goes_away_settles_what_waited_for_it(void **state)
{
	struct fake *f = *state;

	f->hold = true;
	ask(f, "plant all silent-link");
	step_until(f, &f->stops, 2);
	for (unsigned int i = QMP; i <= QTEST; i++) {
		close(f->s[i].fd);
		f->s[i].fd = -1;
	}
	expect_ok(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_rig_told_to_be_silent_is_silent, start, stop),
		cmocka_unit_test_setup_teardown(a_rig_told_to_go_on_goes_on,
						start, stop),
		cmocka_unit_test_setup_teardown(
			a_silent_rig_that_is_reset_stays_silent, start, stop),
		cmocka_unit_test_setup_teardown(
			an_emulator_that_stands_keeps_nobody_waiting,
			start_in_haste, stop),
		cmocka_unit_test_setup_teardown(
			a_rig_that_goes_away_settles_what_waited_for_it, start,
			stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
