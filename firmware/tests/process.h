/* tests/process.h - a child process and a directory for its sockets. */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	char dir[64];
};

/* A fresh directory below $TMPDIR or /tmp. Returns false on failure. */
bool process_dir(struct process *p);

/* dir/name in a static buffer of eight that are used in turn. */
const char *process_path(const struct process *p, const char *name);

/* Start argv (found in $PATH) with stdin and stdout at /dev/null. */
bool process_start(struct process *p, char *const argv[]);

/* Kill it, wait for it, and remove the directory with its files. */
void process_end(struct process *p);

/* Connect to a Unix socket, trying for up to 10 s. fd or -errno. */
int process_connect(const char *path);

/* Is program in $PATH? */
bool process_have(const char *program);

#endif
