/* host/bench/dut.h - client of bay-agent on the machine under test.
 *
 * Lives on the caller's libuv loop. The functions that wait run the loop until
 * the answer or a deadline, so that the rig's client goes on meanwhile; they
 * must not be called from a callback. One thread.
 *
 * Errors: 0 or -errno with one sentence in err (may be NULL):
 *   -ETIMEDOUT   the agent is silent
 *   -ENOTCONN    nobody at the other end, or it hung up
 *   -ECONNRESET  another agent process answers now; the request was lost
 *   -EPROTO      another major version, or nonsense
 *   -ECANCELED   dut_cancel()
 *   -EREMOTEIO   the agent answered and refused or failed; dut_refusal()
 * dut_is_unreachable() tells which of them mean exit code 5. */
#ifndef HOST_BENCH_DUT_H
#define HOST_BENCH_DUT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/bench/bench.h"
#include "host/util/err.h"
#include "proto/agent.pb-c.h"

#define DUT_MAJOR 1u
#define DUT_MINOR 0u

/* Defaults, ms. */
#define DUT_OPEN_MS    10000u
#define DUT_ANSWER_MS  60000u
#define DUT_PING_MS    2000u
#define DUT_SILENCE_MS 30000u

struct dut_client_cfg {
	uv_loop_t *loop;
	const struct bench *bench;
	/* Called while the loop runs; must not wait. May be NULL. */
	void (*event)(void *arg, const Bay__AgentEvent *ev);
	void *arg;
	uint32_t open_ms;    /* connection and hello; 0 = default */
	uint32_t ping_ms;    /* while an answer is due; 0 = default */
	uint32_t silence_ms; /* no bytes for so long: -ETIMEDOUT; 0 = default */
};

struct dut;

/* Connect, or start the child, and say hello with the bench's allow-list; try
 * again until open_ms have passed. On failure nothing is left behind. */
int dut_open(const struct dut_client_cfg *cfg, struct dut **out,
	     struct err *err);

/* Close and free; ends a child that was started. NULL is accepted. */
void dut_close(struct dut *d);

/* Hang up and connect anew, for at most ms: after a reboot, a reset or a lost
 * agent. hello is said again. */
int dut_reopen(struct dut *d, uint32_t ms, struct err *err);

/* Make the wait that runs, and every later one, end with -ECANCELED. May be
 * called from a callback. dut_resume() undoes it. */
void dut_cancel(struct dut *d);
void dut_resume(struct dut *d);

bool dut_is_connected(const struct dut *d);
/* The last hello's answer. Valid until the next dut_reopen() or dut_close(). */
const Bay__AgentHelloAck *dut_hello(const struct dut *d);

/* Ask and wait.
 *   ms   0 = DUT_ANSWER_MS
 *   out  the reply, whose arrays all have a spec; freed by the caller with
 *        bay__reply__free_unpacked(r, NULL); may be NULL; set on 0 only */
int dut_call(struct dut *d, Bay__Request *req, uint32_t ms, Bay__Reply **out,
	     struct err *err);

/* Ask without waiting for the answer, which is dropped: Cancel, SpoolAck. */
int dut_tell(struct dut *d, Bay__Request *req, struct err *err);

/* The disk of an inventory with this serial or WWN; NULL: it is not there. */
const Bay__BlockDev *dut_find_dev(const Bay__Inventory *inv, const char *id);

/* Status of the last -EREMOTEIO. */
Bay__AgentStatus dut_refusal(const struct dut *d);
bool dut_is_unreachable(int rc);

/* "ssh root@dut", "socket /run/x": for messages. */
const char *dut_where(const struct dut *d);

/* Run the loop for ms, or until dut_cancel(): -ECANCELED. */
int dut_run(struct dut *d, uint32_t ms);

#endif
