/* rig-of-major N: the fake rig as a process that speaks protocol major N, for
 * ci/hostile-test. Prints the path of its socket; ends with its input. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/rig/tests/fake_rig.h"

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *buf)
{
	static char room[64];

	(void)h;
	(void)want;
	*buf = uv_buf_init(room, sizeof(room));
}

static void on_input(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	(void)buf;
	if (n < 0)
		uv_stop(s->loop);
}

int main(int argc, char **argv)
{
	static struct fake_rig rig;
	uv_loop_t *loop = uv_default_loop();
	uv_pipe_t input;
	unsigned long major = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (major < 1 || major > UINT8_MAX) {
		fprintf(stderr, "usage: rig-of-major 1..255\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN); /* bay hangs up at once */
	fake_rig_start(&rig, loop, (uint8_t)major);
	puts(rig.path);
	fflush(stdout);
	if (uv_pipe_init(loop, &input, 0) || uv_pipe_open(&input, 0) ||
	    uv_read_start((uv_stream_t *)&input, on_alloc, on_input))
		return 1;
	uv_run(loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&input, NULL);
	fake_rig_stop(&rig);
	return 0;
}
