/* host/agent/server.h - the event loop of bay-agent: one controller at a time
 * over stdio, a Unix socket, or a character device. */
#ifndef HOST_AGENT_SERVER_H
#define HOST_AGENT_SERVER_H

#include "host/agent/agent.h"

enum server_mode {
	SERVER_STDIO,  /* ends with the stream */
	SERVER_LISTEN, /* path of a Unix socket; the next may connect */
	SERVER_PORT,   /* character device that hangs up while nobody is there*/
};

struct server_cfg {
	enum server_mode mode;
	const char *path;
};

/* Serve until the end of stdio, SIGTERM or SIGINT. The workload is cancelled
 * and settings are put back before it returns. */
int server_run(struct agent *agent, const struct server_cfg *cfg,
	       struct err *err);

#endif
