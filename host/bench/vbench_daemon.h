/* host/bench/vbench_daemon.h - a supervisor that goes to the background once
 * its bench is up. */
#ifndef HOST_BENCH_VBENCH_DAEMON_H
#define HOST_BENCH_VBENCH_DAEMON_H

#include "host/bench/vbench.h"

/* Fork a supervisor, pass its progress on to fn, and return when the bench is
 * up (0) or is not going to be (as vbench_run(), nothing left behind). SIGINT,
 * SIGTERM and SIGHUP meanwhile stop the supervisor, as does the death of the
 * caller. Its messages go to bench.log in the runtime directory. The caller
 * has one thread. */
int vbench_daemon(const struct vbench_cfg *cfg, vbench_progress_fn fn,
		  void *arg, struct err *err);

#endif
