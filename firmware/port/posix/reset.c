/* A reset is the process executing itself anew: all variables are fresh, as
 * on a chip; sockets and the lasting memory stay open. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware/hal/reset.h"
#include "firmware/port/posix/posix.h"

#define HANDOVER "BAY_POSIX_RESET"

/* Decimal digits and a space behind *end; no snprintf() in a handler. */
static char *put_number(char *end, int64_t value)
{
	char digits[20];
	size_t n = 0;

	if (value < 0) {
		*end++ = '-';
		value = -value;
	}
	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*end++ = digits[--n];
	*end++ = ' ';
	*end = '\0';
	return end;
}

/* Runs in the handler of the watchdog too: no call but execve(). */
_Noreturn void hal_reset(reset_cause why)
{
	static char text[256] = HANDOVER "=";
	static char *envp[] = { text, NULL };
	char *end = text + sizeof(HANDOVER);

	end = put_number(end, (int64_t)why);
	end = put_number(end, posix.uart.listener);
	end = put_number(end, posix.uart.client);
	end = put_number(end, posix.backplane.listener);
	end = put_number(end, posix.backplane.client);
	end = put_number(end, posix.lasting_fd);
	put_number(end, (int64_t)posix.now_us);
	execve("/proc/self/exe", posix.argv, envp);
	_exit(70);
}

bool posix_inherit(void)
{
	const char *text = getenv(HANDOVER);
	int why;

	if (!text || sscanf(text, "%d %d %d %d %d %d %" SCNu64, &why,
			    &posix.uart.listener, &posix.uart.client,
			    &posix.backplane.listener, &posix.backplane.client,
			    &posix.lasting_fd, &posix.now_us) != 7)
		return false;
	posix.cause = (reset_cause)why;
	return true;
}

reset_cause hal_reset_cause(void)
{
	return posix.cause;
}

void *hal_retained(size_t size)
{
	return size <= POSIX_RETAINED_BYTES ? posix.lasting->retained : NULL;
}

size_t hal_unique_id(uint8_t id[16])
{
	uint64_t number = (uint64_t)getuid() << 32 | (uint32_t)getppid();

	memset(id, 0, 16);
	memcpy(id, &number, sizeof(number));
	return sizeof(number);
}
