#include "host/util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define LOG_LINE_BYTES 1024

/* The one piece of process-wide state in host/util: a log has no caller to
 * hold its context. Set by main before any thread starts. */
static struct {
	const char *tag;
	bool syslog;
	enum log_level level;
	log_sink_fn sink;
	void *sink_arg;
} log_state = { .tag = "bay", .level = LOG_LEVEL_INFO };

static const int log_priority[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
static const char *const log_word[] = { "error: ", "warning: ", "", "debug: " };

void log_init(const char *tag, bool to_syslog)
{
	log_state.tag = tag;
	log_state.syslog = to_syslog;
	if (to_syslog)
		openlog(tag, LOG_PID, LOG_DAEMON);
}

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

void log_set_sink(log_sink_fn sink, void *arg)
{
	log_state.sink = sink;
	log_state.sink_arg = arg;
}

__attribute__((format(printf, 3, 0))) static void
log_line(enum log_level level, int err, const char *fmt, va_list ap)
{
	char text[LOG_LINE_BYTES];
	size_t n;

	if (level > log_state.level)
		return;
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	n = strlen(text);
	if (err)
		(void)snprintf(text + n, sizeof(text) - n, ": %s",
			       strerror(err));
	if (log_state.syslog)
		syslog(log_priority[level], "%s", text);
	else
		/* One call, so that lines of threads do not mix. */
		(void)fprintf(stderr, "%s: %s%s\n", log_state.tag,
			      log_word[level], text);
	if (log_state.sink)
		log_state.sink(log_state.sink_arg, level, text);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LEVEL_DEBUG, 0, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LEVEL_INFO, 0, fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LEVEL_WARNING, saved, fmt, ap);
	va_end(ap);
	errno = saved;
}

void log_warnx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LEVEL_WARNING, 0, fmt, ap);
	va_end(ap);
}

void fatal(int code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LEVEL_ERROR, saved, fmt, ap);
	va_end(ap);
	exit(code);
}

void fatalx(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LEVEL_ERROR, 0, fmt, ap);
	va_end(ap);
	exit(code);
}
