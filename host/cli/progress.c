#include "host/cli/progress.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

/* Between two states of the moving line. */
#define SHOW_MS 200

static uint64_t now_ms(void)
{
	return uv_hrtime() / 1000000;
}

void progress_init(struct progress *p, FILE *to, double cell_s, bool measured)
{
	memset(p, 0, sizeof(*p));
	p->to = to;
	p->tty = isatty(fileno(to));
	p->cell_s = cell_s;
	p->measured = measured;
	p->start_ms = now_ms();
}

const char *progress_time(double seconds, char *buf)
{
	unsigned long s = seconds > 0 ? (unsigned long)(seconds + 0.5) : 0;

	if (s >= 3600)
		snprintf(buf, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60,
			 s % 60);
	else
		snprintf(buf, 32, "%lu:%02lu", s / 60, s % 60);
	return buf;
}

const char *progress_state(Bay__CellState s)
{
	switch (s) {
	case BAY__CELL_STATE__CELL_PLANNED:
		return "planned";
	case BAY__CELL_STATE__CELL_RUNNING:
		return "running";
	case BAY__CELL_STATE__CELL_DONE:
		return "done";
	case BAY__CELL_STATE__CELL_FAILED:
		return "failed";
	case BAY__CELL_STATE__CELL_HUNG:
		return "hung";
	case BAY__CELL_STATE__CELL_QUARANTINED:
		return "quarantined";
	default:
		return "?";
	}
}

void progress_clear(struct progress *p)
{
	if (p->line_open)
		fputs("\r\033[K", p->to);
	p->line_open = false;
}

/* Left to go, once a cell has told how long one takes. */
static double eta_s(const struct progress *p)
{
	double each = p->ended ? p->spent_s / p->ended : p->cell_s;

	return each * (p->n - p->i + 1);
}

static void show(struct progress *p, double done, double rate)
{
	char eta[32];

	if (!p->tty || now_ms() - p->shown_ms < SHOW_MS)
		return;
	p->shown_ms = now_ms();
	progress_clear(p);
	fprintf(p->to, "%u/%u %.60s  %s", p->i, p->n, p->name, p->phase);
	if (done > 0)
		fprintf(p->to, " %.0f %%", 100 * done);
	if (rate > 0)
		fprintf(p->to, " %.1f MB/s", rate);
	fprintf(p->to, "  ETA %s", progress_time(eta_s(p), eta));
	fflush(p->to);
	p->line_open = true;
}

static void on_cell(void *arg, const Bay__Cell *cell, unsigned attempt,
		    unsigned i, unsigned n)
{
	struct progress *p = arg;

	p->i = i;
	p->n = n;
	snprintf(p->name, sizeof(p->name), "%s%s%s%s", cell->case_name,
		 *cell->kernel ? "-" : "", cell->kernel,
		 attempt > 1 ? " (again)" : "");
	p->shown_ms = 0;
}

static void on_phase(void *arg, const char *phase)
{
	struct progress *p = arg;

	snprintf(p->phase, sizeof(p->phase), "%s", phase);
	p->shown_ms = 0;
	show(p, 0, 0);
}

static void on_progress(void *arg, double done, double rate)
{
	show(arg, done, rate);
}

static void on_ended(void *arg, const Bay__Cell *cell, Bay__CellState state,
		     double seconds, double write_bw, const char *text)
{
	struct progress *p = arg;
	char eta[32];

	(void)cell;
	progress_clear(p);
	if (seconds > 0) {
		p->spent_s += seconds;
		p->ended++;
	}
	fprintf(p->to, "[%u/%u] %s: %s", p->i, p->n, p->name,
		progress_state(state));
	if (state == BAY__CELL_STATE__CELL_PLANNED)
		fputs(" again", p->to);
	if (write_bw > 0)
		fprintf(p->to, ", %.2f MB/s", write_bw);
	if (seconds > 0)
		fprintf(p->to, ", %.1f s", seconds);
	if (*text)
		fprintf(p->to, ": %s", text);
	if (p->i < p->n)
		fprintf(p->to, "  (ETA %s)",
			progress_time(eta_s(p) -
					      (p->ended ? p->spent_s / p->ended
							: p->cell_s),
				      eta));
	fputc('\n', p->to);
	fflush(p->to);
}

static void on_note(void *arg, const char *text)
{
	struct progress *p = arg;

	progress_clear(p);
	fprintf(p->to, "bay: %s\n", text);
	fflush(p->to);
}

struct control_watch progress_watch(struct progress *p)
{
	return (struct control_watch){
		.cell = on_cell,
		.phase = on_phase,
		.progress = on_progress,
		.ended = on_ended,
		.note = on_note,
		.arg = p,
	};
}
