/* host/cli/exit.h - exit codes of bay; the man page lists the same ones. */
#ifndef HOST_CLI_EXIT_H
#define HOST_CLI_EXIT_H

enum bay_exit {
	BAY_OK = 0,
	BAY_REGRESSIONS = 1, /* found, with --fail-on */
	BAY_USAGE = 2,       /* command line or configuration file */
	BAY_UNEQUAL = 3,     /* unequal case sets, without --allow-missing */
	BAY_REFUSED = 4,     /* for safety: foreign signature, bench in use */
	BAY_UNREACHABLE = 5, /* rig or agent silent, gone or incompatible */
	BAY_FAILED = 6,      /* some cells failed, or the step itself did */
};

#endif
