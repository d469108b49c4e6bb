#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "firmware/hal/reset.h"
#include "firmware/port/posix/posix.h"

#define ARGS_MAX 5u

/* What a line may say; its arguments are decimal numbers. */
struct line_kind {
	const char *word;
	unsigned args;
	void (*take)(const int64_t *arg);
};

static int rail_name(unsigned rail)
{
	return rail == RAIL_5V ? 5 : 12;
}

static void take_rail(const int64_t *arg)
{
	unsigned rail = arg[1] == 12 ? RAIL_12V : RAIL_5V;
	struct parts_rail *r;

	if (arg[0] < 0 || arg[0] >= RIG_SLOTS_MAX)
		return;
	r = &posix.parts.rail[(size_t)arg[0] * RIG_RAILS + rail];
	r->vout_mv = (int32_t)arg[2];
	r->iout_ma = (int32_t)arg[3];
	r->vin_mv = (int32_t)arg[4];
}

static void take_temperature(const int64_t *arg)
{
	posix.parts.thermometer.mdegc = (int32_t)arg[0];
}

static void take_activity(const int64_t *arg)
{
	bool active = !arg[1];

	if (arg[0] < 0 || arg[0] >= RIG_SLOTS_MAX)
		return;
	if (active && !posix.active[arg[0]])
		posix.edges[arg[0]]++;
	posix.active[arg[0]] = active;
}

static void take_part(const int64_t *arg)
{
	struct parts *p = &posix.parts;
	bool present = arg[1] != 0;

	if (arg[0] >= PARTS_RAIL_FIRST &&
	    arg[0] < PARTS_RAIL_FIRST + PARTS_RAILS)
		p->rail[arg[0] - PARTS_RAIL_FIRST].present = present;
	else if (arg[0] == p->thermometer_address)
		p->thermometer.present = present;
	else if (arg[0] == p->eeprom_address)
		p->eeprom.present = present;
}

static void take_advance(const int64_t *arg)
{
	if (posix.stepped && arg[0] > 0)
		posix.now_us += (uint64_t)arg[0];
	posix_backplane_say("now %" PRIu64 "\n", posix.now_us);
}

static void take_reset(const int64_t *arg)
{
	hal_reset((reset_cause)arg[0]);
}

static void take_hang(const int64_t *arg)
{
	(void)arg;
	posix.hang = true;
}

static const struct line_kind kinds[] = {
	{ "rail", 5, take_rail },
	{ "temperature", 1, take_temperature },
	{ "activity", 2, take_activity },
	{ "part", 2, take_part },
	{ "advance", 1, take_advance },
	{ "reset", 1, take_reset },
	{ "hang", 0, take_hang },
};

/* Returns how many numbers text held; more than ARGS_MAX: garbage. */
static unsigned parse_numbers(const char *text, int64_t *arg)
{
	unsigned n = 0;
	char *end;

	while (*text) {
		long long v;

		errno = 0;
		v = strtoll(text, &end, 10);
		if (end == text || errno || n == ARGS_MAX)
			return ARGS_MAX + 1;
		arg[n++] = v;
		text = end;
		while (*text == ' ')
			text++;
	}
	return n;
}

void posix_backplane_line(const char *line)
{
	int64_t arg[ARGS_MAX] = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i].word);

		if (strncmp(line, kinds[i].word, len) != 0 ||
		    (line[len] && line[len] != ' '))
			continue;
		if (parse_numbers(line + len, arg) == kinds[i].args)
			kinds[i].take(arg);
		return;
	}
}

void posix_backplane_say(const char *format, ...)
{
	char line[BACKPLANE_PROTO_LINE];
	va_list ap;
	int len;

	if (posix.backplane.client < 0)
		return;
	va_start(ap, format);
	len = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (send(posix.backplane.client, line, (size_t)len, MSG_NOSIGNAL) !=
	    len)
		posix_close_client(&posix.backplane);
}

void posix_backplane_hello(void)
{
	posix.line_len = 0;
	posix_backplane_say("hello %d %u\n", BACKPLANE_PROTO_VERSION,
			    (unsigned)board.slots);
	for (unsigned i = 0; i < board.slots * RIG_RAILS; i++) {
		if (posix.gate[i])
			posix_backplane_say("gate %u %d 1\n", i / RIG_RAILS,
					    rail_name(i % RIG_RAILS));
	}
}

/* A line that does not fit is cut; what is left of it is then no known line
 * either. */
static void take_byte(char c)
{
	if (c != '\n') {
		if (posix.line_len < sizeof(posix.line) - 1)
			posix.line[posix.line_len++] = c;
		return;
	}
	posix.line[posix.line_len] = '\0';
	posix.line_len = 0;
	posix_backplane_line(posix.line);
}

void posix_backplane_read(void)
{
	char buf[512];
	ssize_t n = recv(posix.backplane.client, buf, sizeof(buf), 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		posix_close_client(&posix.backplane);
		return;
	}
	for (ssize_t i = 0; i < n; i++)
		take_byte(buf[i]);
}
