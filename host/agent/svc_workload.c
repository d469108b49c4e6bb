/* One cell's measured part: workload, sampler, result, spool. */
#include "host/agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/agent/cell.h"
#include "host/agent/disk.h"
#include "host/agent/kmsg.h"
#include "host/util/clock.h"
#include "host/util/log.h"
#include "host/util/parse.h"

#define WORKLOAD_TIMEOUT_MAX_S (7u * 24 * 3600)
#define WORKLOAD_SERIES_BYTES  (SPOOL_RESULT_MAX - 512u * 1024)
#define WORKLOAD_MB            1048576.0

/* A request whose reply was lost: its result waits in the spool. */
static bool workload_in_spool(struct call *call, const Bay__WorkloadReq *req)
{
	const struct spool *s = &call->agent->spool;
	struct spool_item *item;
	size_t count;

	if (spool_list(s, call->arena, &item, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const Bay__CellResult *r;

		if (agent_spool_result(call, item[i].id))
			continue;
		r = call->reply->result;
		if (r->attempt == req->attempt &&
		    strcmp(r->key, req->cell->key) == 0)
			return true;
	}
	call->reply->body_case = BAY__REPLY__BODY__NOT_SET;
	call->reply->result = NULL;
	return false;
}

static int workload_check_cell(struct call *call, const Bay__WorkloadReq *req)
{
	const Bay__Cell *cell = req->cell;

	if (!cell || !cell->workload || !cell->array || !cell->key[0])
		return err_set(&call->err, -EINVAL,
			       "the cell lacks a key, an array or a workload");
	if (cell->sample_hz < 1 || cell->sample_hz > SAMPLE_HZ_MAX)
		return err_set(&call->err, -EINVAL,
			       "sample_hz %u is not from 1 to %u",
			       cell->sample_hz, SAMPLE_HZ_MAX);
	if (cell->timeout_s < 1 || cell->timeout_s > WORKLOAD_TIMEOUT_MAX_S)
		return err_set(&call->err, -EINVAL,
			       "timeout_s %u is not from 1 to %u",
			       cell->timeout_s, WORKLOAD_TIMEOUT_MAX_S);
	return 0;
}

static int workload_load_array(struct call *call, struct cell_run *run)
{
	int rc = record_load(call->agent, run->req->array, call->arena,
			     &run->record, &call->err);

	if (!rc)
		rc = record_spec(run->req->array, run->record.spec, &run->spec,
				 call->arena, &call->err);
	if (!rc)
		rc = record_targets(call->agent, &run->record, call->arena,
				    &run->target, &run->targets, &call->err);
	for (size_t i = 0; !rc && i < run->record.spec->n_serial; i++) {
		if (!agent_allows(call->agent, run->record.spec->serial[i]))
			rc = err_set(&call->err, -EPERM,
				     "disk %s is not on the bench's list of "
				     "disks, so nothing was done",
				     run->record.spec->serial[i]);
	}
	return rc;
}

static uint64_t workload_device_bytes(const struct agent *a, const char *node)
{
	char path[FS_PATH_BYTES];
	uint64_t sectors = 0;

	if (fs_path(path, "%s/sys/block/%s/size", a->cfg.root, node) == 0)
		(void)fs_read_u64(path, &sectors);
	return sectors * 512;
}

static int workload_targets(struct call *call, struct cell_run *run)
{
	const Bay__Cell *cell = run->req->cell;
	bool raw = !cell->fs || !cell->fs->type[0];
	struct workload_target *t =
		arena_array(call->arena, run->targets, sizeof(*t));

	for (size_t i = 0; i < run->targets; i++) {
		if (!raw && !run->target[i].mounted)
			return err_set(
				&call->err, -EINVAL,
				"array %s is not mounted; mount it first",
				run->record.name);
		if (raw && run->target[i].mounted)
			return err_set(&call->err, -EBUSY,
				       "array %s is mounted on %s, so its "
				       "devices cannot be written raw",
				       run->record.name, run->target[i].point);
		t[i].is_device = raw;
		t[i].path = raw ? run->target[i].device : run->target[i].point;
		if (raw)
			t[i].size_bytes = workload_device_bytes(
				call->agent, run->target[i].node);
	}
	run->workload.target = t;
	run->workload.targets = (unsigned)run->targets;
	return 0;
}

static int workload_params(struct call *call, struct cell_run *run)
{
	const Bay__WorkloadSpec *spec = run->req->cell->workload;
	struct workload *w = &run->workload;
	int rc = 0;

	w->kind = workload_kind_find(spec->kind);
	if (!w->kind)
		return err_set(&call->err, -EOPNOTSUPP,
			       "this agent has no workload \"%.40s\"",
			       spec->kind);
	for (size_t i = 0; !rc && i < spec->n_param; i++)
		rc = workload_set(w, spec->param[i]->name,
				  spec->param[i]->value, &call->err);
	return rc ? rc : workload_check(w, &call->err);
}

static void workload_add_device(struct sample_device *d, const char *node,
				const char *serial, bool is_array)
{
	*d = (struct sample_device){ .is_array = is_array };
	(void)str_copy(d->node, sizeof(d->node), node);
	(void)str_copy(d->serial, sizeof(d->serial), serial);
}

static int workload_open_sampler(struct call *call, struct cell_run *run)
{
	struct sample_device device[SAMPLE_DEVICES_MAX];
	struct sampler_cfg cfg = { .root = call->agent->cfg.root,
				   .hz = run->req->cell->sample_hz,
				   .device = device };
	uint64_t most = (uint64_t)run->req->cell->timeout_s * cfg.hz + 64;

	for (size_t i = 0; i < run->record.spec->n_serial; i++) {
		const char *serial = run->record.spec->serial[i];
		struct disk d;
		int rc = disk_find(call->agent->cfg.root, serial, &d,
				   &call->err);

		if (rc)
			return rc;
		workload_add_device(&device[cfg.devices++], d.name, serial,
				    false);
	}
	if (run->spec.kind->is_md)
		workload_add_device(&device[cfg.devices++], run->target[0].node,
				    run->record.name, true);
	cfg.max_points = sampler_points_for(WORKLOAD_SERIES_BYTES, cfg.devices);
	if (most < cfg.max_points)
		cfg.max_points = (size_t)most;
	run->sampler = sampler_new(&cfg, &call->err);
	return run->sampler ? 0 : -errno;
}

struct workload_progress {
	struct agent *agent;
	struct cell_run *run;
};

static void workload_progress(void *arg, const char *phase, double done)
{
	struct workload_progress *p = arg;
	double pages = sampler_written_per_s(p->run->sampler);
	double page_bytes = (double)sysconf(_SC_PAGESIZE);

	agent_progress(p->agent, p->run->req->cell->key, phase, done,
		       pages * page_bytes / WORKLOAD_MB);
}

static void workload_measure(struct cell_run *run)
{
	const struct workload *w = &run->workload;
	const struct sample_series *s = sampler_series(run->sampler);
	const struct metrics_window window = {
		.start_ns = w->start_ns,
		.first_done_ns = w->first_done_ns,
		.end_ns = w->end_ns,
		.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
	};
	struct metrics *m = &run->metrics;

	metrics_write_bw(m, s, &window);
	metrics_io(m, s, &window);
	metrics_cpu(m, s, &window);
	metrics_check_bytes(m, s, workload_bytes(w), array_copies(&run->spec));
	if (s->taken)
		metrics_add(m, "sampler_cpu",
			    (double)s->cpu_ns / 1e3 / (double)s->taken, "us");
	metrics_add(m, "sampler_late", (double)s->late, "");
}

static const char *workload_md_node(const struct cell_run *run)
{
	return run->spec.kind->is_md ? run->target[0].node : "";
}

static int workload_note_members(struct call *call, struct cell_run *run)
{
	run->member = arena_array(call->arena, run->record.spec->n_serial,
				  sizeof(*run->member));
	return members_note(call->agent, &run->record, workload_md_node(run),
			    run->member, &call->err);
}

/* What an array does with less than all its disks is no measurement of it, and
 * a disk that vanished explains whatever else went wrong. */
static int workload_check_members(struct call *call, struct cell_run *run,
				  int rc)
{
	const char *list = "";
	char *why = arena_strdup(call->arena, rc ? call->err.text : "");

	run->lost =
		members_lost(call->agent, &run->record, workload_md_node(run),
			     run->member, call->arena, &run->n_lost);
	for (size_t i = 0; i < run->n_lost; i++)
		list = arena_printf(call->arena, "%s%s%s", list,
				    *list ? ", " : "", run->lost[i]);
	if (!run->n_lost)
		return rc;
	return err_set(&call->err, -ENODEV,
		       "array %s lost disk %.200s while %s ran, so this is no "
		       "measurement%s%.300s",
		       run->record.name, list, run->workload.kind->name,
		       rc ? "; " : "", why);
}

/* A cell that failed or hung is a result too; only a cancelled one is not. */
static int workload_store(struct call *call, struct cell_run *run, int rc)
{
	Bay__CellState state = BAY__CELL_STATE__CELL_DONE;
	Bay__CellResult *result;
	size_t len;
	uint8_t *data;

	if (rc)
		state = rc == -ETIMEDOUT ? BAY__CELL_STATE__CELL_HUNG
					 : BAY__CELL_STATE__CELL_FAILED;
	else
		workload_measure(run);
	result = cell_result(call->agent, run, state, rc ? call->err.text : "",
			     call->arena);
	/* The id belongs to the spool, which forgets it on commit. */
	result->spool_id = arena_strdup(call->arena, call->agent->spool.id);
	len = bay__cell_result__get_packed_size(result);
	data = malloc(len + 1);
	if (!data)
		return -ENOMEM;
	(void)bay__cell_result__pack(result, data);
	rc = spool_commit(&call->agent->spool, data, len, &call->err);
	free(data);
	if (rc)
		return rc;
	/* The series dies with the sampler: answer from the stored form. */
	return agent_spool_result(call, result->spool_id);
}

static int workload_run(struct call *call, struct cell_run *run)
{
	struct workload_progress progress = { call->agent, run };
	struct workload *w = &run->workload;
	int rc = sampler_start(run->sampler, &call->err);

	if (rc)
		return rc;
	w->cancel_fd = call->agent->cancel_fd;
	w->guard = deadline_in_ms((uint64_t)run->req->cell->timeout_s * 1000);
	w->progress = workload_progress;
	w->progress_arg = &progress;
	w->metrics = &run->metrics;
	run->start_realtime_ns = clock_real_ns();
	rc = w->kind->run(w, &call->err);
	sampler_stop(run->sampler);
	if (rc == -ECANCELED)
		return rc;
	rc = workload_check_members(call, run, rc);
	if (rc)
		log_warnx("cell %s: %s", run->req->cell->key, call->err.text);
	agent_progress(call->agent, run->req->cell->key, "collect", 1.0, 0.0);
	return workload_store(call, run, rc);
}

static int workload_prepared(struct call *call, struct cell_run *run)
{
	int rc = workload_targets(call, run);

	if (!rc)
		rc = workload_params(call, run);
	if (!rc)
		rc = workload_note_members(call, run);
	if (!rc)
		rc = spool_reserve(&call->agent->spool, &call->err);
	if (rc)
		return rc;
	run->kmsg_fd = kmsg_open(call->agent->cfg.root);
	rc = workload_open_sampler(call, run);
	if (!rc)
		rc = workload_run(call, run);
	sampler_free(run->sampler);
	if (run->kmsg_fd >= 0)
		close(run->kmsg_fd);
	spool_release(&call->agent->spool);
	return rc;
}

int svc_workload(struct call *call)
{
	struct cell_run *run = arena_alloc(call->arena, sizeof(*run));
	int rc;

	run->req = call->req->workload;
	run->kmsg_fd = -1;
	run->workload.arena = call->arena;
	rc = workload_check_cell(call, run->req);
	if (rc)
		return rc;
	if (workload_in_spool(call, run->req))
		return 0;
	rc = workload_load_array(call, run);
	return rc ? rc : workload_prepared(call, run);
}
