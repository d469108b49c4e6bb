#include "host/agent/cell.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/agent/environ.h"
#include "host/agent/kmsg.h"

static char *cell_text(const char *text)
{
	return (char *)(uintptr_t)text; /* messages are only packed */
}

static void cell_names(Bay__CellResult *r)
{
	r->vm_name = (char **)(uintptr_t)sample_vm_names;
	r->n_vm_name = VM_COUNT;
	r->mem_name = (char **)(uintptr_t)sample_mem_names;
	r->n_mem_name = MEM_COUNT;
}

static size_t cell_kept(size_t count, size_t stride)
{
	return (count + stride - 1) / stride;
}

static void cell_add_disk(Bay__CellResult *r, const struct sample_series *s,
			  unsigned dev, size_t stride, struct arena *arena)
{
	size_t count = s->counters[dev] ? cell_kept(s->count, stride) : 0;
	Bay__DiskSeries *d = arena_alloc(arena, sizeof(*d));
	Bay__DiskSample *sample =
		arena_array(arena, count + 1, sizeof(*sample));

	bay__disk_series__init(d);
	d->serial = cell_text(s->device[dev].serial);
	d->device = cell_text(s->device[dev].node);
	d->is_array = s->device[dev].is_array;
	d->sample = arena_array(arena, count + 1, sizeof(*d->sample));
	for (size_t i = 0; i < count; i++) {
		size_t at = i * stride;

		bay__disk_sample__init(&sample[i]);
		sample[i].t_ns = s->point[at].t_ns;
		sample[i].counter =
			(uint64_t *)(uintptr_t)s->disk[at * s->devices + dev];
		sample[i].n_counter = s->counters[dev];
		d->sample[d->n_sample++] = &sample[i];
	}
	r->disk[r->n_disk++] = d;
}

static void cell_add_host(Bay__CellResult *r, const struct sample_series *s,
			  size_t stride, struct arena *arena)
{
	size_t count = cell_kept(s->count, stride);
	Bay__HostSample *h = arena_array(arena, count + 1, sizeof(*h));

	r->host = arena_array(arena, count + 1, sizeof(*r->host));
	for (size_t i = 0; i < count; i++) {
		const struct sample_point *p = &s->point[i * stride];

		bay__host_sample__init(&h[i]);
		h[i].t_ns = p->t_ns;
		h[i].cpu = (uint64_t *)(uintptr_t)p->cpu;
		h[i].n_cpu = p->has_slow ? s->cpu_fields : 0;
		h[i].vm = (uint64_t *)(uintptr_t)p->vm;
		h[i].n_vm = VM_COUNT;
		h[i].mem_kb = (uint64_t *)(uintptr_t)p->mem_kb;
		h[i].n_mem_kb = p->has_slow ? MEM_COUNT : 0;
		r->host[r->n_host++] = &h[i];
	}
}

/* Every stride-th sample until the whole result fits the spool. */
static void cell_add_series(Bay__CellResult *r, const struct sample_series *s,
			    struct arena *arena)
{
	size_t stride = 1;

	do {
		r->n_disk = 0;
		r->n_host = 0;
		r->disk = arena_array(arena, s->devices + 1, sizeof(*r->disk));
		for (unsigned i = 0; i < s->devices; i++)
			cell_add_disk(r, s, i, stride, arena);
		cell_add_host(r, s, stride, arena);
		stride *= 2;
	} while (bay__cell_result__get_packed_size(r) > SPOOL_RESULT_MAX &&
		 stride < s->count);
}

static void cell_add_children(Bay__CellResult *r, const struct workload *w,
			      struct arena *arena)
{
	r->child = arena_array(arena, w->children + 1, sizeof(*r->child));
	for (unsigned i = 0; i < w->children; i++) {
		const struct workload_child *c = &w->child[i];
		Bay__ChildRun *run = arena_alloc(arena, sizeof(*run));

		bay__child_run__init(run);
		run->name = cell_text(c->name);
		run->target = cell_text(c->target->path);
		run->argv = (char **)(uintptr_t)c->argv;
		while (c->argv[run->n_argv])
			run->n_argv++;
		run->start_ns = c->start_ns;
		run->end_ns = c->end_ns;
		run->bytes = c->bytes;
		run->exit_code = c->exit_code;
		run->error_text = cell_text(c->error_text);
		r->child[r->n_child++] = run;
	}
}

static void cell_add_numbers(Bay__CellResult *r, const struct metrics *m,
			     struct arena *arena)
{
	r->metric = arena_array(arena, m->count + 1, sizeof(*r->metric));
	for (unsigned i = 0; i < m->count; i++) {
		Bay__Metric *x = arena_alloc(arena, sizeof(*x));

		bay__metric__init(x);
		x->name = cell_text(m->metric[i].name);
		x->value = m->metric[i].value;
		x->unit = cell_text(m->metric[i].unit);
		r->metric[r->n_metric++] = x;
	}
	r->check = arena_array(arena, m->checks + 1, sizeof(*r->check));
	for (unsigned i = 0; i < m->checks; i++) {
		Bay__Check *x = arena_alloc(arena, sizeof(*x));

		bay__check__init(x);
		x->name = cell_text(m->check[i].name);
		x->ok = m->check[i].ok;
		x->detail = cell_text(m->check[i].detail);
		r->check[r->n_check++] = x;
	}
}

static void cell_add_machine(Bay__CellResult *r, struct agent *a,
			     struct arena *arena)
{
	struct utsname uts;

	(void)uname(&uts);
	r->boot_id = a->boot_id;
	r->kernel_release = arena_strdup(arena, uts.release);
	r->kernel_version = arena_strdup(arena, uts.version);
	r->agent_version = cell_text(BAY_VERSION);
	agent_tools(a, &r->tool_version, &r->n_tool_version);
	r->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	r->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	r->ticks_per_s = (uint32_t)sysconf(_SC_CLK_TCK);
}

Bay__CellResult *cell_result(struct agent *a, struct cell_run *run,
			     Bay__CellState state, const char *error,
			     struct arena *arena)
{
	Bay__CellResult *r = arena_alloc(arena, sizeof(*r));

	bay__cell_result__init(r);
	r->key = run->req->cell->key;
	r->attempt = run->req->attempt;
	r->state = state;
	r->error_text = arena_strdup(arena, error);
	r->spool_id = a->spool.id;
	r->cell = run->req->cell;
	cell_add_machine(r, a, arena);
	r->environment = environ_read(a, &run->record, run->target,
				      run->targets, arena, &r->n_environment);
	r->lost_serial = run->lost;
	r->n_lost_serial = run->n_lost;
	r->start_ns = run->workload.start_ns;
	r->end_ns = run->workload.end_ns;
	r->sync_ns = run->workload.sync_ns;
	r->start_realtime_ns = run->start_realtime_ns;
	cell_names(r);
	cell_add_children(r, &run->workload, arena);
	cell_add_numbers(r, &run->metrics, arena);
	r->kernel_log = kmsg_errors(run->kmsg_fd, arena, &r->n_kernel_log);
	cell_add_series(r, sampler_series(run->sampler), arena);
	return r;
}
