#include "host/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bench/conf_load.h"

#define SLOTS_MAX           8 /* as the rig protocol has */
#define DISK_WAIT_MS        60000u
#define DISK_WAIT_NO_RIG_MS 10000u

/* ---- schema ----------------------------------------------------------- */

#define STRING(_key, _struct, _member)                                         \
	CYAML_FIELD_STRING_PTR(_key, CYAML_FLAG_POINTER, _struct, _member, 1,  \
			       4096)
#define STRING_OPT(_key, _struct, _member)                                     \
	CYAML_FIELD_STRING_PTR(_key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, \
			       _struct, _member, 1, 4096)
#define UINT_OPT(_key, _struct, _member)                                       \
	CYAML_FIELD_UINT(_key, CYAML_FLAG_OPTIONAL, _struct, _member)
#define LIST_OPT(_key, _struct, _member, _entry, _max)                         \
	CYAML_FIELD_SEQUENCE_COUNT(                                            \
		_key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, _struct,       \
		_member, n_##_member, _entry, 0, _max)

static const cyaml_schema_value_t string_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 4096),
};

static const cyaml_strval_t rig_types[] = {
	{ "none", BENCH_RIG_NONE },
	{ "socket", BENCH_RIG_SOCKET },
	{ "serial", BENCH_RIG_SERIAL },
	{ "virtual", BENCH_RIG_VIRTUAL },
};

static const cyaml_schema_field_t rig_fields[] = {
	CYAML_FIELD_ENUM("type", CYAML_FLAG_STRICT, struct bench_rig, type,
			 rig_types, CYAML_ARRAY_LEN(rig_types)),
	STRING_OPT("path", struct bench_rig, path),
	STRING_OPT("usb", struct bench_rig, usb),
	STRING_OPT("usb_serial", struct bench_rig, usb_serial),
	UINT_OPT("baud", struct bench_rig, baud),
	CYAML_FIELD_END
};

static const cyaml_strval_t agent_types[] = {
	{ "local", BENCH_AGENT_LOCAL },
	{ "stream", BENCH_AGENT_STREAM },
	{ "ssh", BENCH_AGENT_SSH },
	{ "virtual", BENCH_AGENT_VIRTUAL },
};

static const cyaml_schema_field_t agent_fields[] = {
	CYAML_FIELD_ENUM("type", CYAML_FLAG_STRICT, struct bench_agent, type,
			 agent_types, CYAML_ARRAY_LEN(agent_types)),
	STRING_OPT("path", struct bench_agent, path),
	STRING_OPT("host", struct bench_agent, host),
	LIST_OPT("command", struct bench_agent, command, &string_value, 64),
	CYAML_FIELD_END
};

static const cyaml_schema_field_t disk_fields[] = {
	STRING("serial", struct bench_disk, serial),
	CYAML_FIELD_INT("slot", CYAML_FLAG_OPTIONAL, struct bench_disk, slot),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t disk_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct bench_disk, disk_fields),
};

static const cyaml_schema_field_t kernel_fields[] = {
	STRING("name", struct bench_kernel, name),
	STRING_OPT("release", struct bench_kernel, release),
	LIST_OPT("boot", struct bench_kernel, boot, &string_value, 64),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t kernel_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct bench_kernel,
			    kernel_fields),
};

static const cyaml_schema_field_t virtual_fields[] = {
	LIST_OPT("kernels", struct bench_virtual, kernels, &string_value, 16),
	STRING_OPT("board", struct bench_virtual, board),
	UINT_OPT("memory_mb", struct bench_virtual, memory_mb),
	UINT_OPT("cpus", struct bench_virtual, cpus),
	UINT_OPT("disk_mb", struct bench_virtual, disk_mb),
	UINT_OPT("rate_mb_s", struct bench_virtual, rate_mb_s),
	CYAML_FIELD_END
};

static const cyaml_strval_t abort_policies[] = {
	{ "safe-off", BENCH_ABORT_SAFE_OFF },
	{ "hold", BENCH_ABORT_HOLD },
};

static const cyaml_schema_field_t bench_fields[] = {
	STRING("name", struct bench, name),
	CYAML_FIELD_MAPPING("rig", CYAML_FLAG_OPTIONAL, struct bench, rig,
			    rig_fields),
	CYAML_FIELD_MAPPING("agent", CYAML_FLAG_DEFAULT, struct bench, agent,
			    agent_fields),
	CYAML_FIELD_SEQUENCE_COUNT("disks", CYAML_FLAG_POINTER, struct bench,
				   disks, n_disks, &disk_value, 1, 256),
	LIST_OPT("kernels", struct bench, kernels, &kernel_value, 64),
	CYAML_FIELD_MAPPING_PTR("virtual",
				CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				struct bench, virt, virtual_fields),
	CYAML_FIELD_ENUM("abort", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL,
			 struct bench, abort, abort_policies,
			 CYAML_ARRAY_LEN(abort_policies)),
	UINT_OPT("disk_wait_s", struct bench, disk_wait_s),
	UINT_OPT("boot_wait_s", struct bench, boot_wait_s),
	CYAML_FIELD_END
};

static const cyaml_schema_value_t bench_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct bench, bench_fields),
};

/* rig: none is rig: {type: none}. */
static enum conf_shape shape(const char *parent, const char *key)
{
	bool typed = strcmp(key, "rig") == 0 || strcmp(key, "agent") == 0;

	return !*parent && typed ? CONF_TYPE : CONF_AS_IS;
}

/* ---- facts that span keys --------------------------------------------- */

/* The name becomes part of a path. */
static bool is_name(const char *s)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return *s && *s != '.' && strlen(s) <= 32 && strspn(s, ok) == strlen(s);
}

static int check_rig(const struct conf *f, const struct bench *b,
		     struct err *err)
{
	const struct bench_rig *r = &b->rig;
	unsigned vid, pid;
	char rest;

	if (r->type == BENCH_RIG_SOCKET && !r->path)
		return conf_fail(f, err, -EINVAL, "rig.type",
				 "a rig on a socket needs rig.path");
	if (r->type == BENCH_RIG_SERIAL && !r->path && !r->usb)
		return conf_fail(f, err, -EINVAL, "rig.type",
				 "a serial rig needs rig.usb (\"VID:PID\") "
				 "or rig.path (a tty)");
	if (r->usb && sscanf(r->usb, "%4x:%4x%c", &vid, &pid, &rest) != 2)
		return conf_fail(f, err, -EINVAL, "rig.usb",
				 "'%s' is no USB id, write \"0403:6001\"",
				 r->usb);
	if (r->type == BENCH_RIG_VIRTUAL && !b->virt)
		return conf_fail(f, err, -EINVAL, "rig.type",
				 "a virtual rig needs a 'virtual:' section");
	return 0;
}

static int check_agent(const struct conf *f, const struct bench *b,
		       struct err *err)
{
	const struct bench_agent *a = &b->agent;

	if (a->type == BENCH_AGENT_STREAM && !a->path)
		return conf_fail(f, err, -EINVAL, "agent.type",
				 "an agent on a stream needs agent.path "
				 "(a Unix socket)");
	if (a->type == BENCH_AGENT_SSH && !a->host)
		return conf_fail(f, err, -EINVAL, "agent.type",
				 "an agent over ssh needs agent.host");
	if (a->host && a->host[0] == '-')
		return conf_fail(f, err, -EINVAL, "agent.host",
				 "a host name does not start with '-'");
	if (a->type == BENCH_AGENT_VIRTUAL && !b->virt)
		return conf_fail(f, err, -EINVAL, "agent.type",
				 "a virtual agent needs a 'virtual:' "
				 "section");
	return 0;
}

static int check_slot(const struct conf *f, struct bench *b, unsigned i,
		      struct err *err)
{
	char path[64];
	unsigned k;

	snprintf(path, sizeof(path), "disks[%u].slot", i);
	/* libcyaml leaves 0 for a key that is not there. */
	if (!conf_line(f, path)) {
		b->disks[i].slot = -1;
		if (b->rig.type == BENCH_RIG_NONE)
			return 0;
		return conf_fail(f, err, -EINVAL, path,
				 "disk %s needs its slot of the "
				 "rig (or write rig: {type: none})",
				 b->disks[i].serial);
	}
	if (b->disks[i].slot < 0 || b->disks[i].slot >= SLOTS_MAX)
		return conf_fail(f, err, -EINVAL, path,
				 "slot %d is not in 0..%d", b->disks[i].slot,
				 SLOTS_MAX - 1);
	for (k = 0; k < i; k++)
		if (b->disks[k].slot == b->disks[i].slot)
			return conf_fail(f, err, -EINVAL, path,
					 "slot %d already holds "
					 "disk %s",
					 b->disks[i].slot, b->disks[k].serial);
	return 0;
}

static int check_disks(const struct conf *f, struct bench *b, struct err *err)
{
	char path[64];
	unsigned i, k;
	int ret = 0;

	for (i = 0; i < b->n_disks && ret == 0; i++) {
		snprintf(path, sizeof(path), "disks[%u].serial", i);
		for (k = 0; k < i; k++)
			if (strcmp(b->disks[k].serial, b->disks[i].serial) == 0)
				return conf_fail(f, err, -EINVAL, path,
						 "disk %s is "
						 "listed twice",
						 b->disks[i].serial);
		ret = check_slot(f, b, i, err);
	}
	return ret;
}

static int check(const struct conf *f, struct bench *b, struct err *err)
{
	int ret;

	if (!is_name(b->name))
		return conf_fail(f, err, -EINVAL, "name",
				 "name '%s' must be 1..32 "
				 "letters, digits, '.', '_' or '-'",
				 b->name);
	ret = check_rig(f, b, err);
	if (ret == 0)
		ret = check_agent(f, b, err);
	if (ret == 0)
		ret = check_disks(f, b, err);
	return ret;
}

/* ---- public ----------------------------------------------------------- */

/* Takes f. */
static int from_yaml(struct conf *f, const char *name, struct bench **out,
		     struct err *err)
{
	struct bench *b = NULL;
	int ret;

	ret = conf_load(f, &bench_schema, shape, (void **)&b, err);
	if (ret < 0) {
		conf_free(f);
		return ret;
	}
	b->file = f;
	b->source = strdup(name);
	ret = b->source ? check(f, b, err) : err_sys(err, -ENOMEM, "%s", name);
	if (ret < 0)
		bench_free(b);
	else
		*out = b;
	return ret;
}

int bench_load(const char *path, struct bench **out, struct err *err)
{
	struct conf *f;
	int ret;

	ret = conf_open(path, &f, err);
	if (ret < 0)
		return ret;
	return from_yaml(f, path, out, err);
}

int bench_parse(const char *name, const char *text, size_t len,
		struct bench **out, struct err *err)
{
	struct conf *f;
	int ret;

	ret = conf_parse(name, text, len, &f, err);
	if (ret < 0)
		return ret;
	return from_yaml(f, name, out, err);
}

void bench_free(struct bench *b)
{
	if (!b)
		return;
	free(b->source);
	conf_free(b->file);
	conf_data_free(&bench_schema, b);
}

const struct bench_disk *bench_disk_find(const struct bench *b,
					 const char *serial)
{
	unsigned i;

	for (i = 0; i < b->n_disks; i++)
		if (strcmp(b->disks[i].serial, serial) == 0)
			return &b->disks[i];
	return NULL;
}

uint32_t bench_disk_wait_ms(const struct bench *b)
{
	if (b->disk_wait_s)
		return 1000 * b->disk_wait_s;
	return b->rig.type == BENCH_RIG_NONE ? DISK_WAIT_NO_RIG_MS
					     : DISK_WAIT_MS;
}

bool bench_is_virtual(const struct bench *b)
{
	return b->rig.type == BENCH_RIG_VIRTUAL ||
	       b->agent.type == BENCH_AGENT_VIRTUAL;
}

int bench_run_dir(const struct bench *b, char *buf, size_t len)
{
	const char *dir = getenv("BAY_RUN_DIR");
	const char *base = getenv("XDG_RUNTIME_DIR");
	int n;

	if (dir && *dir)
		n = snprintf(buf, len, "%s", dir);
	else
		n = snprintf(buf, len, "%s/bay-%u/%s",
			     base && *base ? base : "/tmp", (unsigned)getuid(),
			     b->name);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/* Of the address of a Unix socket (unix(7)), its final 0 included. */
#define SOCKET_PATH_BYTES 108

int bench_run_dir_check(const struct bench *b, struct err *err)
{
	char dir[4 * SOCKET_PATH_BYTES] = "";
	size_t longest = sizeof("/backplane-rig.sock");
	unsigned i;
	int ret;

	ret = bench_run_dir(b, dir, sizeof(dir));
	for (i = 0; bench_is_virtual(b) && i < b->n_disks; i++) {
		size_t n = sizeof("/disk-.nbd") + strlen(b->disks[i].serial);

		if (n > longest)
			longest = n;
	}
	if (ret < 0 || strlen(dir) + longest > SOCKET_PATH_BYTES)
		return err_set(err, -ENAMETOOLONG,
			       "run folder %s is too long for its sockets; set "
			       "BAY_RUN_DIR to a shorter one",
			       dir);
	if (dir[0] != '/' || strchr(dir, ','))
		return err_set(err, -EINVAL,
			       "run folder '%s' must be absolute and have no "
			       "comma; see BAY_RUN_DIR in bay(1)",
			       dir);
	return 0;
}
