/* The controller against a scripted rig and agent: a plain run, and every
 * death on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/matrix/control.h"
#include "host/tests/fail_vfs.h"
#include "host/tests/fake_agent.h"
#include "host/tests/fake_rig.h"

static struct {
	char dir[64], sock[96], db[96];
	uv_loop_t loop;
	struct bench *bench;
	struct matrix *matrix;
	struct plan plan;
	struct controller *control;
	struct err err;
	struct control_sum sum;
	uint32_t silence_ms; /* of the agent */
	uint32_t agent_ms;   /* until it is there */
	char away[100]; /* where its socket waits for a boot; empty: nowhere */
	unsigned full_at; /* write of the journal at which its disk is full */
	bool was_full;
	unsigned ended; /* cells that were told to have ended */
	char note[256]; /* the first one */
} t;

/* More than a busy machine takes for an answer. */
#define SILENCE_MS 10000
#define AGENT_MS   10000

#define BENCH                                                                  \
	"rig: {type: socket, path: /nowhere}\n"                                \
	"disks:\n- {serial: S1, slot: 0}\n- {serial: S2, slot: 1}\n"           \
	"disk_wait_s: 1\n"

#define MATRIX                                                                 \
	"experiment: e\nlayout: [single, RAID1-2HDD]\nfs: xfs\nworkload: "     \
	"dd-write\nparams: {seconds: 5}\nthresh: 100M\n"

static void drop_db(void)
{
	static const char *const suffix[] = { "", "-wal", "-shm", "-journal" };
	char name[128];
	size_t i;

	for (i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", t.db, suffix[i]);
		unlink(name);
	}
}

static void load(const char *bench, const char *matrix)
{
	const char *serial[8];
	char text[512];
	unsigned i;

	snprintf(text, sizeof(text),
		 "name: fake\nagent: {type: stream, path: %s}\n%s", t.sock,
		 bench);
	if (bench_parse("b", text, strlen(text), &t.bench, &t.err) < 0 ||
	    matrix_parse("m", matrix, strlen(matrix), &t.matrix, &t.err) < 0)
		fail_msg("%s", t.err.text);
	for (i = 0; i < t.bench->n_disks; i++)
		serial[i] = t.bench->disks[i].serial;
	if (plan_make(t.matrix, serial, t.bench->n_disks, &t.plan, &t.err) < 0)
		fail_msg("%s", t.err.text);
	drop_db();
	fake_rig_reset();
	fake_agent_start(&t.loop, t.sock, t.bench);
}

static void unload(void)
{
	fake_agent_stop();
	plan_free(&t.plan);
	matrix_free(t.matrix);
	bench_free(t.bench);
}

static int group_setup(void **state)
{
	(void)state;
	snprintf(t.dir, sizeof(t.dir), "/tmp/bay-control-XXXXXX");
	if (!mkdtemp(t.dir))
		return -1;
	snprintf(t.sock, sizeof(t.sock), "%s/agent.sock", t.dir);
	snprintf(t.db, sizeof(t.db), "%s/results.db", t.dir);
	t.silence_ms = SILENCE_MS;
	t.agent_ms = AGENT_MS;
	fail_vfs_register();
	return uv_loop_init(&t.loop);
}

static int group_teardown(void **state)
{
	(void)state;
	drop_db();
	unlink(t.sock);
	rmdir(t.dir);
	return uv_loop_close(&t.loop);
}

/* A guest that was shut away is there again. */
static int boot(void *arg, const char *kernel, uint32_t ms, struct err *err)
{
	(void)arg;
	(void)kernel;
	(void)ms;
	if (!*t.away || rename(t.away, t.sock) < 0)
		return err_set(err, -EIO, "it does not boot");
	return 0;
}

static void on_ended(void *arg, const Bay__Cell *cell, Bay__CellState state,
		     double seconds, double write_bw, const char *why)
{
	(void)arg;
	(void)cell;
	(void)state;
	(void)seconds;
	(void)write_bw;
	(void)why;
	t.ended++;
}

static void on_note(void *arg, const char *text)
{
	(void)arg;
	if (!*t.note)
		snprintf(t.note, sizeof(t.note), "%s", text);
}

/* One bay run: journal opened, recovered, planned, run, closed. */
static enum control_end run(void)
{
	struct control_cfg cfg = {
		.loop = &t.loop,
		.bench = t.bench,
		.plan = &t.plan,
		.boot_id = "here",
		.times = { .rig_ms = 100,
			   .rig_back_ms = 20,
			   .agent_ms = t.agent_ms,
			   .step_ms = 10000,
			   .ping_ms = 20,
			   .silence_ms = t.silence_ms },
		.boot = boot,
		.watch = { .ended = on_ended, .note = on_note },
	};
	enum control_end end;
	unsigned n;

	memset(&t.err, 0, sizeof(t.err));
	t.ended = 0;
	t.note[0] = '\0';
	if (store_open(t.db, STORE_WRITE, FAIL_VFS_NAME, &cfg.store, &t.err) <
		    0 ||
	    store_plan(cfg.store, "e", "b", "m", t.plan.cell, t.plan.n,
		       &t.err) < 0 ||
	    store_recover(cfg.store, "here", &n, &t.err) < 0)
		fail_msg("%s", t.err.text);
	fail_vfs_arm(t.full_at, FAIL_FULL);
	end = control_run(&cfg, &t.sum, &t.err, &t.control);
	t.was_full = fail_vfs_fired();
	fail_vfs_arm(0, FAIL_ONCE);
	store_close(cfg.store);
	return end;
}

static int count_results(void *arg, const struct store_row *r)
{
	unsigned *n = arg;

	*n += r->result && r->state == BAY__CELL_STATE__CELL_DONE;
	return 0;
}

static void assert_machine_clean(void)
{
	assert_false(fake_agent.array);
	assert_false(fake_agent.mounted);
	assert_false(fake_agent.knobs);
	assert_false(fake_agent.dirty_start);
	assert_int_equal(fake_rig.on, 0);
}

static void assert_complete(void)
{
	struct store *s = NULL;
	unsigned n = 0;

	assert_int_equal(store_open(t.db, STORE_READ, NULL, &s, &t.err), 0);
	assert_int_equal(store_rows(s, count_results, &n, &t.err), 0);
	assert_int_equal(n, t.plan.n);
	store_close(s);
	assert_null(fake_agent.spooled);
	assert_machine_clean();
}

/* ---- plain runs ---------------------------------------------------------- */

static void a_run_fills_the_journal_and_leaves_a_clean_machine(void **state)
{
	Bay__CellResult *r = NULL;
	struct store *s = NULL;

	(void)state;
	load(BENCH, MATRIX);
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	assert_int_equal(t.sum.done, 2);
	assert_true(fake_rig.policy_armed);
	assert_int_equal(store_open(t.db, STORE_READ, NULL, &s, &t.err), 0);
	assert_int_equal(store_get(s, t.plan.cell[0]->key, &r, &t.err), 0);
	assert_int_equal(r->n_rail, 2 * t.plan.cell[0]->array->n_serial);
	assert_int_equal(r->rail[0]->windows, 2);
	assert_int_equal(r->rail[0]->mv_mean, 5000);
	assert_int_equal(r->rail[0]->fall_us, 88000);
	assert_string_equal(r->phase[0]->phase, "workload/run");
	assert_string_equal(r->phase[1]->phase, "rig-off");
	assert_false(r->tainted);
	bay__cell_result__free_unpacked(r, NULL);
	store_close(s);
	/* Again: there is nothing left to do. */
	assert_int_equal(run(), CONTROL_DONE);
	assert_int_equal(t.sum.done, 0);
	assert_int_equal(t.sum.before, 2);
	unload();
}

static void what_worries_the_rig_is_told(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_rig.log = "slot 2: monitor 0x12 does not answer";
	fake_rig.log_level = 1;
	assert_int_equal(run(), CONTROL_DONE);
	assert_string_equal(t.note,
			    "rig: slot 2: monitor 0x12 does not answer");
	unload();
	load(BENCH, MATRIX);
	fake_rig.log = "configuration 3 is in force";
	fake_rig.log_level = 2;
	assert_int_equal(run(), CONTROL_DONE);
	assert_string_equal(t.note, "");
	unload();
}

/* Copper keeps to the limits of the rig, a model of it only to the machine's
 * load. */
static void modelled_rails_may_rise_late(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	assert_int_equal(run(), CONTROL_DONE);
	assert_int_equal(fake_rig.ramp_timeout_ms, 0);
	unload();
	load(BENCH, MATRIX);
	t.bench->rig.type = BENCH_RIG_VIRTUAL;
	assert_int_equal(run(), CONTROL_DONE);
	assert_int_equal(fake_rig.ramp_timeout_ms, 2000);
	unload();
}

static void a_bench_without_a_rig_needs_none(void **state)
{
	(void)state;
	load("disks: [{serial: S1}, {serial: S2}]\n", MATRIX);
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	assert_int_equal(fake_rig.commands, 0);
	unload();
}

/* ---- deaths ---------------------------------------------------------------
 */

static void run_with_agent_fault(enum fake_fault fault)
{
	unsigned n;

	for (n = 1;; n++) {
		enum control_end end;

		load(BENCH, MATRIX);
		fake_agent.fault_at = n;
		fake_agent.fault = fault;
		end = run();
		if (!fake_agent.fired) {
			assert_int_equal(end, CONTROL_DONE);
			unload();
			break;
		}
		/* Before the first cell there is nothing to retry. */
		if (end != CONTROL_DONE) {
			assert_true(n <= 5);
			assert_int_equal(run(), CONTROL_DONE);
		}
		assert_complete();
		unload();
	}
	assert_true(n > 25);
}

static void an_agent_that_dies_anywhere_costs_no_cell(void **state)
{
	(void)state;
	run_with_agent_fault(FAKE_HANG_UP);
}

static void a_machine_that_reboots_anywhere_costs_no_cell(void **state)
{
	(void)state;
	run_with_agent_fault(FAKE_REBOOT);
}

static void a_silent_agent_costs_no_cell(void **state)
{
	(void)state;
	t.silence_ms = 100;
	run_with_agent_fault(FAKE_SILENT);
	t.silence_ms = SILENCE_MS;
}

/* A host that slept is no agent that is silent. */
static void an_hour_in_which_nobody_runs_is_no_silence(void **state)
{
	unsigned n = 0;

	(void)state;
	do {
		load(BENCH, MATRIX);
		fake_agent.fault_at = ++n;
		fake_agent.fault = FAKE_STAND_STILL;
		assert_int_equal(run(), CONTROL_DONE);
		assert_int_equal(fake_agent.connections, 1);
		assert_complete();
		unload();
	} while (fake_agent.fired);
	assert_true(n > 25);
}

static void an_agent_restarted_unseen_costs_no_cell(void **state)
{
	(void)state;
	run_with_agent_fault(FAKE_RESTART);
	run_with_agent_fault(FAKE_RESTART_AFTER);
}

static void a_hello_that_died_with_its_agent_is_said_again(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.fault_at = 1;
	fake_agent.fault = FAKE_RESTART;
	assert_int_equal(run(), CONTROL_DONE);
	assert_int_equal(fake_agent.incarnation, 1);
	assert_complete();
	unload();
}

static void a_step_that_fails_once_is_done_again(void **state)
{
	(void)state;
	run_with_agent_fault(FAKE_FAIL);
}

static void rubbish_between_frames_is_passed_over(void **state)
{
	(void)state;
	run_with_agent_fault(FAKE_RUBBISH);
}

static void a_rig_that_is_away_for_a_moment_costs_no_cell(void **state)
{
	unsigned n;

	(void)state;
	for (n = 1;; n++) {
		enum control_end end;

		load(BENCH, MATRIX);
		fake_rig.fail_at = n;
		fake_rig.fail_code = -ETIMEDOUT;
		end = run();
		if (!fake_rig.fired) {
			assert_int_equal(end, CONTROL_DONE);
			unload();
			break;
		}
		if (end != CONTROL_DONE)
			assert_int_equal(end, CONTROL_UNREACHABLE);
		fake_rig.fail_at = 0;
		assert_int_equal(run(), CONTROL_DONE);
		assert_complete();
		unload();
	}
	assert_true(n > 10);
}

static void a_rig_that_stays_away_ends_the_run(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_rig.fail_at = 6;
	fake_rig.fail_code = -ETIMEDOUT;
	fake_rig.fail_more = UINT32_MAX;
	assert_int_equal(run(), CONTROL_UNREACHABLE);
	assert_int_equal(t.sum.left, 2);
	assert_int_equal(t.sum.failed, 0);
	fake_rig.fail_at = 0;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void a_latched_fault_is_refused_before_the_first_cell(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_rig.faulted = 1u << 1;
	assert_int_equal(run(), CONTROL_REFUSED);
	assert_non_null(strstr(t.err.text, "'bay rig clear 1'"));
	assert_int_equal(fake_rig.ons, 0);
	/* That of a slot that no cell uses is no matter. */
	fake_rig.faulted = 1u << 7;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

/* -EBUSY of the line is not -EBUSY of the journal. */
static void a_rig_whose_line_is_taken_is_unreachable(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_rig.fail_at = 1;
	fake_rig.fail_code = -EBUSY;
	assert_int_equal(run(), CONTROL_UNREACHABLE);
	fake_rig.fail_at = 1;
	fake_rig.fail_code = -EIO;
	fake_rig.commands = 0;
	assert_int_equal(run(), CONTROL_UNREACHABLE);
	unload();
}

/* ---- cells that fail ------------------------------------------------------
 */

static void a_cell_that_fails_twice_is_quarantined(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.fail_workloads = 2;
	assert_int_equal(run(), CONTROL_FAILED);
	assert_int_equal(t.sum.done, 1);
	assert_int_equal(t.sum.failed, 1);
	assert_int_equal(fake_agent.workloads, 3);
	assert_machine_clean();
	/* Not retried for ever. */
	assert_int_equal(run(), CONTROL_FAILED);
	assert_int_equal(fake_agent.workloads, 3);
	unload();
}

static int find_metric(void *arg, const struct store_metric *m)
{
	unsigned *n = arg;

	(void)m;
	++*n;
	return 0;
}

static int find_lost(void *arg, const struct store_row *r)
{
	unsigned *n = arg;

	*n += r->state == BAY__CELL_STATE__CELL_FAILED &&
	      strstr(r->error_text, "S2");
	return 0;
}

static void a_cell_that_lost_a_disk_is_failed_until_the_next_run(void **state)
{
	unsigned measured = 0, failed = 0, n;
	struct store *s = NULL;

	(void)state;
	/* As often as one likes: it is not the cell that is bad. */
	load(BENCH, MATRIX);
	for (n = 0; n < 3; n++) {
		fake_agent.lose = "S2";
		assert_int_equal(run(), CONTROL_FAILED);
		assert_null(fake_agent.lose);
		assert_int_equal(t.sum.failed, 1);
		assert_int_equal(fake_agent.workloads, 2 + n);
		assert_int_equal(t.ended, n ? 1 : 2);
		assert_machine_clean();
	}
	assert_int_equal(store_open(t.db, STORE_READ, NULL, &s, &t.err), 0);
	assert_int_equal(store_rows(s, find_lost, &failed, &t.err), 0);
	assert_int_equal(failed, 1);
	/* Nothing of it can get into a comparison. */
	assert_int_equal(store_metrics(s, find_metric, &measured, &t.err), 0);
	assert_int_equal(measured, 1);
	store_close(s);
	assert_int_equal(run(), CONTROL_DONE);
	assert_int_equal(t.sum.done, 1);
	assert_complete();
	unload();
}

/* The rig took them all: nobody has to wait for a --resume. */
static void disks_that_a_reset_rig_took_are_no_end_of_a_cell(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.lose = "S2";
	fake_agent.reset_rig = true;
	assert_int_equal(run(), CONTROL_DONE);
	assert_int_equal(t.sum.done, 2);
	assert_int_equal(fake_agent.workloads, 3);
	assert_complete();
	assert_machine_clean();
	unload();
}

static void a_rig_that_resets_in_every_cell_ends_the_run(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.lose = "S2";
	fake_agent.lose_again = 99;
	fake_agent.reset_rig = true;
	assert_int_equal(run(), CONTROL_UNREACHABLE);
	assert_int_equal(fake_agent.lose_again, 97);
	assert_non_null(strstr(t.err.text, "the rig was reset"));
	fake_agent.lose = NULL;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void a_disk_that_does_not_come_back_fails_its_cells_only(void **state)
{
	unsigned n;

	(void)state;
	load(BENCH, MATRIX);
	for (n = 0; n < 3; n++) {
		fake_agent.missing = "S2";
		assert_int_equal(run(), CONTROL_FAILED);
		assert_int_equal(t.sum.done, n ? 0 : 1);
		assert_int_equal(t.sum.failed, 1);
		/* Tried once in each run. */
		assert_int_equal(t.ended, n ? 1 : 2);
		assert_machine_clean();
	}
	/* And when it is back, nobody has to free a cell. */
	fake_agent.missing = NULL;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void a_foreign_signature_stops_everything(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.foreign = true;
	assert_int_equal(run(), CONTROL_REFUSED);
	assert_non_null(strstr(t.err.text, "foreign signature (ntfs)"));
	assert_int_equal(t.sum.left, 2);
	assert_int_equal(t.sum.failed, 0);
	assert_false(fake_agent.array);
	assert_int_equal(fake_rig.on, 0);
	fake_agent.foreign = false;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void an_array_made_by_hand_stops_the_run_before_it_begins(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.other_array = true;
	fake_rig.on = 3;
	assert_int_equal(run(), CONTROL_REFUSED);
	assert_non_null(strstr(t.err.text, "array data was made by hand"));
	assert_int_equal(fake_rig.on, 3);
	assert_int_equal(t.sum.left, 2);
	fake_agent.other_array = false;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void a_damaged_file_of_the_agents_is_told_and_no_obstacle(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.damaged = "the note of an array was damaged";
	assert_int_equal(run(), CONTROL_DONE);
	assert_non_null(strstr(t.note, "the note of an array was damaged"));
	assert_complete();
	unload();
}

/* What is not known to be free must not be reset. */
static void arrays_that_cannot_be_shown_stop_the_run(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.fault_at = 2;
	fake_agent.fault = FAKE_FAIL;
	fake_agent.array = true;
	assert_int_not_equal(run(), CONTROL_DONE);
	assert_non_null(strstr(t.err.text, "a tool failed"));
	assert_true(fake_agent.array);
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

/* ---- Ctrl-C, full disk, kernels --------------------------------------------
 */

static void stop_now(void)
{
	control_stop(t.control);
}

static void ctrl_c_restores_machine_and_slots(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.at_workload = stop_now;
	assert_int_equal(run(), CONTROL_STOPPED);
	assert_int_equal(t.sum.left, 2);
	assert_machine_clean();
	fake_agent.at_workload = NULL;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void stop_twice(void)
{
	control_stop(t.control);
	control_stop(t.control);
}

static void a_second_ctrl_c_leaves_at_once(void **state)
{
	(void)state;
	load(BENCH, MATRIX);
	fake_agent.at_workload = stop_twice;
	assert_int_equal(run(), CONTROL_STOPPED);
	assert_true(fake_agent.mounted);
	fake_agent.at_workload = NULL;
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

static void a_full_results_disk_loses_no_result(void **state)
{
	unsigned n, refused = 0;

	(void)state;
	for (n = 1;; n++) {
		enum control_end end;

		load(BENCH, MATRIX);
		t.full_at = n;
		end = run();
		t.full_at = 0;
		if (!t.was_full) {
			unload();
			break;
		}
		if (end == CONTROL_STORE) {
			assert_non_null(strstr(t.err.text, "no space left"));
			refused++;
		}
		assert_int_equal(run(), CONTROL_DONE);
		assert_complete();
		unload();
	}
	assert_true(refused > 3);
}

static void a_kernel_that_the_bench_cannot_boot_is_said_first(void **state)
{
	(void)state;
	load(BENCH, MATRIX "kernel: \"6.12\"\n");
	assert_int_equal(run(), CONTROL_CONFIG);
	assert_string_equal(t.err.text, "b has no kernel '6.12' (it has: none);"
					" list it under 'kernels'");
	assert_int_equal(fake_agent.requests, 0);
	unload();
	load(BENCH "kernels: [{name: new, release: \"6.12\"}]\n",
	     MATRIX "kernel: new\n");
	assert_int_equal(run(), CONTROL_CONFIG);
	assert_string_equal(t.err.text,
			    "b:8: kernel new is wanted, 6.1.0-31-amd64 runs, "
			    "and there is no 'boot' command for it");
	assert_machine_clean();
	unload();
}

static void a_boot_that_fails_is_no_fault_of_the_journal(void **state)
{
	(void)state;
	load(BENCH
	     "kernels: [{name: new, release: \"6.12\", boot: [\"false\"]}]"
	     "\n",
	     MATRIX "kernel: new\n");
	assert_int_equal(run(), CONTROL_FAILED);
	assert_int_equal(t.sum.failed, 2);
	assert_machine_clean();
	unload();
}

/* Of a virtual bench that is up, as a killed guest leaves it. */
static enum control_end run_without_guest(bool boots)
{
	char *kernels[] = { (char *)(uintptr_t) "6.1" };
	struct bench_virtual virt = { .kernels = kernels, .n_kernels = 1 };
	enum control_end end;
	char away[sizeof(t.away)];

	load(BENCH, MATRIX);
	setenv("BAY_RUN_DIR", t.dir, 1);
	t.bench->agent.type = BENCH_AGENT_VIRTUAL;
	t.bench->virt = &virt;
	snprintf(away, sizeof(away), "%s.off", t.sock);
	assert_int_equal(rename(t.sock, away), 0);
	strcpy(t.away, boots ? away : "");
	t.agent_ms = 2000;
	end = run();
	t.agent_ms = AGENT_MS;
	t.away[0] = '\0';
	t.bench->agent.type = BENCH_AGENT_STREAM;
	t.bench->virt = NULL;
	unlink(away);
	unsetenv("BAY_RUN_DIR");
	return end;
}

static void a_guest_that_is_down_is_started(void **state)
{
	(void)state;
	assert_int_equal(run_without_guest(true), CONTROL_DONE);
	assert_complete();
	unload();
	assert_int_equal(run_without_guest(false), CONTROL_UNREACHABLE);
	assert_non_null(strstr(t.err.text, "it does not boot"));
	unload();
}

static void a_running_kernel_is_not_booted(void **state)
{
	(void)state;
	load(BENCH "kernels: [{name: \"6.1\"}]\n", MATRIX "kernel: \"6.1\"\n");
	assert_int_equal(run(), CONTROL_DONE);
	assert_complete();
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_run_fills_the_journal_and_leaves_a_clean_machine),
		cmocka_unit_test(what_worries_the_rig_is_told),
		cmocka_unit_test(modelled_rails_may_rise_late),
		cmocka_unit_test(a_bench_without_a_rig_needs_none),
		cmocka_unit_test(an_agent_that_dies_anywhere_costs_no_cell),
		cmocka_unit_test(a_machine_that_reboots_anywhere_costs_no_cell),
		cmocka_unit_test(a_silent_agent_costs_no_cell),
		cmocka_unit_test(an_hour_in_which_nobody_runs_is_no_silence),
		cmocka_unit_test(an_agent_restarted_unseen_costs_no_cell),
		cmocka_unit_test(
			a_hello_that_died_with_its_agent_is_said_again),
		cmocka_unit_test(a_step_that_fails_once_is_done_again),
		cmocka_unit_test(rubbish_between_frames_is_passed_over),
		cmocka_unit_test(a_rig_that_is_away_for_a_moment_costs_no_cell),
		cmocka_unit_test(a_rig_that_stays_away_ends_the_run),
		cmocka_unit_test(a_rig_whose_line_is_taken_is_unreachable),
		cmocka_unit_test(
			a_latched_fault_is_refused_before_the_first_cell),
		cmocka_unit_test(a_cell_that_fails_twice_is_quarantined),
		cmocka_unit_test(
			a_cell_that_lost_a_disk_is_failed_until_the_next_run),
		cmocka_unit_test(
			disks_that_a_reset_rig_took_are_no_end_of_a_cell),
		cmocka_unit_test(a_rig_that_resets_in_every_cell_ends_the_run),
		cmocka_unit_test(
			a_disk_that_does_not_come_back_fails_its_cells_only),
		cmocka_unit_test(a_foreign_signature_stops_everything),
		cmocka_unit_test(
			an_array_made_by_hand_stops_the_run_before_it_begins),
		cmocka_unit_test(
			a_damaged_file_of_the_agents_is_told_and_no_obstacle),
		cmocka_unit_test(arrays_that_cannot_be_shown_stop_the_run),
		cmocka_unit_test(ctrl_c_restores_machine_and_slots),
		cmocka_unit_test(a_second_ctrl_c_leaves_at_once),
		cmocka_unit_test(a_full_results_disk_loses_no_result),
		cmocka_unit_test(
			a_kernel_that_the_bench_cannot_boot_is_said_first),
		cmocka_unit_test(a_boot_that_fails_is_no_fault_of_the_journal),
		cmocka_unit_test(a_guest_that_is_down_is_started),
		cmocka_unit_test(a_running_kernel_is_not_booted),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
