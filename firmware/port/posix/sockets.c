#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "firmware/port/posix/posix.h"

/* Sockets stay open over execve(): a reset does not drop the host's line. */
int posix_listen(struct posix_socket *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!s->path || s->listener >= 0)
		return 0;
	if (strlen(s->path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, s->path, strlen(s->path) + 1);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (s->listener < 0)
		return -errno;
	unlink(s->path);
	if (bind(s->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(s->listener, 4))
		return -errno;
	return 0;
}

bool posix_accept(struct posix_socket *s)
{
	int fd = accept(s->listener, NULL, NULL);

	if (fd < 0)
		return false;
	posix_close_client(s);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	s->client = fd;
	return true;
}

void posix_close_client(struct posix_socket *s)
{
	if (s->client >= 0)
		close(s->client);
	s->client = -1;
}
