/* host/agent/spool.h - results on disk until the controller has them.
 *
 * A result's file is ID.cell: "BAYS", u32 LE length, u32 LE crc32c, packed
 * CellResult. It appears whole or not at all, and goes only by spool_ack. */
#ifndef HOST_AGENT_SPOOL_H
#define HOST_AGENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/util/arena.h"
#include "host/util/buf.h"
#include "host/util/err.h"
#include "host/util/fs.h"

#define SPOOL_ID_BYTES   48u
#define SPOOL_RESULT_MAX (4u * 1024 * 1024 - 4096) /* fits one frame */
#define SPOOL_COUNT_MAX  1024u

/* What the spool does to the world: a seam for tests. Each returns 0 (or a
 * descriptor, or bytes) or -errno. */
struct spool_ops {
	int (*create)(void *arg, const char *path); /* for writing, new */
	int (*reserve)(void *arg, int fd, uint64_t bytes);
	int (*write)(void *arg, int fd, const void *data, size_t len);
	int (*sync)(void *arg, int fd, uint64_t len); /* cut to len, fsync */
	int (*close)(void *arg, int fd);
	int (*rename)(void *arg, const char *from, const char *to); /* durable*/
	int (*unlink)(void *arg, const char *path);                 /* durable*/
	int (*read)(void *arg, const char *path, size_t max, struct buf *out);
	void *arg;
};

extern const struct spool_ops spool_ops_files;

struct spool {
	const struct spool_ops *ops;
	char dir[FS_PATH_BYTES];
	char prefix[24]; /* of new ids: differs in each agent process */
	unsigned next;
	/* the reservation, between spool_reserve and commit or release */
	char id[SPOOL_ID_BYTES];
	int fd; /* -1: none */
};

struct spool_item {
	char id[SPOOL_ID_BYTES];
	uint64_t bytes;
};

/* dir exists. Half-written files of a dead agent are removed. */
int spool_open(struct spool *s, const struct spool_ops *ops, const char *dir,
	       uint64_t incarnation, struct err *err);
void spool_close(struct spool *s);

/* Room for one result of any size, on disk, before its workload starts; its id
 * is s->id. -ENOSPC and a sentence: the disk is full, or SPOOL_COUNT_MAX
 * results were never fetched. */
int spool_reserve(struct spool *s, struct err *err);
/* Make the reserved result durable. After a failure the reservation still
 * stands, and nothing half-written can be read. */
int spool_commit(struct spool *s, const void *data, size_t len,
		 struct err *err);
/* Give the reservation up; none is fine. */
void spool_release(struct spool *s);

/* All results, oldest first, in arena. */
int spool_list(const struct spool *s, struct arena *arena,
	       struct spool_item **out, size_t *count);
unsigned spool_count(const struct spool *s);
/* Packed CellResult into out. -ENOENT; -EBADMSG: the file is damaged. */
int spool_get(const struct spool *s, const char *id, struct buf *out);
/* Take a damaged result out of the list; its file is kept as ID.cell.bad. */
int spool_set_aside(const struct spool *s, const char *id);
/* Forget a result; one that is not there is success. */
int spool_ack(struct spool *s, const char *id);

#endif
