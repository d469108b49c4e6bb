#include "host/sample/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "host/util/clock.h"
#include "host/util/fs.h"

#define SAMPLER_TEXT_BYTES (256u * 1024)
#define SAMPLER_STAT_BYTES 512u /* only its first line counts */
#define SAMPLER_POINTS_MIN 16u
/* A page less the longest line of the files read: 17 numbers of a disk. */
#define SAMPLER_SHORT_BYTES (4096 - 512)
/* Longer numbers move the last wanted line down; past this much the file is
 * read whole again. */
#define SAMPLER_VM_SLACK 256u
/* Encoded bytes of one device's, and of the host's, part of a point: tags and
 * varints of 17 and 24 numbers, most of 3 to 5 bytes. */
#define SAMPLER_DISK_ENCODED 96u
#define SAMPLER_HOST_ENCODED 160u

const char *const sample_vm_names[VM_COUNT] = {
	"nr_dirty",
	"nr_writeback",
	"nr_dirtied",
	"nr_written",
	"nr_dirty_threshold",
	"nr_dirty_background_threshold",
	"pgpgin",
	"pgpgout",
};

const char *const sample_mem_names[MEM_COUNT] = {
	"MemFree", "MemAvailable", "Cached", "Dirty", "Writeback",
};

enum sampler_file {
	FILE_DISKSTATS,
	FILE_STAT,
	FILE_VMSTAT,
	FILE_MEMINFO,
	FILE_COUNT
};

static const char *const sampler_paths[FILE_COUNT] = {
	"/proc/diskstats",
	"/proc/stat",
	"/proc/vmstat",
	"/proc/meminfo",
};

struct sampler {
	struct sampler_cfg cfg;
	int fd[FILE_COUNT];
	int stop_fd;
	char *text;
	struct text_keys vm_keys, mem_keys;
	uint64_t period_ns;
	uint64_t slow_next_ns;
	size_t vm_bytes; /* of vmstat that are read */
	struct sample_device device[SAMPLE_DEVICES_MAX];
	struct sample_point *point;
	uint64_t (*disk)[DISK_COUNTERS];
	struct sample_series series;
	/* Guards point and series.count against sampler_written_per_s. */
	pthread_mutex_t lock;
	pthread_t thread;
	bool running;
};

size_t sampler_points_for(size_t bytes, unsigned devices)
{
	size_t n = bytes / (SAMPLER_HOST_ENCODED +
			    (size_t)devices * SAMPLER_DISK_ENCODED);

	return n < SAMPLER_POINTS_MIN ? SAMPLER_POINTS_MIN : n;
}

/* A whole /proc file, or the first size bytes of it, into s->text; its length,
 * or -errno. The kernel answers a read with a page of text, less only what the
 * next record did not fit into (fs/seq_file.c), so a shorter one is the last.
 */
static ssize_t sampler_read(struct sampler *s, enum sampler_file file,
			    size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = pread(s->fd[file], s->text + len, size - len, (off_t)len);
		if (n > 0)
			len += (size_t)n;
	} while ((n >= SAMPLER_SHORT_BYTES && len < size) ||
		 (n < 0 && errno == EINTR));
	return n < 0 ? -errno : (ssize_t)len;
}

static void sampler_cut_vm(struct sampler *s, size_t len)
{
	size_t want =
		text_keys_end(&s->vm_keys, s->text, len) + SAMPLER_VM_SLACK;

	s->vm_bytes = want < SAMPLER_TEXT_BYTES ? want : SAMPLER_TEXT_BYTES;
}

/* The kernel makes the text line by line as it is asked for, and what is wanted
 * stands in its first third. */
static int sampler_read_vm(struct sampler *s, struct sample_point *p)
{
	ssize_t n = sampler_read(s, FILE_VMSTAT, s->vm_bytes);

	if (n >= 0 && !text_keys_read(&s->vm_keys, s->text, (size_t)n, p->vm)) {
		n = sampler_read(s, FILE_VMSTAT, SAMPLER_TEXT_BYTES);
		if (n < 0)
			return (int)n;
		(void)text_keys_read(&s->vm_keys, s->text, (size_t)n, p->vm);
		sampler_cut_vm(s, (size_t)n);
	}
	return n < 0 ? (int)n : 0;
}

/* /proc/stat and /proc/meminfo cost the kernel more than the other files
 * together (every interrupt of every CPU is summed), and nobody needs them more
 * often than once a second. */
static int sampler_read_slow(struct sampler *s, struct sample_point *p)
{
	ssize_t n;

	if (p->t_ns < s->slow_next_ns)
		return 0;
	/* A single read: the line of all CPUs comes first. */
	n = pread(s->fd[FILE_STAT], s->text, SAMPLER_STAT_BYTES, 0);
	if (n < 0)
		return -errno;
	s->series.cpu_fields = text_stat(s->text, (size_t)n, p->cpu);
	n = sampler_read(s, FILE_MEMINFO, SAMPLER_TEXT_BYTES);
	if (n < 0)
		return (int)n;
	p->has_slow =
		text_keys_read(&s->mem_keys, s->text, (size_t)n, p->mem_kb);
	s->slow_next_ns = p->t_ns + NS_PER_S - s->period_ns / 2;
	return 0;
}

static int sampler_read_disks(struct sampler *s, uint64_t (*row)[DISK_COUNTERS])
{
	ssize_t n = sampler_read(s, FILE_DISKSTATS, SAMPLER_TEXT_BYTES);

	if (n < 0)
		return (int)n;
	for (unsigned i = 0; i < s->series.devices; i++) {
		unsigned count = text_diskstats(s->text, (size_t)n,
						s->device[i].node, row[i]);

		/* A pulled disk keeps its last counters. */
		if (count)
			s->series.counters[i] = count;
	}
	return 0;
}

/* Keep every second point: half the rate, the same span. */
static void sampler_thin(struct sampler *s)
{
	unsigned devices = s->series.devices;
	size_t kept = (s->series.count + 1) / 2;

	for (size_t i = 1; i < kept; i++) {
		s->point[i] = s->point[2 * i];
		memcpy(s->disk[i * devices], s->disk[2 * i * devices],
		       devices * sizeof(*s->disk));
	}
	s->series.count = kept;
	s->period_ns *= 2;
}

int sampler_take(struct sampler *s)
{
	unsigned devices = s->series.devices;
	struct sample_point *p;
	uint64_t(*row)[DISK_COUNTERS];
	size_t i;
	int rc;

	pthread_mutex_lock(&s->lock);
	if (s->series.count == s->cfg.max_points)
		sampler_thin(s);
	pthread_mutex_unlock(&s->lock);
	i = s->series.count;
	p = &s->point[i];
	row = &s->disk[i * devices];
	if (i > 0) {
		*p = p[-1];
		memcpy(row, row - devices, devices * sizeof(*row));
	}
	p->has_slow = false;
	/* The written counter and the disks' are read next to their time. */
	p->t_ns = clock_mono_ns();
	rc = sampler_read_vm(s, p);
	if (!rc)
		rc = sampler_read_disks(s, row);
	if (!rc)
		rc = sampler_read_slow(s, p);
	if (rc)
		return rc;
	s->series.taken++;
	pthread_mutex_lock(&s->lock);
	s->series.count++;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static uint64_t sampler_cpu_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* True: time to end. */
static bool sampler_sleep(const struct sampler *s, uint64_t until_ns)
{
	struct pollfd p = { s->stop_fd, POLLIN, 0 };
	uint64_t now = clock_mono_ns();
	uint64_t left = until_ns > now ? until_ns - now : 0;
	const struct timespec ts = { (time_t)(left / NS_PER_S),
				     (long)(left % NS_PER_S) };

	return ppoll(&p, 1, &ts, NULL) > 0;
}

static void *sampler_main(void *arg)
{
	struct sampler *s = arg;
	uint64_t next = s->point[0].t_ns + s->period_ns;
	uint64_t before = sampler_cpu_ns();

	while (!sampler_sleep(s, next)) {
		uint64_t now;

		(void)sampler_take(s);
		next += s->period_ns;
		now = clock_mono_ns();
		while (next <= now) {
			next += s->period_ns;
			s->series.late++;
		}
	}
	s->series.cpu_ns = sampler_cpu_ns() - before;
	return NULL;
}

static int sampler_open_files(struct sampler *s, struct err *err)
{
	char path[FS_PATH_BYTES];

	for (int i = 0; i < FILE_COUNT; i++) {
		int rc = fs_path(path, "%s%s", s->cfg.root, sampler_paths[i]);

		if (rc)
			return err_sys(err, rc, "root of the sampler");
		s->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (s->fd[i] < 0)
			return err_sys(err, -errno, "cannot open %s", path);
	}
	return 0;
}

static int sampler_find_keys(struct sampler *s, struct err *err)
{
	ssize_t n = sampler_read(s, FILE_VMSTAT, SAMPLER_TEXT_BYTES);

	if (n >= 0) {
		text_keys_find(&s->vm_keys, s->text, (size_t)n, sample_vm_names,
			       VM_COUNT);
		sampler_cut_vm(s, (size_t)n);
	}
	if (n >= 0)
		n = sampler_read(s, FILE_MEMINFO, SAMPLER_TEXT_BYTES);
	if (n < 0)
		return err_sys(err, (int)n, "cannot read the counters");
	text_keys_find(&s->mem_keys, s->text, (size_t)n, sample_mem_names,
		       MEM_COUNT);
	return 0;
}

static int sampler_allocate(struct sampler *s)
{
	const struct sampler_cfg *cfg = &s->cfg;

	s->text = malloc(SAMPLER_TEXT_BYTES);
	s->point = calloc(cfg->max_points, sizeof(*s->point));
	s->disk = calloc(cfg->max_points * (cfg->devices ? cfg->devices : 1),
			 sizeof(*s->disk));
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!s->text || !s->point || !s->disk)
		return -ENOMEM;
	return s->stop_fd < 0 ? -errno : 0;
}

static int sampler_check(const struct sampler_cfg *cfg, struct err *err)
{
	if (cfg->hz < 1 || cfg->hz > SAMPLE_HZ_MAX)
		return err_set(err, -EINVAL, "sample_hz %u is not from 1 to %u",
			       cfg->hz, SAMPLE_HZ_MAX);
	if (cfg->devices > SAMPLE_DEVICES_MAX ||
	    cfg->max_points < SAMPLER_POINTS_MIN)
		return err_set(err, -EINVAL,
			       "%u devices or %zu points cannot be sampled",
			       cfg->devices, cfg->max_points);
	return 0;
}

struct sampler *sampler_new(const struct sampler_cfg *cfg, struct err *err)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int rc = s ? sampler_check(cfg, err) : -ENOMEM;

	if (!s) {
		errno = ENOMEM;
		return NULL;
	}
	s->cfg = *cfg;
	s->stop_fd = -1;
	memset(s->fd, -1, sizeof(s->fd));
	(void)pthread_mutex_init(&s->lock, NULL);
	if (!rc)
		rc = sampler_allocate(s);
	if (!rc)
		rc = sampler_open_files(s, err);
	if (!rc)
		rc = sampler_find_keys(s, err);
	if (rc) {
		sampler_free(s);
		errno = -rc;
		return NULL;
	}
	if (cfg->devices)
		memcpy(s->device, cfg->device,
		       cfg->devices * sizeof(*s->device));
	s->series.device = s->device;
	s->series.devices = cfg->devices;
	s->period_ns = NS_PER_S / cfg->hz;
	return s;
}

int sampler_start(struct sampler *s, struct err *err)
{
	int rc = sampler_take(s);

	if (!rc)
		rc = -pthread_create(&s->thread, NULL, sampler_main, s);
	if (rc)
		return err_sys(err, rc, "cannot start the sampler");
	s->running = true;
	return 0;
}

void sampler_stop(struct sampler *s)
{
	if (!s->running)
		return;
	(void)eventfd_write(s->stop_fd, 1);
	(void)pthread_join(s->thread, NULL);
	s->running = false;
	s->slow_next_ns = 0; /* the last sample has everything */
	(void)sampler_take(s);
}

const struct sample_series *sampler_series(struct sampler *s)
{
	s->series.point = s->point;
	s->series.disk = (const uint64_t(*)[DISK_COUNTERS])s->disk;
	return &s->series;
}

double sampler_written_per_s(struct sampler *s)
{
	double rate = 0.0;

	pthread_mutex_lock(&s->lock);
	if (s->series.count >= 2) {
		const struct sample_point *b = &s->point[s->series.count - 1];
		const struct sample_point *a = b;

		while (a > s->point && b->t_ns - a->t_ns < NS_PER_S)
			a--;
		rate = (double)(b->vm[VM_NR_WRITTEN] - a->vm[VM_NR_WRITTEN]) *
		       1e9 / (double)(b->t_ns - a->t_ns);
	}
	pthread_mutex_unlock(&s->lock);
	return rate;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	sampler_stop(s);
	for (int i = 0; i < FILE_COUNT; i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
	}
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	free(s->text);
	free(s->point);
	free(s->disk);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}
