/* Reset. The workload was ended by peer.c, which cancels it before this request
 * is taken from the queue. */
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
