/* Which serial port belongs to a USB device. ttyUSB numbers follow the order
 * of plugging in and mean nothing; bus and address do. */
#include "host/rig/transport.h"

#include <errno.h>
#include <libserialport.h>
#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
	int bus;
	int address;
	unsigned matches;
	unsigned unreadable; /* serial number could not be read */
};

static int from_usb(int rc)
{
	switch (rc) {
	case LIBUSB_ERROR_ACCESS:
		return -EACCES;
	case LIBUSB_ERROR_NO_MEM:
		return -ENOMEM;
	case LIBUSB_ERROR_NO_DEVICE:
		return -ENODEV;
	case LIBUSB_ERROR_BUSY:
		return -EBUSY;
	default:
		return rc < 0 ? -EIO : 0;
	}
}

/* 1: it is the one, 0: it is not, -errno: cannot tell. */
static int has_serial(libusb_device *dev,
		      const struct libusb_device_descriptor *desc,
		      const char *want)
{
	unsigned char text[128] = "";
	libusb_device_handle *h;
	int rc;

	if (!want)
		return 1;
	if (!desc->iSerialNumber)
		return 0;
	rc = libusb_open(dev, &h);
	if (rc < 0)
		return from_usb(rc);
	rc = libusb_get_string_descriptor_ascii(h, desc->iSerialNumber, text,
						sizeof(text) - 1);
	libusb_close(h);
	return rc < 0 ? from_usb(rc) : !strcmp((const char *)text, want);
}

static void look_at(libusb_device *dev, const struct rig_address *a,
		    struct found *f)
{
	struct libusb_device_descriptor desc;
	int rc;

	if (libusb_get_device_descriptor(dev, &desc) < 0 ||
	    desc.idVendor != a->usb_vid || desc.idProduct != a->usb_pid)
		return;
	rc = has_serial(dev, &desc, a->usb_serial);
	if (rc < 0)
		f->unreadable++;
	if (rc != 1)
		return;
	f->matches++;
	f->bus = libusb_get_bus_number(dev);
	f->address = libusb_get_device_address(dev);
}

static int find_usb(const struct rig_address *a, struct found *f,
		    struct err *err)
{
	libusb_device **list;
	libusb_context *usb;
	ssize_t n;
	int rc = libusb_init(&usb);

	if (rc < 0)
		return err_set(err, from_usb(rc), "USB is not usable: %s",
			       libusb_error_name(rc));
	n = libusb_get_device_list(usb, &list);
	for (ssize_t i = 0; i < n; i++)
		look_at(list[i], a, f);
	if (n >= 0)
		libusb_free_device_list(list, 1);
	libusb_exit(usb);
	if (n < 0)
		return err_set(err, from_usb((int)n),
			       "cannot list the USB devices: %s",
			       libusb_error_name((int)n));
	return 0;
}

/* First tty of that device; an adapter with several has the rig on its
 * first. */
static bool find_port(const struct found *f, char *path, size_t size)
{
	struct sp_port **list;
	bool done = false;

	if (sp_list_ports(&list) != SP_OK)
		return false;
	for (unsigned i = 0; list[i]; i++) {
		const char *name = sp_get_port_name(list[i]);
		int bus, address;

		if (sp_get_port_usb_bus_address(list[i], &bus, &address) !=
			    SP_OK ||
		    bus != f->bus || address != f->address)
			continue;
		if (done && strcmp(name, path) > 0)
			continue;
		snprintf(path, size, "%s", name);
		done = true;
	}
	sp_free_port_list(list);
	return done;
}

static int explain_none(const struct rig_address *a, const struct found *f,
			struct err *err)
{
	char name[160];

	transport_name(a, name, sizeof(name));
	if (f->unreadable)
		return err_set(err, -EACCES,
			       "%s: a device of this kind is there but its "
			       "serial number cannot be read; run as a member "
			       "of the group that owns /dev/bus/usb",
			       name);
	return err_set(err, -ENODEV, "%s is not plugged in", name);
}

int discover_tty(const struct rig_address *a, char *path, size_t size,
		 struct err *err)
{
	struct found f = { .matches = 0 };
	char name[160];
	int rc = find_usb(a, &f, err);

	if (rc < 0)
		return rc;
	if (!f.matches)
		return explain_none(a, &f, err);
	transport_name(a, name, sizeof(name));
	if (f.matches > 1)
		return err_set(err, -EEXIST,
			       "%u devices match %s: give usb_serial in the "
			       "bench description",
			       f.matches, name);
	if (!find_port(&f, path, size))
		return err_set(err, -ENXIO,
			       "%s has no serial port: is its driver loaded?",
			       name);
	return 0;
}

int rig_parse_usb_id(const char *text, uint16_t *vid, uint16_t *pid)
{
	unsigned v, p;
	int used = 0;

	if (sscanf(text, "%4x:%4x%n", &v, &p, &used) != 2 || text[used] || !v ||
	    strchr(text, '-') || strchr(text, ' '))
		return -EINVAL;
	*vid = (uint16_t)v;
	*pid = (uint16_t)p;
	return 0;
}
