/* Arguments of bay-firmware-posix; then the firmware's own main(). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/port/posix/posix.h"

struct posix posix = {
	.uart = { NULL, -1, -1 },
	.backplane = { NULL, -1, -1 },
	.lasting_fd = -1,
	.cause = RESET_POWER,
};

static const char usage[] =
	"Usage: bay-firmware-posix --uart PATH [--backplane PATH]\n"
	"                          [--eeprom FILE] [--stepped]\n"
	"The rig's firmware as a process. --uart and --backplane are Unix\n"
	"sockets it listens on; firmware/port/posix/backplane_proto.h has the\n"
	"protocol of the second. --stepped: time goes on by \"advance\" "
	"only.\n";

static const struct option options[] = {
	{ "uart", required_argument, NULL, 'u' },
	{ "backplane", required_argument, NULL, 'b' },
	{ "eeprom", required_argument, NULL, 'e' },
	{ "stepped", no_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void usage_exit(FILE *to, int code)
{
	fputs(usage, to);
	exit(code);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'u':
			posix.uart.path = optarg;
			break;
		case 'b':
			posix.backplane.path = optarg;
			break;
		case 'e':
			posix.eeprom_path = optarg;
			break;
		case 's':
			posix.stepped = true;
			break;
		case 'h':
			usage_exit(stdout, 0);
		default:
			usage_exit(stderr, 2);
		}
	}
	if (!posix.uart.path || optind != argc)
		usage_exit(stderr, 2);
}

static void start_or_die(const char *what, int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "bay-firmware-posix: %s: %s\n", what, strerror(-rc));
	exit(1);
}

int main(int argc, char **argv)
{
	posix.argv = argv;
	parse(argc, argv);
	posix_inherit();
	start_or_die("memory", posix_hal_start());
	start_or_die(posix.uart.path, posix_listen(&posix.uart));
	start_or_die("backplane", posix_listen(&posix.backplane));
	posix_backplane_say("reset %d\n", (int)posix.cause);
	return firmware_main();
}
