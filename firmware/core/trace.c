#include "firmware/core/trace.h"

#include <string.h>

void trace_init(struct trace *t)
{
	memset(t, 0, sizeof(*t));
}

void trace_tail_init(struct trace_tail *tail)
{
	memset(tail, 0, sizeof(*tail));
	tail->slot = TRACE_NOBODY;
}

static uint8_t coarse(int64_t value, int64_t unit)
{
	int64_t n = (value + unit / 2) / unit;

	if (n < 0)
		return 0;
	return n > 255 ? 255 : (uint8_t)n;
}

uint8_t trace_volts(unsigned rail, int32_t mv)
{
	static const uint8_t below[] = { 2, 10, 50, 89 };
	int32_t percent = mv * 100 / rail_nominal_mv(rail);

	for (unsigned i = 0; i < sizeof(below); i++) {
		if (percent < below[i])
			return (uint8_t)i;
	}
	percent = 4 + (percent - 89) / 2;
	return percent > 15 ? 15 : (uint8_t)percent;
}

static struct trace_point point_of(const struct rail_sample *s,
				   uint32_t last_us)
{
	uint32_t step_us = last_us ? (uint32_t)s->at_us - last_us : 0;
	struct trace_point p = {
		.step = coarse(step_us, 100),
		.ma_5v = coarse(s->ma[RAIL_5V], 20),
		.ma_12v = coarse(s->ma[RAIL_12V], 32),
		.volts = (uint8_t)(trace_volts(RAIL_5V, s->mv[RAIL_5V]) |
				   trace_volts(RAIL_12V, s->mv[RAIL_12V]) << 4),
	};

	return p;
}

static void tail_feed(struct trace_tail *tail, const struct rail_sample *s)
{
	if (tail->count == TRACE_AFTER)
		return;
	tail->after[tail->count++] = point_of(s, tail->last_us);
	tail->last_us = (uint32_t)s->at_us;
}

void trace_feed(struct trace *t, struct trace_tail *tail, unsigned slot,
		const struct rail_sample *s)
{
	if (t->frozen) {
		if (tail->slot == slot)
			tail_feed(tail, s);
		return;
	}
	t->before[t->next] = point_of(s, t->last_us);
	t->last_us = (uint32_t)s->at_us;
	t->next = (uint8_t)((t->next + 1u) % TRACE_BEFORE);
	if (t->count < TRACE_BEFORE)
		t->count++;
}

void trace_freeze(struct trace *t, struct trace_tail *tail, unsigned slot)
{
	t->frozen = true;
	if (tail->slot != TRACE_NOBODY && tail->slot != slot &&
	    tail->count < TRACE_AFTER)
		return;
	tail->slot = (uint8_t)slot;
	tail->count = 0;
	tail->last_us = t->last_us;
}

void trace_release(struct trace *t, struct trace_tail *tail, unsigned slot)
{
	trace_init(t);
	if (tail->slot == slot)
		tail->slot = TRACE_NOBODY;
}

size_t trace_read(const struct trace *t, const struct trace_tail *tail,
		  unsigned slot, size_t first, struct trace_point *out,
		  size_t cap)
{
	size_t n = 0;

	if (first >= TRACE_BEFORE) {
		first -= TRACE_BEFORE;
		while (tail->slot == slot && n < cap &&
		       first + n < tail->count) {
			out[n] = tail->after[first + n];
			n++;
		}
		return n;
	}
	while (n < cap && first + n < t->count) {
		size_t at = t->next + TRACE_BEFORE - t->count + first + n;

		out[n++] = t->before[at % TRACE_BEFORE];
	}
	return n;
}
