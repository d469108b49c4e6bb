/* One child: started, watched, started again. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/bench/vbench_priv.h"
#include "host/util/log.h"

/* A child that dies this soon did not really come up. */
#define QUICK_NS  (2 * 1000000000ull)
#define QUICK_MAX 5

void vbench_file(const struct vbench *vb, char path[VBENCH_PATH_MAX],
		 const char *fmt, ...)
{
	char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	snprintf(path, VBENCH_PATH_MAX, "%.200s/%.200s", vb->cfg->run, name);
}

static void on_again(uv_timer_t *t)
{
	struct vbench_child *c = t->data;
	struct err err = { 0 };

	if (c->role == VBENCH_GUEST)
		c->vb->guest_due = false;
	if (vbench_child_start(c, &err)) {
		c->failed = true;
		vbench_child_failed(c, &err);
	}
	vbench_state_write(c->vb);
}

void vbench_child_start_soon(struct vbench_child *c)
{
	uv_timer_start(&c->again, on_again, 1, 0);
}

void vbench_children_init(struct vbench *vb)
{
	for (unsigned int role = 0; role < VBENCH_ROLES; role++) {
		for (unsigned int i = 0; i < vbench_role_count(vb, role); i++) {
			struct vbench_child *c = &vb->child[vb->children++];

			c->vb = vb;
			c->role = role;
			c->index = i;
			vbench_child_name(vb, role, i, c->name);
			uv_timer_init(&vb->loop, &c->again);
			c->again.data = c;
		}
	}
}

struct vbench_child *vbench_child_find(struct vbench *vb, unsigned int role,
				       unsigned int index)
{
	for (unsigned int i = 0; i < vb->children; i++) {
		if (vb->child[i].role == role && vb->child[i].index == index)
			return &vb->child[i];
	}
	return NULL;
}

bool vbench_children_running(const struct vbench *vb)
{
	for (unsigned int i = 0; i < vb->children; i++) {
		if (vb->child[i].running)
			return true;
	}
	return false;
}

static void restart_later(struct vbench_child *c)
{
	if (c->quick >= QUICK_MAX) {
		log_warnx("%s: ended %u times in a row, given up", c->name,
			  c->quick);
		c->failed = true;
		return;
	}
	c->restarts++;
	uv_timer_start(&c->again, on_again, 100u << c->quick, 0);
}

static void on_end(uv_poll_t *p, int status, int events)
{
	struct vbench_child *c = p->data;
	struct run_child *list[] = { &c->run };

	(void)status;
	(void)events;
	if (run_wait(list, 1, 0, -1) != 0)
		return;
	run_exit_text(&c->run, c->last_exit, sizeof(c->last_exit));
	if (c->run.end_ns - c->run.start_ns < QUICK_NS)
		c->quick++;
	else
		c->quick = 0;
	c->running = false;
	c->frozen = false;
	/* The descriptor must not be closed under the poll handle. */
	uv_poll_stop(&c->poll);
	uv_close((uv_handle_t *)&c->poll, NULL);
	run_close(&c->run, 0);
	if (c->vb->phase == VBENCH_UP &&
	    vbench_roles[c->role].restart == VBENCH_RESTART_ALWAYS) {
		log_warnx("%s ended: %s; starting it again", c->name,
			  c->last_exit);
		restart_later(c);
	}
	vbench_child_ended(c);
	vbench_state_write(c->vb);
	vbench_kill_done(c);
}

static void remove_sockets(struct vbench_child *c)
{
	const char *const *s = vbench_roles[c->role].sockets;

	for (; *s; s++) {
		char path[VBENCH_PATH_MAX];
		const char *percent = strstr(*s, "%s");

		if (percent)
			vbench_file(c->vb, path, "%.*s%s%s",
				    (int)(percent - *s), *s, c->name,
				    percent + 2);
		else
			vbench_file(c->vb, path, "%s", *s);
		unlink(path);
	}
}

static int log_open(struct vbench_child *c)
{
	char path[VBENCH_PATH_MAX];
	int fd;

	vbench_file(c->vb, path, "%s.log", c->name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int child_run(struct vbench_child *c, struct vbench_argv *a,
		     struct err *err)
{
	struct run_spec spec = { .argv = (const char *const *)a->v };
	int fd = log_open(c);
	int rc;

	if (fd < 0)
		return err_sys(err, fd, "log of %s", c->name);
	spec.out_fd = fd;
	spec.err_fd = fd;
	rc = run_start(&c->run, &spec, err);
	close(fd);
	/* Its threads inherit it; a failure costs speed and nothing else. */
	if (!rc && vbench_roles[c->role].nice)
		setpriority(PRIO_PGRP, (id_t)c->run.pid,
			    getpriority(PRIO_PROCESS, 0) +
				    vbench_roles[c->role].nice);
	return rc;
}

int vbench_child_start(struct vbench_child *c, struct err *err)
{
	struct vbench_argv a = { .n = 0 };
	int rc = vbench_roles[c->role].argv(c->vb, c->index, &a, err);

	if (!rc) {
		remove_sockets(c);
		rc = child_run(c, &a, err);
	}
	vbench_argv_free(&a);
	if (rc)
		return rc;
	c->running = true;
	c->failed = false;
	uv_poll_init(&c->vb->loop, &c->poll, c->run.pidfd);
	c->poll.data = c;
	uv_poll_start(&c->poll, UV_READABLE, on_end);
	return 0;
}

void vbench_child_signal(struct vbench_child *c, int sig)
{
	if (c->running)
		run_kill(&c->run, sig);
}
