#include "host/agent/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/util/fs.h"
#include "host/util/parse.h"

#define MOUNTS_MAX_BYTES (4u * 1024 * 1024)

/* Next field of a line, with \ooo resolved. False at the end of the line or
 * when it does not fit. */
static bool mounts_field(const char **p, const char *end, char *out,
			 size_t size)
{
	const char *s = *p;
	size_t n = 0;

	while (s < end && *s == ' ')
		s++;
	if (s == end)
		return false;
	while (s < end && *s != ' ') {
		char c = *s++;

		if (c == '\\' && end - s >= 3 && s[0] >= '0' && s[0] <= '3') {
			c = (char)((s[0] - '0') << 6 | (s[1] & 7) << 3 |
				   (s[2] & 7));
			s += 3;
		}
		if (n + 1 >= size)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	*p = s;
	return true;
}

/* Fields: id parent major:minor root point options [optional...] - type
 * source super_options */
bool mounts_parse(const char *line, size_t len, struct mount *out)
{
	const char *end = line + len;
	char text[1024];
	char colon;

	*out = (struct mount){ 0 };
	for (int i = 0; i < 6; i++) {
		if (!mounts_field(&line, end, text, sizeof(text)))
			return false;
		if (i == 2 && sscanf(text, "%u%c%u", &out->major, &colon,
				     &out->minor) != 3)
			return false;
		if (i == 4 && !str_copy(out->point, sizeof(out->point), text))
			return false;
	}
	do {
		if (!mounts_field(&line, end, text, sizeof(text)))
			return false;
	} while (strcmp(text, "-") != 0);
	if (!mounts_field(&line, end, out->fs_type, sizeof(out->fs_type)) ||
	    !mounts_field(&line, end, out->source, sizeof(out->source)))
		return false;
	/* Long options of network mounts are cut, not an error. */
	(void)mounts_field(&line, end, out->options, sizeof(out->options));
	return true;
}

int mounts_each(const char *root, bool (*fn)(void *arg, const struct mount *m),
		void *arg)
{
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	struct mount m;
	int stop = 0;
	int rc = fs_path(path, "%s/proc/self/mountinfo", root);

	if (!rc)
		rc = fs_read(path, MOUNTS_MAX_BYTES, &b);
	if (rc) {
		buf_free(&b);
		return rc;
	}
	for (const char *p = buf_str(&b); *p && !stop;) {
		size_t len = strcspn(p, "\n");

		if (mounts_parse(p, len, &m))
			stop = fn(arg, &m);
		p += len + (p[len] == '\n');
	}
	buf_free(&b);
	return stop;
}

struct mounts_query {
	unsigned major, minor;
	const char *node; /* kernel name; also matches the source /dev/NODE */
	struct mount hit;
};

/* btrfs shows an anonymous device number, so the source counts as well. */
static bool mounts_match(void *arg, const struct mount *m)
{
	struct mounts_query *q = arg;
	const char *base = strrchr(m->source, '/');

	if ((q->major && m->major == q->major && m->minor == q->minor) ||
	    (base && str_starts(m->source, "/dev/") &&
	     strcmp(base + 1, q->node) == 0)) {
		q->hit = *m;
		return true;
	}
	return false;
}

static bool mounts_is_swap(const char *root, const char *node)
{
	char path[FS_PATH_BYTES];
	struct buf b = { 0 };
	char key[128];
	bool found = false;

	(void)snprintf(key, sizeof(key), "\n/dev/%s ", node);
	if (fs_path(path, "%s/proc/swaps", root) == 0 &&
	    fs_read(path, 65536, &b) == 0)
		found = strstr(buf_str(&b), key) != NULL;
	buf_free(&b);
	return found;
}

int mounts_user_of(const char *root, const char *disk, const char *part,
		   char *by, size_t size)
{
	struct mounts_query q = { .node = *part ? part : disk };
	char path[FS_PATH_BYTES];
	char text[32];
	int rc;

	by[0] = '\0';
	rc = fs_path(path, "%s/sys/block/%s%s%s/dev", root, disk,
		     *part ? "/" : "", part);
	if (!rc && fs_read_line(path, text, sizeof(text)) == 0)
		(void)sscanf(text, "%u:%u", &q.major, &q.minor);
	if (!rc)
		rc = mounts_each(root, mounts_match, &q);
	if (rc < 0)
		return rc;
	if (rc > 0)
		(void)snprintf(by, size, "%s is mounted on %s", q.node,
			       q.hit.point);
	else if (mounts_is_swap(root, q.node))
		(void)snprintf(by, size, "%s is swap", q.node);
	return 0;
}

struct mounts_point {
	const char *point;
	struct mount *out;
	bool found;
};

static bool mounts_same_point(void *arg, const struct mount *m)
{
	struct mounts_point *q = arg;

	if (strcmp(m->point, q->point) == 0) {
		*q->out = *m;
		q->found = true;
	}
	return false; /* the last one is on top */
}

bool mounts_at(const char *root, const char *point, struct mount *out)
{
	struct mounts_point q = { .point = point, .out = out };

	return mounts_each(root, mounts_same_point, &q) >= 0 && q.found;
}
