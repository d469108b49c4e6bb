#include "boards/virtual/dut/tests/guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/util/clock.h"

#define ANSWER_MS 240000 /* of a command in a slow guest; ends a hung test */
#define START_MS  30000
#define RETRY_MS  20

#define EXIT_USAGE   2
#define EXIT_SKIPPED 77

static const struct dut_disk no_disk;

static int address(struct sockaddr_un *addr, const char *path)
{
	size_t len = strlen(path);

	if (len >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	memcpy(addr->sun_path, path, len);
	return 0;
}

static int connect_once(const char *path)
{
	struct sockaddr_un addr;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = address(&addr, path);
	if (!rc && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	rc = rc ? rc : -errno;
	close(fd);
	return rc;
}

/* Wait for a server to listen while its process lives. */
static int connect_to(struct run_child *server, const char *path,
		      struct err *err)
{
	struct deadline end = deadline_in_ms(START_MS);
	int fd = connect_once(path);

	while (fd < 0 && !deadline_past(end)) {
		if (run_wait(&server, 1, RETRY_MS, 0) == 0)
			return err_set(err, -EPIPE, "server of %s: %s", path,
				       run_last_line(server));
		fd = connect_once(path);
	}
	return fd < 0 ? err_sys(err, fd, "%s", path) : fd;
}

static int send_all(int fd, const char *text, struct err *err)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0)
			return err_sys(err, -errno, "to the guest");
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int receive(int fd, struct buf *b, struct deadline end, struct err *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n;

	if (poll(&p, 1, deadline_poll_ms(end)) == 0)
		return err_set(err, -ETIMEDOUT, "no answer; got '%s'",
			       buf_str(b));
	n = recv(fd, chunk, sizeof(chunk), 0);
	if (n < 0)
		return err_sys(err, -errno, "from the guest");
	if (n == 0)
		return err_set(err, -EPIPE, "hung up; got '%s'", buf_str(b));
	return buf_append(b, chunk, (size_t)n);
}

/* Offset of text in b, received as needed; or -errno. */
static ssize_t receive_until(int fd, struct buf *b, const char *text,
			     struct err *err)
{
	struct deadline end = deadline_in_ms(ANSWER_MS);
	const char *at;

	while (!(at = strstr(buf_str(b), text))) {
		int rc = receive(fd, b, end, err);

		if (rc)
			return rc;
	}
	return at - buf_str(b);
}

static void path_in(const struct guest *g, char path[FS_PATH_BYTES],
		    const char *name)
{
	fs_path(path, "%s/%s", g->dir, name);
}

static void serial_of(unsigned i, char serial[DUT_SERIAL_BYTES])
{
	snprintf(serial, DUT_SERIAL_BYTES, "T%07u", i + 1);
}

/* Start a program and wait until it listens. */
static int start_server(struct run_child *server, const char *const *argv,
			const char *path, struct err *err)
{
	struct run_spec spec = { .argv = argv };
	int rc = run_start(server, &spec, err);
	int fd;

	if (rc)
		return rc;
	fd = connect_to(server, path, err);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* As fast as a disk, so that no test fills it while it looks elsewhere. */
static int start_disk(struct guest *g, unsigned i, struct err *err)
{
	char path[FS_PATH_BYTES];
	char serial[DUT_SERIAL_BYTES];
	const char *argv[] = {
		"nbdkit", "-f", "-U",        path, "--filter=rate",
		"memory", "1G", "rate=480M", NULL
	};

	serial_of(i, serial);
	path_in(g, path, serial);
	return start_server(&g->disk[i], argv, path, err);
}

int guest_args_read(struct guest_args *args, int argc, char **argv)
{
	struct err err = { 0 };

	if (argc != 4) {
		fprintf(stderr, "usage: %s IMAGE_DIR KERNEL FIRMWARE\n",
			argv[0]);
		return EXIT_USAGE;
	}
	*args = (struct guest_args){ argv[1], argv[2], argv[3] };
	if (dut_image_check(args->image_dir, args->kernel, &err) == 0)
		return 0;
	printf("skipped: %s\n", err.text);
	return EXIT_SKIPPED;
}

int guest_open(struct guest *g, const struct guest_args *args, struct err *err)
{
	char rig[FS_PATH_BYTES];
	const char *argv[] = { args->firmware, "--uart", rig, NULL };
	int rc;

	memset(g, 0, sizeof(*g));
	g->image_dir = args->image_dir;
	g->kernel = args->kernel;
	g->qmp = -1;
	g->shell = -1;
	snprintf(g->dir, sizeof(g->dir), "/tmp/bay-test-guest-XXXXXX");
	if (!mkdtemp(g->dir))
		return err_sys(err, -errno, "%s", g->dir);
	path_in(g, rig, "rig");
	rc = start_server(&g->rig, argv, rig, err);
	for (unsigned i = 0; i < GUEST_DISKS && !rc; i++)
		rc = start_disk(g, i, err);
	return rc;
}

/* What the tests say in the guest's shell: sd SERIAL prints the name of a disk
 * (VPD page 0x80), disk SERIAL waits for its node, which comes after that, and
 * prints it, gone SERIAL waits until there is none. */
static const char functions[] =
	"sd() { for d in /sys/block/sd*; do"
	" grep -qs \"$1\" $d/device/vpd_pg80 && echo ${d##*/}; done; }\n"
	"disk() { for n in $(seq 3000); do d=$(sd $1); [ -b \"/dev/$d\" ] &&"
	" { echo /dev/$d; return; }; usleep 10000; done; }\n"
	"gone() { for n in $(seq 3000); do [ -n \"$(sd $1)\" ] || return 0;"
	" usleep 10000; done; false; }\n";

struct paths {
	char disk[GUEST_DISKS][FS_PATH_BYTES];
	char serial[GUEST_DISKS][DUT_SERIAL_BYTES];
	char qmp[FS_PATH_BYTES];
	char agent[FS_PATH_BYTES];
	char shell[FS_PATH_BYTES];
	char console[FS_PATH_BYTES];
	char state[FS_PATH_BYTES];
	char rig[FS_PATH_BYTES];
};

static int start_qemu(struct guest *g, struct paths *p, struct err *err)
{
	struct dut_disk disks[GUEST_DISKS] = { no_disk };
	struct dut_cfg cfg = {
		.image_dir = g->image_dir,
		.kernel = g->kernel,
		.memory_mb = 768,
		.vcpus = 2,
		.disks = disks,
		.n_disks = GUEST_DISKS,
		.qmp_path = p->qmp,
		.agent_path = p->agent,
		.shell_path = p->shell,
		.console_path = p->console,
		.state_path = p->state,
		.rig_path = p->rig,
	};
	struct run_spec spec = { 0 };
	char **argv = NULL;
	int rc;

	for (unsigned i = 0; i < GUEST_DISKS; i++) {
		serial_of(i, p->serial[i]);
		path_in(g, p->disk[i], p->serial[i]);
		disks[i].serial = p->serial[i];
		disks[i].nbd_path = p->disk[i];
	}
	rc = dut_state_create(g->image_dir, p->state, err);
	if (!rc)
		rc = dut_argv_new(&cfg, &argv, err);
	if (rc)
		return rc;
	spec.argv = (const char *const *)argv;
	rc = run_start(&g->qemu, &spec, err);
	dut_argv_free(argv);
	return rc;
}

/* From the greeting on, QMP and the shell answer line by line. */
static int greet(struct guest *g, struct err *err)
{
	ssize_t at;
	int rc = guest_qmp(g, "qmp_capabilities", "{}", err);

	if (rc)
		return rc;
	at = receive_until(g->shell, &g->from_shell, "READY\n", err);
	if (at < 0)
		return (int)at;
	buf_clear(&g->from_shell);
	return send_all(g->shell, functions, err);
}

int guest_boot(struct guest *g, struct err *err)
{
	struct paths *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	path_in(g, p->qmp, "qmp");
	path_in(g, p->agent, "agent");
	path_in(g, p->shell, "shell");
	path_in(g, p->console, "console");
	path_in(g, p->state, "state.img");
	path_in(g, p->rig, "rig");
	rc = start_qemu(g, p, err);
	if (!rc) {
		g->shell = connect_to(&g->qemu, p->shell, err);
		g->qmp = connect_to(&g->qemu, p->qmp, err);
		rc = g->shell < 0 ? g->shell : g->qmp < 0 ? g->qmp : 0;
	}
	free(p);
	return rc ? rc : greet(g, err);
}

void guest_kill(struct guest *g)
{
	if (g->shell >= 0)
		close(g->shell);
	if (g->qmp >= 0)
		close(g->qmp);
	g->shell = -1;
	g->qmp = -1;
	buf_clear(&g->from_shell);
	buf_clear(&g->from_qmp);
	run_close(&g->qemu, START_MS);
}

int guest_run(struct guest *g, const char *command, struct err *err)
{
	struct buf text = { 0 };
	ssize_t at;
	int rc;

	buf_clear(&g->out);
	/* The mark is in two halves, so that no echo of it can be taken for
	 * the answer. */
	rc = buf_printf(&text, "{ %s\n} 2>&1; echo \"@st\"atus $?@\n", command);
	if (!rc)
		rc = send_all(g->shell, buf_str(&text), err);
	buf_free(&text);
	if (rc)
		return rc;
	at = receive_until(g->shell, &g->from_shell, "@status ", err);
	if (at < 0)
		return (int)at;
	rc = buf_append(&g->out, g->from_shell.data, (size_t)at);
	buf_consume(&g->from_shell, (size_t)at);
	at = receive_until(g->shell, &g->from_shell, "@\n", err);
	if (at < 0)
		return (int)at;
	if (!rc)
		rc = atoi(buf_str(&g->from_shell) + strlen("@status "));
	buf_consume(&g->from_shell, (size_t)at + 2);
	return rc;
}

static int qmp_line(struct guest *g, struct buf *line, struct err *err)
{
	ssize_t at = receive_until(g->qmp, &g->from_qmp, "\n", err);
	int rc;

	if (at < 0)
		return (int)at;
	buf_clear(line);
	rc = buf_append(line, g->from_qmp.data, (size_t)at);
	buf_consume(&g->from_qmp, (size_t)at + 1);
	return rc;
}

int guest_qmp(struct guest *g, const char *command, const char *arguments,
	      struct err *err)
{
	struct buf b = { 0 };
	int rc = buf_printf(&b, "{\"execute\":\"%s\",\"arguments\":%s}\n",
			    command, arguments);

	if (!rc)
		rc = send_all(g->qmp, buf_str(&b), err);
	/* The greeting and events are of no interest here. */
	do {
		if (!rc)
			rc = qmp_line(g, &b, err);
	} while (!rc && strncmp(buf_str(&b), "{\"return\"", 9) != 0 &&
		 strncmp(buf_str(&b), "{\"error\"", 8) != 0);
	if (!rc && strncmp(buf_str(&b), "{\"error\"", 8) == 0)
		rc = err_set(err, -EREMOTEIO, "%s: %s", command, buf_str(&b));
	buf_free(&b);
	return rc;
}

int guest_plug(struct guest *g, unsigned i, struct err *err)
{
	struct deadline end = deadline_in_ms(START_MS);
	struct run_child *qemu = &g->qemu;
	char serial[DUT_SERIAL_BYTES];
	char node[DUT_ID_BYTES];
	char id[DUT_ID_BYTES];
	char arguments[512];
	int rc;

	serial_of(i, serial);
	dut_node_name(node, serial);
	dut_disk_id(id, serial);
	snprintf(arguments, sizeof(arguments),
		 "{\"driver\":\"scsi-hd\",\"bus\":\"scsi0.0\",\"id\":\"%s\","
		 "\"drive\":\"%s\",\"serial\":\"%s\",\"device_id\":\"%s\","
		 "\"scsi-id\":%u,\"lun\":0,\"write-cache\":\"on\","
		 "\"werror\":\"report\",\"rerror\":\"report\"}",
		 id, node, serial, serial, i);
	while ((rc = guest_qmp(g, "device_add", arguments, err)) ==
		       -EREMOTEIO &&
	       !deadline_past(end) && run_wait(&qemu, 1, RETRY_MS, 0) > 0)
		;
	return rc;
}

int guest_pull(struct guest *g, unsigned i, struct err *err)
{
	char serial[DUT_SERIAL_BYTES];
	char arguments[128];

	serial_of(i, serial);
	snprintf(arguments, sizeof(arguments), "{\"id\":\"disk-%s\"}", serial);
	return guest_qmp(g, "device_del", arguments, err);
}

void guest_close(struct guest *g)
{
	guest_kill(g);
	for (unsigned i = 0; i < GUEST_DISKS; i++)
		run_close(&g->disk[i], START_MS);
	run_close(&g->rig, START_MS);
	buf_free(&g->from_shell);
	buf_free(&g->from_qmp);
	buf_free(&g->out);
	if (g->dir[0])
		fs_remove_tree(g->dir);
}
