/* boards/virtual/disk/timing.c - seek, rotation and zones of a hard disk. */
#include "boards/virtual/disk/timing.h"

#include <math.h>

#define NS_PER_S  1000000000ull
#define NS_PER_US 1000ull

static uint64_t span_ns(uint64_t bytes, uint64_t rate)
{
	if (rate == 0)
		return 0;
	return (uint64_t)((unsigned __int128)bytes * NS_PER_S / rate);
}

void timing_init(struct timing *t, const struct vdisk_cfg *cfg, uint64_t phase)
{
	uint64_t size = cfg->size_bytes;
	int64_t fall = (int64_t)cfg->inner_rate - (int64_t)cfg->outer_rate;

	t->start_byte[0] = 0;
	t->start_ns[0] = 0;
	for (unsigned z = 0; z < TIMING_ZONES; z++) {
		int64_t step = fall * (int64_t)z / (int64_t)(TIMING_ZONES - 1);

		t->rate[z] = (uint64_t)((int64_t)cfg->outer_rate + step);
		t->start_byte[z + 1] = size / TIMING_ZONES * (z + 1);
		if (z + 1 == TIMING_ZONES)
			t->start_byte[z + 1] = size;
		t->start_ns[z + 1] =
			t->start_ns[z] +
			span_ns(t->start_byte[z + 1] - t->start_byte[z],
				t->rate[z]);
	}
	t->rev_ns = 0;
	if (cfg->rpm > 0 && cfg->outer_rate > 0)
		t->rev_ns = 60 * NS_PER_S / cfg->rpm;
	t->phase_ns = t->rev_ns > 0 ? phase % t->rev_ns : 0;
	t->track_ns = cfg->seek_track_us * NS_PER_US;
	t->avg_ns = cfg->seek_avg_us * NS_PER_US;
	t->full_ns = cfg->seek_full_us * NS_PER_US;
}

uint64_t timing_at(const struct timing *t, uint64_t byte)
{
	unsigned z = 0;

	while (z + 1 < TIMING_ZONES && byte >= t->start_byte[z + 1])
		z++;
	return t->start_ns[z] + span_ns(byte - t->start_byte[z], t->rate[z]);
}

uint64_t timing_transfer_ns(const struct timing *t, uint64_t byte, uint64_t n)
{
	return timing_at(t, byte + n) - timing_at(t, byte);
}

uint64_t timing_seek_ns(const struct timing *t, uint64_t from, uint64_t to)
{
	double whole = (double)t->start_ns[TIMING_ZONES];
	uint64_t a = timing_at(t, from);
	uint64_t b = timing_at(t, to);
	double far;

	if (a == b)
		return 0;
	far = (double)(a > b ? a - b : b - a) / whole;
	if (far * 3 <= 1)
		return t->track_ns +
		       (uint64_t)((double)(t->avg_ns - t->track_ns) *
				  sqrt(3 * far));
	return t->avg_ns +
	       (uint64_t)((double)(t->full_ns - t->avg_ns) * (far * 3 - 1) / 2);
}

uint64_t timing_position_ns(const struct timing *t, uint64_t from, uint64_t to,
			    uint64_t now_ns)
{
	uint64_t a = timing_at(t, from);
	uint64_t b = timing_at(t, to);
	uint64_t seek;
	uint64_t here;

	/* A short gap ahead passes under the head sooner than a seek ends. */
	if (b >= a && b - a <= t->track_ns)
		seek = 0;
	else
		seek = timing_seek_ns(t, from, to);
	if (t->rev_ns == 0)
		return seek;
	here = (now_ns + seek + t->phase_ns) % t->rev_ns;
	return seek + (b % t->rev_ns + t->rev_ns - here) % t->rev_ns;
}
