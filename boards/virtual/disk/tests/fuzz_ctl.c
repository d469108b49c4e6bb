/* boards/virtual/disk/tests/fuzz_ctl.c - control lines of foreign bytes, done
 * to a small disk. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boards/virtual/disk/ctl.h"
#include "boards/virtual/disk/tests/drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void do_line(struct vdisk *d, const struct ctl_lines *l)
{
	char answer[CTL_ANSWER_MAX];
	struct ctl_cmd cmd;
	char why[128];

	if (l->overflow || ctl_parse(l->line, l->n, &cmd, why) != 0)
		return;
	ctl_execute(d, "T1", &cmd, answer);
	/* One line of JSON, whatever came in. */
	if (strncmp(answer, "{\"ok\":", 6) != 0 ||
	    strchr(answer, '\n') != answer + strlen(answer) - 1)
		abort();
	drive_write(d, 0, 4096, 'a');
	drive_idle(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctl_lines l = { .n = 0 };
	struct vdisk_cfg cfg;
	struct vdisk *d;

	drive_cfg(&cfg);
	cfg.size_bytes = MIB;
	d = vdisk_new(&cfg, NULL, NULL);
	for (size_t i = 0; i < size && d != NULL; i++) {
		if (!ctl_lines_take(&l, (char)data[i]))
			continue;
		do_line(d, &l);
		ctl_lines_next(&l);
	}
	vdisk_free(d);
	return 0;
}
