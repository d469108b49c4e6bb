#include "host/agent/agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "host/agent/record.h"
#include "host/util/log.h"

static int agent_make_folders(const struct agent_cfg *cfg, struct err *err)
{
	static const char *const sub[] = { "", "/spool", "/arrays", "/mnt" };
	char path[FS_PATH_BYTES];

	for (size_t i = 0; i < sizeof(sub) / sizeof(*sub); i++) {
		int rc = fs_path(path, "%s%s", cfg->state_dir, sub[i]);

		if (!rc)
			rc = fs_mkdirs(path);
		if (rc)
			return err_sys(err, rc, "cannot make %s", path);
	}
	return 0;
}

static int agent_read_boot_id(struct agent *a, struct err *err)
{
	char path[FS_PATH_BYTES];
	int rc =
		fs_path(path, "%s/proc/sys/kernel/random/boot_id", a->cfg.root);

	if (!rc)
		rc = fs_read_line(path, a->boot_id, sizeof(a->boot_id));
	return rc ? err_sys(err, rc, "cannot read %s", path) : 0;
}

/* What an agent that died left changed is put back before anything else. */
static int agent_open_knobs(struct agent *a, struct err *err)
{
	char path[FS_PATH_BYTES];
	unsigned restored;
	int rc = fs_path(path, "%s/knobs.journal", a->cfg.state_dir);

	if (!rc)
		rc = knob_journal_open(&a->knobs, &knob_ops_files, path,
				       a->boot_id, err);
	if (rc == -EBADMSG) {
		log_warnx("%s", err->text);
		rc = 0;
	}
	if (rc || !a->knobs.count)
		return rc;
	/* Still changed ones are counted in each AgentHelloAck. */
	if (knob_restore(&a->knobs, &restored, err))
		log_warnx("%s", err->text);
	if (restored)
		log_info("put back %u settings of an agent that died",
			 restored);
	return 0;
}

int agent_open(struct agent *a, const struct agent_cfg *cfg, struct err *err)
{
	char path[FS_PATH_BYTES];
	int rc;

	a->cfg = *cfg;
	a->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->cancel_fd < 0 ||
	    getrandom(&a->incarnation, sizeof(a->incarnation), 0) !=
		    (ssize_t)sizeof(a->incarnation))
		return err_sys(err, -errno, "cannot set up");
	rc = agent_make_folders(cfg, err);
	if (!rc)
		rc = agent_read_boot_id(a, err);
	if (!rc)
		rc = agent_open_knobs(a, err);
	if (!rc)
		record_check_all(a);
	if (!rc)
		rc = fs_path(path, "%s/spool", cfg->state_dir);
	if (!rc)
		rc = spool_open(&a->spool, &spool_ops_files, path,
				a->incarnation, err);
	return rc;
}

void agent_close(struct agent *a)
{
	spool_close(&a->spool);
	for (size_t i = 0; i < a->allowed_count; i++)
		free(a->allowed[i]);
	free(a->allowed);
	arena_free(&a->tools);
	if (a->cancel_fd >= 0)
		close(a->cancel_fd);
}

bool agent_allows(const struct agent *a, const char *serial)
{
	for (size_t i = 0; i < a->allowed_count; i++) {
		if (*serial && strcmp(a->allowed[i], serial) == 0)
			return true;
	}
	return false;
}

bool agent_cancelled(const struct agent *a)
{
	struct pollfd p = { a->cancel_fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

static void *agent_arena_alloc(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void agent_arena_free(void *arena, void *p)
{
	(void)arena;
	(void)p;
}

ProtobufCAllocator agent_arena_allocator(struct arena *arena)
{
	return (ProtobufCAllocator){ agent_arena_alloc, agent_arena_free,
				     arena };
}

struct array_env agent_array_env(const struct agent *a)
{
	return (struct array_env){ a->cfg.root, a->cancel_fd };
}

void agent_progress(struct agent *a, const char *key, const char *phase,
		    double done, double rate_mb_s)
{
	Bay__AgentEvent event = BAY__AGENT_EVENT__INIT;
	Bay__Progress p = BAY__PROGRESS__INIT;

	if (!a->port.event)
		return;
	p.cell_key = (char *)(uintptr_t)key;
	p.phase = (char *)(uintptr_t)phase;
	p.done = done;
	p.rate_mb_s = rate_mb_s;
	event.body_case = BAY__AGENT_EVENT__BODY_PROGRESS;
	event.progress = &p;
	a->port.event(a->port.arg, &event);
}

Bay__AgentStatus agent_status(int code)
{
	static const struct {
		int code;
		Bay__AgentStatus status;
	} map[] = {
		{ 0, BAY__AGENT_STATUS__AGENT_OK },
		{ -EINVAL, BAY__AGENT_STATUS__AGENT_INVALID },
		{ -ENAMETOOLONG, BAY__AGENT_STATUS__AGENT_INVALID },
		{ -EPERM, BAY__AGENT_STATUS__AGENT_REFUSED },
		{ -ENOTUNIQ, BAY__AGENT_STATUS__AGENT_REFUSED },
		{ -ENOENT, BAY__AGENT_STATUS__AGENT_MISSING },
		{ -ENODEV, BAY__AGENT_STATUS__AGENT_MISSING },
		{ -ENXIO, BAY__AGENT_STATUS__AGENT_MISSING },
		{ -EBUSY, BAY__AGENT_STATUS__AGENT_BUSY },
		{ -ETIMEDOUT, BAY__AGENT_STATUS__AGENT_TIMEOUT },
		{ -ECANCELED, BAY__AGENT_STATUS__AGENT_CANCELLED },
		{ -EOPNOTSUPP, BAY__AGENT_STATUS__AGENT_UNSUPPORTED },
		{ -ENOSPC, BAY__AGENT_STATUS__AGENT_NO_SPACE },
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++) {
		if (map[i].code == code)
			return map[i].status;
	}
	return BAY__AGENT_STATUS__AGENT_FAILED;
}

static int agent_dispatch(struct call *call)
{
	const struct service *s = service_find(call->req->op_case);

	if (!s)
		return err_set(&call->err, -EOPNOTSUPP,
			       "this agent does not know request %d",
			       (int)call->req->op_case);
	if (!call->agent->hello_done && !s->before_hello)
		return err_set(&call->err, -EINVAL,
			       "%s before hello: say the list of allowed disks "
			       "first",
			       s->name);
	return s->handle(call);
}

void agent_answer(struct agent *a, const Bay__Request *req, Bay__Reply *reply,
		  struct arena *arena)
{
	struct call call = {
		.agent = a, .req = req, .reply = reply, .arena = arena
	};
	int rc = agent_dispatch(&call);

	reply->status = agent_status(rc);
	if (!rc)
		return;
	reply->body_case = BAY__REPLY__BODY__NOT_SET;
	if (!call.err.text[0])
		(void)err_sys(&call.err, rc, "the request failed");
	reply->error_text = arena_strdup(arena, call.err.text);
}
