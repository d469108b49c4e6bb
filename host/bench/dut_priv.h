/* host/bench/dut_priv.h - the agent's client in two files: dut_conn.c has the
 * connection, dut.c asks on it. */
#ifndef HOST_BENCH_DUT_PRIV_H
#define HOST_BENCH_DUT_PRIV_H

#include "host/bench/dut.h"
#include "host/util/run.h"
#include "proto/link/delim.h"

struct dut {
	struct dut_client_cfg cfg;
	char where[256];
	bool cancelled;

	/* connection */
	uv_pipe_t *pipe; /* freed by its close callback */
	struct run_child child;
	bool has_child;
	int fail; /* why the connection ended, 0 = it stands */
	uint8_t *buf;
	struct delim delim;
	uint64_t incarnation;
	bool heard; /* bytes came in this turn of the loop */

	/* request in flight */
	bool greeting; /* it is hello, which is said again until answered */
	uint32_t next_id;
	uint32_t wait_id; /* 0 = none */
	Bay__Reply *reply;

	Bay__AgentHelloAck *hello;
	Bay__AgentStatus refusal;
	uv_timer_t timer; /* wakes a wait */
};

/* Connect anew, once; what stood before is hung up. Frames that come in set
 * reply, fail and incarnation. 0 or -errno and a sentence. */
int dut_connect(struct dut *d, struct err *err);

/* Nothing is left of the connection; a child has ended. */
void dut_hang_up(struct dut *d);

#endif
