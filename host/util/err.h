/* host/util/err.h - one sentence of detail beside a -errno. */
#ifndef HOST_UTIL_ERR_H
#define HOST_UTIL_ERR_H

#define ERR_TEXT_BYTES 512

/* Caller's memory; text is always terminated. Zero-initialise it. */
struct err {
	char text[ERR_TEXT_BYTES];
};

/* Store one sentence and return code, so that a failing function can end with
 * `return err_set(err, -EBUSY, "...")`. err may be NULL: only code counts. */
__attribute__((format(printf, 3, 4))) int err_set(struct err *err, int code,
						  const char *fmt, ...);

/* As err_set with ": <text of code>" appended. code is -errno. */
__attribute__((format(printf, 3, 4))) int err_sys(struct err *err, int code,
						  const char *fmt, ...);

#endif
