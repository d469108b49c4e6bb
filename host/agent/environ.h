/* host/agent/environ.h - the settings a result was measured under. */
#ifndef HOST_AGENT_ENVIRON_H
#define HOST_AGENT_ENVIRON_H

#include "host/agent/record.h"

/* queue/..., vm sysctls, mount options and md attributes as Params in arena.
 * Names start with the disk's serial, the array's name, or "vm". */
Bay__Param **environ_read(const struct agent *a, const struct record *r,
			  const struct target *t, size_t targets,
			  struct arena *arena, size_t *count);

#endif
