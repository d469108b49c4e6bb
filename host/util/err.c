#include "host/util/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void
err_vset(struct err *err, const char *fmt, va_list ap)
{
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	err_vset(err, fmt, ap);
	va_end(ap);
	return code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (!err)
		return code;
	va_start(ap, fmt);
	err_vset(err, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	(void)snprintf(err->text + n, sizeof(err->text) - n, ": %s",
		       strerror(-code));
	return code;
}
