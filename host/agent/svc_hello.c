/* Hello: who speaks, which disks may be touched, what this agent can do. */
#include "host/agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/util/clock.h"
#include "host/util/log.h"
#include "host/util/parse.h"
#include "host/util/run.h"
#include "host/workload/workload.h"

#define HELLO_TOOL_MS 10000

/* Tools whose version is part of what a result means. */
static const char *const hello_tools[][2] = {
	{ "mdadm", "--version" }, { "mkfs.ext4", "-V" },
	{ "mkfs.xfs", "-V" },     { "mkfs.btrfs", "--version" },
	{ "dd", "--version" },    { "fio", "--version" },
};

#define HELLO_TOOLS (sizeof(hello_tools) / sizeof(*hello_tools))

/* First line of what it says, on stdout or stderr. */
static void hello_add_tool(struct agent *a, const char *name,
			   struct run_child *c)
{
	struct buf *b = c->out.len ? &c->out : &c->err;
	Bay__Param *p = arena_alloc(&a->tools, sizeof(*p));

	if (!b->len)
		return;
	b->data[strcspn(b->data, "\n")] = '\0';
	bay__param__init(p);
	p->name = arena_strdup(&a->tools, name);
	p->value = arena_strdup(&a->tools, str_trim(b->data));
	a->tool[a->tool_count++] = p;
}

void agent_tools(struct agent *a, Bay__Param ***tool, size_t *count)
{
	struct run_child child[HELLO_TOOLS];
	struct run_child *list[HELLO_TOOLS];

	if (!a->tool) {
		a->tool = arena_array(&a->tools, HELLO_TOOLS, sizeof(*a->tool));
		for (size_t i = 0; i < HELLO_TOOLS; i++) {
			const char *const argv[] = { hello_tools[i][0],
						     hello_tools[i][1], NULL };
			const struct run_spec spec = { .argv = argv };

			list[i] = run_start(&child[i], &spec, NULL) ? NULL
								    : &child[i];
		}
		(void)run_wait(list, HELLO_TOOLS, HELLO_TOOL_MS, a->cancel_fd);
		for (size_t i = 0; i < HELLO_TOOLS; i++) {
			if (!list[i])
				continue;
			hello_add_tool(a, hello_tools[i][0], &child[i]);
			(void)run_close(&child[i], 0);
		}
	}
	*tool = a->tool;
	*count = a->tool_count;
}

static int hello_allow(struct agent *a, const Bay__AgentHello *h)
{
	char **list = calloc(h->n_allowed_serial + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (; n < h->n_allowed_serial; n++) {
		list[n] = strdup(h->allowed_serial[n]);
		if (!list[n])
			break;
	}
	for (size_t i = 0; i < a->allowed_count; i++)
		free(a->allowed[i]);
	free(a->allowed);
	a->allowed = list;
	a->allowed_count = n; /* fewer than asked for is safe */
	return n == h->n_allowed_serial ? 0 : -ENOMEM;
}

static char **hello_layouts(struct arena *arena, size_t *count)
{
	struct argv v = { .arena = arena };

	for (size_t i = 0; array_kinds[i]; i++)
		argv_add(&v, array_kinds[i]->layout);
	*count = v.count;
	return (char **)(uintptr_t)v.arg;
}

static char **hello_workloads(struct arena *arena, size_t *count)
{
	struct argv v = { .arena = arena };

	for (size_t i = 0; workload_kinds[i]; i++)
		argv_add(&v, workload_kinds[i]->name);
	*count = v.count;
	return (char **)(uintptr_t)v.arg;
}

static char **hello_knobs(struct arena *arena, size_t *count)
{
	struct argv v = { .arena = arena };

	for (size_t i = 0; knob_kinds[i].name; i++)
		argv_add(&v, knob_kinds[i].name);
	*count = v.count;
	return (char **)(uintptr_t)v.arg;
}

static void hello_fill(struct call *call, Bay__AgentHelloAck *ack)
{
	struct agent *a = call->agent;
	struct utsname uts;
	char host[256] = "";

	bay__agent_hello_ack__init(ack);
	(void)uname(&uts);
	(void)gethostname(host, sizeof(host) - 1);
	ack->major = AGENT_MAJOR;
	ack->minor = AGENT_MINOR;
	ack->agent_version = arena_strdup(call->arena, BAY_VERSION);
	ack->incarnation = a->incarnation;
	ack->boot_id = a->boot_id;
	ack->hostname = arena_strdup(call->arena, host);
	ack->kernel_release = arena_strdup(call->arena, uts.release);
	ack->kernel_version = arena_strdup(call->arena, uts.version);
	ack->spooled = spool_count(&a->spool);
	ack->unrestored = a->knobs.count;
	agent_tools(a, &ack->tool_version, &ack->n_tool_version);
	ack->layout = hello_layouts(call->arena, &ack->n_layout);
	ack->workload = hello_workloads(call->arena, &ack->n_workload);
	ack->knob = hello_knobs(call->arena, &ack->n_knob);
	ack->monotonic_ns = clock_mono_ns();
}

int svc_hello(struct call *call)
{
	const Bay__AgentHello *h = call->req->hello;
	Bay__AgentHelloAck *ack;
	int rc;

	if (h->major != AGENT_MAJOR)
		return err_set(
			&call->err, -EOPNOTSUPP,
			"the controller speaks version %u of the agent's "
			"protocol, this agent speaks %u; install the "
			"same bay on both machines",
			h->major, AGENT_MAJOR);
	rc = hello_allow(call->agent, h);
	if (rc)
		return rc;
	call->agent->hello_done = true;
	log_info("controller %s, %zu disks allowed", h->controller,
		 h->n_allowed_serial);
	ack = arena_alloc(call->arena, sizeof(*ack));
	hello_fill(call, ack);
	call->reply->body_case = BAY__REPLY__BODY_HELLO;
	call->reply->hello = ack;
	return 0;
}
