/* bay-backplane: see README.md. Started by `bay bench up`. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/virtual/backplane/app.h"
#include "host/util/log.h"

#define EXIT_USAGE 2
#define SETTLE_MS  2000

static const struct bp_rig_ops *const rigs[] = {
	&bp_rig_qemu,
	&bp_rig_posix,
};

static const struct bp_rig_ops *rig_find(const char *name)
{
	for (size_t i = 0; i < sizeof(rigs) / sizeof(rigs[0]); i++) {
		if (!strcmp(rigs[i]->name, name))
			return rigs[i];
	}
	fatalx(EXIT_USAGE, "--rig is qemu or posix, not '%s'", name);
}

static const struct vboard *board_find(const char *name)
{
	static struct vboard board;
	struct err err = { 0 };

	if (vboard_find(&board, name, &err))
		fatalx(EXIT_USAGE, "--board: %s", err.text);
	if (!board.machine)
		fatalx(EXIT_USAGE, "--board: no emulator for board '%s'", name);
	return &board;
}

/* N=SERIAL */
static void slot_parse(struct bp_app_cfg *cfg, const char *text)
{
	unsigned int slot = (unsigned int)(text[0] - '0');

	if (slot >= BP_SLOTS || text[1] != '=' || !text[2])
		fatalx(EXIT_USAGE, "--slot takes 0..%d=SERIAL, not '%s'",
		       BP_SLOTS - 1, text);
	if (strlen(text + 2) > 60 || strchr(text + 2, '/'))
		fatalx(EXIT_USAGE, "'%s' is not a disk serial", text + 2);
	if (cfg->serial[slot])
		fatalx(EXIT_USAGE, "slot %u is given twice", slot);
	cfg->serial[slot] = text + 2;
}

static void usage(FILE *f)
{
	fputs("usage: bay-backplane --run DIR [--rig qemu|posix]\n"
	      "                     [--board NAME] [--verbose]\n"
	      "                     --slot N=SERIAL ...\n",
	      f);
}

static void parse(struct bp_app_cfg *cfg, int argc, char **argv)
{
	static const struct option options[] = {
		{ "run", required_argument, NULL, 'r' },
		{ "rig", required_argument, NULL, 'R' },
		{ "board", required_argument, NULL, 'b' },
		{ "slot", required_argument, NULL, 's' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			cfg->run = optarg;
			break;
		case 'R':
			cfg->rig = rig_find(optarg);
			break;
		case 'b':
			cfg->board = board_find(optarg);
			break;
		case 's':
			slot_parse(cfg, optarg);
			break;
		case 'v':
			log_set_level(LOG_LEVEL_DEBUG);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (!cfg->run || optind != argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
	if (cfg->rig == &bp_rig_qemu && !cfg->board)
		fatalx(EXIT_USAGE, "--rig qemu needs --board");
}

int main(int argc, char **argv)
{
	static struct bp_app app;
	struct bp_app_cfg cfg = { .rig = &bp_rig_qemu, .settle_ms = SETTLE_MS };

	log_init("bay-backplane", false);
	signal(SIGPIPE, SIG_IGN);
	parse(&cfg, argc, argv);
	return bp_app_run(&app, &cfg) ? EXIT_FAILURE : EXIT_SUCCESS;
}
