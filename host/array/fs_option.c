#include "host/array/fs_option.h"

#include <errno.h>
#include <string.h>

int fs_option_check(const char *option, struct err *err)
{
	if (!strchr(option, '/') && !strstr(option, "dev=") &&
	    !strstr(option, "device="))
		return 0;
	return err_set(err, -EPERM,
		       "option \"%.60s\" names another file or device, so "
		       "nothing was done; leave it out",
		       option);
}
