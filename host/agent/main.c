/* bay-agent: the machine with the disks. See bay-agent(8). */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/agent/agent.h"
#include "host/agent/server.h"
#include "host/util/clock.h"
#include "host/util/log.h"

#define MAIN_EXIT_USAGE   2
#define MAIN_LOCK_MS      10000 /* an agent that lost its controller ends soon */
#define MAIN_STATE_DIR    "/var/lib/bay-agent"
#define MAIN_LOCK_POLL_US 50000

static const char main_usage[] =
	"usage: bay-agent --stdio | --listen PATH | --port DEVICE\n"
	"                 [--state-dir DIR] [--syslog] [--verbose]\n"
	"       bay-agent --help | --version\n"
	"\n"
	"  --stdio          speak on stdin and stdout, end with them\n"
	"  --listen PATH    serve one controller after the other on a Unix "
	"socket\n"
	"  --port DEVICE    the same on a virtio-serial port\n"
	"  --state-dir DIR  results, journal, mounts (" MAIN_STATE_DIR ")\n"
	"  --root DIR       prefix of /proc, /sys and /dev, for tests\n"
	"  --syslog         log to syslog, not to stderr\n"
	"  --verbose        log more\n";

struct main_options {
	struct agent_cfg agent;
	struct server_cfg server;
	unsigned modes;
	bool syslog;
	bool verbose;
};

enum {
	OPT_STDIO = 256,
	OPT_LISTEN,
	OPT_PORT,
	OPT_STATE_DIR,
	OPT_ROOT,
	OPT_SYSLOG,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option main_long[] = {
	{ "stdio", no_argument, NULL, OPT_STDIO },
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "syslog", no_argument, NULL, OPT_SYSLOG },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

static void main_mode(struct main_options *o, enum server_mode mode,
		      const char *path)
{
	o->server = (struct server_cfg){ mode, path };
	o->modes++;
}

static void main_option(struct main_options *o, int c)
{
	switch (c) {
	case OPT_STDIO:
		main_mode(o, SERVER_STDIO, NULL);
		break;
	case OPT_LISTEN:
		main_mode(o, SERVER_LISTEN, optarg);
		break;
	case OPT_PORT:
		main_mode(o, SERVER_PORT, optarg);
		break;
	case OPT_STATE_DIR:
		o->agent.state_dir = optarg;
		break;
	case OPT_ROOT:
		o->agent.root = optarg;
		break;
	case OPT_SYSLOG:
		o->syslog = true;
		break;
	case OPT_VERBOSE:
		o->verbose = true;
		break;
	case OPT_HELP:
		(void)fputs(main_usage, stdout);
		exit(0);
	case OPT_VERSION:
		(void)puts("bay-agent " BAY_VERSION);
		exit(0);
	default:
		(void)fputs(main_usage, stderr);
		exit(MAIN_EXIT_USAGE);
	}
}

static void main_parse(struct main_options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", main_long, NULL)) != -1)
		main_option(o, c);
	if (o->modes != 1 || optind != argc) {
		(void)fputs(main_usage, stderr);
		exit(MAIN_EXIT_USAGE);
	}
	if (o->agent.state_dir[0] != '/')
		fatalx(MAIN_EXIT_USAGE, "--state-dir must be absolute");
}

/* One agent for each state folder. The descriptor is held until the end. */
static int main_lock(const char *state_dir)
{
	struct deadline end = deadline_in_ms(MAIN_LOCK_MS);
	char path[FS_PATH_BYTES];
	int fd;
	int rc = fs_mkdirs(state_dir);

	if (!rc)
		rc = fs_path(path, "%s/lock", state_dir);
	errno = -rc;
	fd = rc ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		fatal(1, "cannot use the state folder %s", state_dir);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || deadline_past(end))
			fatalx(1, "another bay-agent works in %s", state_dir);
		(void)usleep(MAIN_LOCK_POLL_US);
	}
	return fd;
}

int main(int argc, char **argv)
{
	struct main_options o = {
		.agent = { .root = "", .state_dir = MAIN_STATE_DIR },
	};
	static struct agent agent; /* holds the journal: too large for a stack*/
	struct err err = { 0 };
	int lock;
	int rc;

	log_init("bay-agent", false);
	main_parse(&o, argc, argv);
	if (o.syslog)
		log_init("bay-agent", true);
	if (o.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	/* Messages of tools are parsed and shown: one language. */
	(void)setenv("LC_ALL", "C", 1);
	lock = main_lock(o.agent.state_dir);
	rc = agent_open(&agent, &o.agent, &err);
	if (!rc)
		rc = server_run(&agent, &o.server, &err);
	agent_close(&agent);
	close(lock);
	if (rc)
		fatalx(1, "%s", err.text);
	return 0;
}
