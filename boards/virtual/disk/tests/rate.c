/* boards/virtual/disk/tests/rate.c - sequential write rate of modelled disks in
 * real time, each in its nbdkit, all at once, against the rate that was asked
 * for. Prints a line a disk and one with the least and the greatest ratio.
 *
 * Measured over the last three quarters: by then the write cache is full and a
 * write is done when the media has made room for it.
 *
 * Usage: vdisk-rate PLUGIN.so MB_S MIB DEPTH DISKS */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "boards/virtual/disk/tests/nbd_disk.h"

#define BLOCK     262144u
#define DEPTH_MAX 64u
#define DISKS_MAX 8u

struct run {
	unsigned rate_mb_s, mib, depth, disks;
};

struct stream {
	struct nbd_disk disk;
	char *buf; /* DEPTH_MAX blocks */
	pthread_t thread;
	unsigned next, done, total, depth;
	double start_s;
	double end_s; /* 0: goes on */
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int block_done(void *user, int *error)
{
	struct stream *s = user;

	if (*error != 0)
		errx(1, "write: error %d", *error);
	s->done++;
	if (s->done == s->total / 4)
		s->start_s = now_s();
	if (s->done == s->total)
		s->end_s = now_s();
	return 1;
}

static void keep_busy(struct stream *s)
{
	nbd_completion_callback done = { .callback = block_done,
					 .user_data = s };

	while (s->next < s->total && s->next - s->done < s->depth) {
		char *buf = s->buf + (size_t)(s->next % s->depth) * BLOCK;

		if (nbd_aio_pwrite(s->disk.h, buf, BLOCK,
				   (uint64_t)s->next * BLOCK, done, 0) < 0)
			errx(1, "%s", nbd_get_error());
		s->next++;
	}
}

/* One thread a disk: a stream must not wait for another's socket. */
static void *stream_main(void *arg)
{
	struct stream *s = arg;

	while (s->end_s == 0) {
		keep_busy(s);
		if (nbd_poll(s->disk.h, -1) < 0)
			errx(1, "%s", nbd_get_error());
	}
	return NULL;
}

static void open_stream(struct stream *s, const char *plugin,
			const struct run *run)
{
	char rate[32];
	char size[32];
	const char *const params[] = { rate, size, "readahead=0", NULL };

	snprintf(rate, sizeof(rate), "rate_mb_s=%u", run->rate_mb_s);
	snprintf(size, sizeof(size), "size=%uM", run->mib + 16);
	s->depth = run->depth;
	s->total = run->mib * (1048576u / BLOCK);
	s->buf = calloc(DEPTH_MAX, BLOCK);
	nbd_disk_init(&s->disk);
	nbd_disk_start(&s->disk, plugin, params);
}

static void close_stream(struct stream *s)
{
	nbd_disk_stop(&s->disk, SIGTERM);
	nbd_disk_fini(&s->disk);
	free(s->buf);
}

static double report(const struct stream *s, unsigned i, const struct run *run)
{
	unsigned blocks = s->total - s->total / 4;
	double mb_s = blocks * (BLOCK / 1e6) / (s->end_s - s->start_s);
	double ratio = mb_s / run->rate_mb_s;

	printf("disk %u: %.3f MB/s, measured/configured %.4f\n", i, mb_s,
	       ratio);
	return ratio;
}

static void measure(const char *plugin, const struct run *run)
{
	static struct stream streams[DISKS_MAX];
	double least = 1e9;
	double most = 0;

	for (unsigned i = 0; i < run->disks; i++)
		open_stream(&streams[i], plugin, run);
	for (unsigned i = 0; i < run->disks; i++)
		if (pthread_create(&streams[i].thread, NULL, stream_main,
				   &streams[i]) != 0)
			errx(1, "cannot start a thread");
	for (unsigned i = 0; i < run->disks; i++)
		pthread_join(streams[i].thread, NULL);
	for (unsigned i = 0; i < run->disks; i++) {
		double ratio = report(&streams[i], i, run);

		least = ratio < least ? ratio : least;
		most = ratio > most ? ratio : most;
		close_stream(&streams[i]);
	}
	printf("ratio %.4f %.4f\n", least, most);
}

int main(int argc, char **argv)
{
	struct run run;

	if (argc != 6)
		errx(2, "usage: vdisk-rate PLUGIN.so MB_S MIB DEPTH DISKS");
	run.rate_mb_s = (unsigned)strtoul(argv[2], NULL, 10);
	run.mib = (unsigned)strtoul(argv[3], NULL, 10);
	run.depth = (unsigned)strtoul(argv[4], NULL, 10);
	run.disks = (unsigned)strtoul(argv[5], NULL, 10);
	if (run.rate_mb_s == 0 || run.mib == 0 || run.mib > 65536 ||
	    run.depth == 0 || run.depth > DEPTH_MAX || run.disks == 0 ||
	    run.disks > DISKS_MAX)
		errx(2, "MB_S, MIB, DEPTH or DISKS is out of range");
	measure(argv[1], &run);
	return 0;
}
