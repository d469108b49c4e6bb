/* boards/virtual/disk/plugin.c - the modelled disk as an nbdkit plugin. */
#include "boards/virtual/disk/ctl_server.h"
#include "boards/virtual/disk/media_file.h"
#include "boards/virtual/disk/options.h"
#include "boards/virtual/disk/shell.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#define BLOCK_MAX_BYTES (32u << 20)
#define KEEP_BYTES      (256u << 20)

/* nbdkit's callbacks carry no context of the plugin's: this is it. */
static struct {
	struct options options;
	struct media_file *file;
	struct vdisk *disk;
	struct shell *shell;
	struct ctl_server *ctl;
	bool started;
} plugin;

/* The write cache takes and gives back its size many times a minute, from
 * several threads. By default malloc returns such blocks to the kernel each
 * time, and the faults to get them anew cost more than the copying. */
static void keep_memory(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, BLOCK_MAX_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
}

static void bay_load(void)
{
	keep_memory();
	options_init(&plugin.options);
}

static int bay_config(const char *key, const char *value)
{
	char why[256];

	if (options_set(&plugin.options, key, value, why) == 0)
		return 0;
	nbdkit_error("%s", why);
	return -1;
}

/* nbdkit changes to / when it goes into the background. */
static int make_absolute(char **path)
{
	char *absolute;

	if (*path == NULL)
		return 0;
	absolute = nbdkit_absolute_path(*path);
	if (absolute == NULL)
		return -1;
	free(*path);
	*path = absolute;
	return 0;
}

static int bay_config_complete(void)
{
	char why[256];

	if (options_complete(&plugin.options, why) != 0) {
		nbdkit_error("%s", why);
		return -1;
	}
	if (make_absolute(&plugin.options.image) != 0)
		return -1;
	return make_absolute(&plugin.options.ctl);
}

static int open_image(const struct options *o)
{
	if (o->image == NULL)
		return 0;
	plugin.file = media_file_open(o->image, o->disk.size_bytes);
	if (plugin.file != NULL)
		return 0;
	if (errno == EFBIG)
		nbdkit_error("%s: its size is not that of the disk", o->image);
	else if (errno == EBUSY)
		nbdkit_error("%s: another disk uses it", o->image);
	else
		nbdkit_error("%s: %m", o->image);
	return -1;
}

/* The host went away, or nbdkit is told to end: its sleep says so. */
static bool client_gone(void)
{
	return nbdkit_nanosleep(0, 1) != 0;
}

static int open_disk(const struct options *o)
{
	struct shell_cfg cfg = {
		.ms_per_s = o->ms_per_s,
		.host_gone = client_gone,
	};

	plugin.disk = vdisk_new(&o->disk,
				plugin.file == NULL ? NULL : &media_file_ops,
				plugin.file);
	cfg.disk = plugin.disk;
	if (plugin.disk != NULL)
		plugin.shell = shell_new(&cfg);
	if (plugin.shell != NULL)
		return 0;
	nbdkit_error("cannot set up the disk: %m");
	return -1;
}

static int bay_get_ready(void)
{
	const struct options *o = &plugin.options;

	if (open_image(o) != 0 || open_disk(o) != 0)
		return -1;
	if (o->ctl == NULL)
		return 0;
	plugin.ctl = ctl_server_new(o->ctl, o->disk.serial);
	if (plugin.ctl != NULL)
		return 0;
	nbdkit_error("control socket %s: %m", o->ctl);
	return -1;
}

static int bay_after_fork(void)
{
	int err = shell_start(plugin.shell);

	plugin.started = err == 0;
	if (err == 0 && plugin.ctl != NULL)
		err = ctl_server_start(plugin.ctl, plugin.shell);
	if (err == 0)
		return 0;
	nbdkit_error("cannot start a thread: %s", strerror(-err));
	return -1;
}

static void bay_cleanup(void)
{
	ctl_server_free(plugin.ctl);
	plugin.ctl = NULL;
	if (plugin.started)
		shell_stop(plugin.shell);
	plugin.started = false;
}

static void bay_unload(void)
{
	bay_cleanup();
	shell_free(plugin.shell);
	vdisk_free(plugin.disk);
	media_file_close(plugin.file);
	options_free(&plugin.options);
}

static void *bay_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t bay_get_size(void *handle)
{
	(void)handle;
	return (int64_t)plugin.options.disk.size_bytes;
}

static int yes(void *handle)
{
	(void)handle;
	return 1;
}

static int bay_can_trim(void *handle)
{
	(void)handle;
	return plugin.options.trim;
}

static int bay_can_fua(void *handle)
{
	(void)handle;
	return plugin.options.fua ? NBDKIT_FUA_NATIVE : NBDKIT_FUA_NONE;
}

static int bay_block_size(void *handle, uint32_t *minimum, uint32_t *preferred,
			  uint32_t *maximum)
{
	(void)handle;
	*minimum = VDISK_SECTOR_BYTES;
	*preferred = VDISK_PHYSICAL_BYTES;
	*maximum = BLOCK_MAX_BYTES;
	return 0;
}

static int request(struct vdisk_op *op)
{
	int err = shell_request(plugin.shell, op);

	if (err == 0)
		return 0;
	nbdkit_set_error(-err);
	return -1;
}

static int bay_pread(void *handle, void *buf, uint32_t count, uint64_t offset,
		     uint32_t flags)
{
	struct vdisk_op op = {
		.kind = VDISK_READ, .offset = offset, .n = count, .buf = buf
	};

	(void)handle;
	(void)flags;
	return request(&op);
}

static int bay_pwrite(void *handle, const void *buf, uint32_t count,
		      uint64_t offset, uint32_t flags)
{
	struct vdisk_op op = { .kind = VDISK_WRITE,
			       .offset = offset,
			       .n = count,
			       .data = buf,
			       .fua = (flags & NBDKIT_FLAG_FUA) != 0 };

	(void)handle;
	return request(&op);
}

static int bay_flush(void *handle, uint32_t flags)
{
	struct vdisk_op op = { .kind = VDISK_FLUSH };

	(void)handle;
	(void)flags;
	return request(&op);
}

static int bay_trim(void *handle, uint32_t count, uint64_t offset,
		    uint32_t flags)
{
	struct vdisk_op op = { .kind = VDISK_TRIM,
			       .offset = offset,
			       .n = count,
			       .fua = (flags & NBDKIT_FLAG_FUA) != 0 };

	(void)handle;
	return request(&op);
}

static int bay_zero(void *handle, uint32_t count, uint64_t offset,
		    uint32_t flags)
{
	struct vdisk_op op = { .kind = VDISK_ZERO,
			       .offset = offset,
			       .n = count,
			       .fua = (flags & NBDKIT_FLAG_FUA) != 0 };

	(void)handle;
	return request(&op);
}

static struct nbdkit_plugin bay_plugin = {
	.name = "bay-disk",
	.longname = "a modelled disk of bay's virtual bench",
	.version = BAY_VERSION,
	.load = bay_load,
	.unload = bay_unload,
	.config = bay_config,
	.config_complete = bay_config_complete,
	.config_help = options_help,
	.magic_config_key = "serial",
	.get_ready = bay_get_ready,
	.after_fork = bay_after_fork,
	.cleanup = bay_cleanup,
	.open = bay_open,
	.get_size = bay_get_size,
	.can_write = yes,
	.can_flush = yes,
	.is_rotational = yes,
	.can_trim = bay_can_trim,
	.can_fua = bay_can_fua,
	.can_multi_conn = yes,
	.block_size = bay_block_size,
	.pread = bay_pread,
	.pwrite = bay_pwrite,
	.flush = bay_flush,
	.trim = bay_trim,
	.zero = bay_zero,
	.errno_is_preserved = 0,
};

/* Required by NBDKIT_REGISTER_PLUGIN, which defines it without declaring. */
struct nbdkit_plugin *plugin_init(void);

NBDKIT_REGISTER_PLUGIN(bay_plugin)
