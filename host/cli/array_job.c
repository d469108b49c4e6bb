#include "host/cli/array_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/bench/lock.h"
#include "host/rig/rig_bench.h"

#define POWER_MS 120000u

int array_job_complain(struct array_job *j, int rc)
{
	fprintf(stderr, "bay: %s\n", j->err.text);
	if (rc == -EPERM ||
	    (rc == -EREMOTEIO && j->dut &&
	     dut_refusal(j->dut) == BAY__AGENT_STATUS__AGENT_REFUSED))
		return BAY_REFUSED;
	if (rc == -EREMOTEIO)
		return BAY_FAILED;
	return dut_is_unreachable(rc) || rig_is_unreachable(rc)
		       ? BAY_UNREACHABLE
		       : BAY_FAILED;
}

int array_job_open(struct array_job *j)
{
	struct dut_client_cfg cfg = { .loop = &j->loop, .bench = j->bench };
	int ret;

	j->lock = bench_lock(j->bench, "array", &j->err);
	if (j->lock < 0) {
		fprintf(stderr, "bay: %s\n", j->err.text);
		return BAY_REFUSED;
	}
	if (uv_loop_init(&j->loop) < 0)
		return BAY_FAILED;
	j->has_loop = true;
	ret = dut_open(&cfg, &j->dut, &j->err);
	return ret < 0 ? array_job_complain(j, ret) : -1;
}

static int open_rig(struct array_job *j)
{
	struct rig_cfg cfg = { .loop = &j->loop,
			       .events_since = RIG_EVENTS_NEW };
	char path[256];
	int ret;

	if (j->bench->rig.type == BENCH_RIG_NONE)
		return 0;
	ret = rig_bench_address(j->bench, &cfg.address, path, sizeof(path),
				&j->err);
	return ret < 0 ? ret : rig_open(&cfg, &j->rig, &j->err);
}

void array_job_close(struct array_job *j)
{
	rig_close(j->rig);
	dut_close(j->dut);
	if (j->has_loop) {
		uv_run(&j->loop, UV_RUN_NOWAIT);
		uv_loop_close(&j->loop);
	}
	bench_unlock(j->lock);
	while (j->spec.n_serial)
		free(j->spec.serial[--j->spec.n_serial]);
	free(j->spec.serial);
	while (j->fs.n_mkfs_option)
		free(j->fs.mkfs_option[--j->fs.n_mkfs_option]);
	free(j->fs.mkfs_option);
}

int array_job_ask(struct array_job *j, Bay__Request *req, uint32_t ms,
		  Bay__Reply **out)
{
	return dut_call(j->dut, req, ms, out, &j->err);
}

int array_job_ask_arrays(struct array_job *j, const char *name,
			 Bay__Reply **out)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__ArrayShowReq show = BAY__ARRAY_SHOW_REQ__INIT;
	int ret;

	show.name = (char *)name;
	req.op_case = BAY__REQUEST__OP_ARRAY_SHOW;
	req.array_show = &show;
	ret = array_job_ask(j, &req, ARRAY_STEP_MS, out);
	if (ret == 0 &&
	    ((*out)->body_case != BAY__REPLY__BODY_ARRAYS || !(*out)->arrays)) {
		bay__reply__free_unpacked(*out, NULL);
		return err_set(&j->err, -EPROTO, "the agent answers nonsense");
	}
	return ret;
}

int array_job_power_up(struct array_job *j)
{
	Bay__Request req = BAY__REQUEST__INIT;
	Bay__WaitDisksReq w = BAY__WAIT_DISKS_REQ__INIT;
	uint32_t mask = 0;
	size_t i;
	int ret;

	ret = open_rig(j);
	/* Without a rig a slot is only where the disk is. */
	for (i = 0; i < j->spec.n_serial && ret == 0 && j->rig; i++) {
		int32_t slot =
			bench_disk_find(j->bench, j->spec.serial[i])->slot;

		/* A disk that the rig does not switch always has power. */
		if (slot >= 0)
			mask |= 1u << slot;
	}
	if (ret == 0 && mask)
		ret = rig_hold_power(j->rig, mask, &j->err);
	if (ret == 0 && mask)
		ret = rig_slot_set_and_wait(j->rig, mask, true, POWER_MS, NULL,
					    &j->err);
	if (ret < 0)
		return ret;
	w.serial = j->spec.serial;
	w.n_serial = j->spec.n_serial;
	w.timeout_ms = bench_disk_wait_ms(j->bench);
	req.op_case = BAY__REQUEST__OP_WAIT_DISKS;
	req.wait_disks = &w;
	return array_job_ask(j, &req, w.timeout_ms + 15000, NULL);
}
