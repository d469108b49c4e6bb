/* Reset. The workload was ended by server.c, which cancels what runs and waits
 * before this request is put into the queue. */
#include "host/agent/agent.h"
#include "host/agent/teardown.h"

int svc_reset(struct call *call)
{
	Bay__ResetState *state = arena_alloc(call->arena, sizeof(*state));

	bay__reset_state__init(state);
	teardown_all(call->agent, call->arena, state);
	call->reply->body_case = BAY__REPLY__BODY_RESET;
	call->reply->reset = state;
	return 0;
}
