#include "host/rig/transport.h"

#include <errno.h>
#include <libserialport.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define DEFAULT_BAUD 115200

void transport_name(const struct rig_address *a, char *text, size_t size)
{
	if (a->carrier == RIG_SOCKET)
		snprintf(text, size, "socket %s", a->path);
	else if (!a->usb_vid)
		snprintf(text, size, "serial port %s", a->path);
	else
		snprintf(text, size, "USB device %04x:%04x%s%s", a->usb_vid,
			 a->usb_pid, a->usb_serial ? " " : "",
			 a->usb_serial ? a->usb_serial : "");
}

static int open_socket(struct transport *t, const char *path, struct err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int rc;

	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(err, -ENAMETOOLONG,
			       "the path of socket %s is too long", path);
	strcpy(sa.sun_path, path);
	t->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (t->fd < 0)
		return err_sys(err, -errno, "no socket for the rig");
	if (!connect(t->fd, (struct sockaddr *)&sa, sizeof(sa)))
		return 0;
	rc = -errno;
	transport_close(t);
	/* A server that serves one client at a time, and others wait. */
	if (rc == -EAGAIN)
		return err_set(err, -EBUSY,
			       "nobody takes a connection to the rig at socket "
			       "%s: another program holds it, or the rig is "
			       "stopped",
			       path);
	return err_sys(err, rc, "cannot reach the rig at socket %s", path);
}

/* The one place where libserialport's codes become ours. */
static int from_sp(enum sp_return rc)
{
	switch (rc) {
	case SP_OK:
		return 0;
	case SP_ERR_ARG:
		return -EINVAL;
	case SP_ERR_MEM:
		return -ENOMEM;
	case SP_ERR_SUPP:
		return -ENOTSUP;
	default:
		return errno ? -errno : -EIO;
	}
}

/* No flow control: the rig sends and receives whether or not anybody
 * raises a handshake line. */
static int configure_port(struct sp_port *port, int baud)
{
	enum sp_return rc = sp_set_baudrate(port, baud);

	if (rc == SP_OK)
		rc = sp_set_bits(port, 8);
	if (rc == SP_OK)
		rc = sp_set_parity(port, SP_PARITY_NONE);
	if (rc == SP_OK)
		rc = sp_set_stopbits(port, 1);
	if (rc == SP_OK)
		rc = sp_set_flowcontrol(port, SP_FLOWCONTROL_NONE);
	return from_sp(rc);
}

static int open_serial(struct transport *t, const char *path, uint32_t baud,
		       struct err *err)
{
	int rc = from_sp(sp_get_port_by_name(path, &t->port));

	if (rc < 0)
		return err_sys(err, rc, "there is no serial port %s", path);
	rc = from_sp(sp_open(t->port, SP_MODE_READ_WRITE));
	if (rc < 0)
		goto err_close;
	rc = configure_port(t->port, baud ? (int)baud : DEFAULT_BAUD);
	if (rc < 0)
		goto err_close;
	rc = from_sp(sp_get_port_handle(t->port, &t->fd));
	if (!rc)
		return 0;
err_close:
	transport_close(t);
	return err_sys(err, rc, "cannot open the rig's serial port %s", path);
}

int transport_open(struct transport *t, const struct rig_address *a,
		   char *where, size_t size, struct err *err)
{
	char path[256];
	int rc;

	*t = (struct transport){ .fd = -1 };
	if (a->carrier == RIG_SOCKET) {
		rc = open_socket(t, a->path, err);
		if (!rc)
			transport_name(a, where, size);
		return rc;
	}
	if (a->usb_vid) {
		rc = discover_tty(a, path, sizeof(path), err);
		if (rc < 0)
			return rc;
	} else {
		snprintf(path, sizeof(path), "%s", a->path);
	}
	rc = open_serial(t, path, a->baud, err);
	if (!rc)
		snprintf(where, size, "serial port %s", path);
	return rc;
}

void transport_close(struct transport *t)
{
	if (t->port) {
		sp_close(t->port);
		sp_free_port(t->port);
	} else if (t->fd >= 0) {
		close(t->fd);
	}
	*t = (struct transport){ .fd = -1 };
}

ssize_t transport_read(struct transport *t, void *buf, size_t size)
{
	ssize_t n = read(t->fd, buf, size);

	if (n < 0)
		return -errno;
	/* A tty without bytes says 0 when VMIN is 0; one that was unplugged
	 * says EIO. */
	if (!n)
		return t->port ? -EAGAIN : -EPIPE;
	return n;
}

ssize_t transport_write(struct transport *t, const void *buf, size_t len)
{
	ssize_t n = t->port ? write(t->fd, buf, len)
			    : send(t->fd, buf, len, MSG_NOSIGNAL);

	return n < 0 ? -errno : n;
}
