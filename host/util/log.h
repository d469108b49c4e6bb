/* host/util/log.h - messages to people. Thread-safe after log_init.
 *
 * A failure is logged once, by the layer that handles it. Standard output is
 * never used: it carries results. */
#ifndef HOST_UTIL_LOG_H
#define HOST_UTIL_LOG_H

#include <stdarg.h>
#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/* Called beside the normal output with each line that passes the level, e.g.
 * to forward it; must not log. text has no newline. */
typedef void (*log_sink_fn)(void *arg, enum log_level level, const char *text);

/* tag names the process in each line (kept, not copied). Lines go to stderr,
 * or to syslog's daemon facility when syslog is true. Default level: info. */
void log_init(const char *tag, bool syslog);
void log_set_level(enum log_level level);
void log_set_sink(log_sink_fn sink, void *arg);

__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);

/* Warning with the text of errno appended; errno is preserved. */
__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt, ...);
/* Warning without errno. */
__attribute__((format(printf, 1, 2))) void log_warnx(const char *fmt, ...);

/* As log_warn / log_warnx at level error, then exit with code. */
__attribute__((format(printf, 2, 3), noreturn)) void
fatal(int code, const char *fmt, ...);
__attribute__((format(printf, 2, 3), noreturn)) void
fatalx(int code, const char *fmt, ...);

#endif
