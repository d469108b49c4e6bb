/* hal/ on a POSIX system. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "firmware/hal/activity.h"
#include "firmware/hal/clock.h"
#include "firmware/hal/gpio.h"
#include "firmware/hal/idle.h"
#include "firmware/hal/reset.h"
#include "firmware/hal/uart.h"
#include "firmware/hal/watchdog.h"
#include "firmware/port/posix/posix.h"

#define IDLE_MAX_US 10000u

/* ---- time ---- */

static uint64_t monotonic_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

uint64_t hal_clock_us(void)
{
	if (posix.stepped)
		return posix.now_us;
	return monotonic_us() - posix.start_us;
}

static void serve_sockets(int timeout_ms)
{
	struct pollfd fds[4] = {
		{ .fd = posix.uart.listener, .events = POLLIN },
		{ .fd = posix.uart.client, .events = POLLIN },
		{ .fd = posix.backplane.listener, .events = POLLIN },
		{ .fd = posix.backplane.client, .events = POLLIN },
	};

	if (poll(fds, 4, timeout_ms) <= 0)
		return;
	if (fds[0].revents)
		posix_accept(&posix.uart);
	if (fds[3].revents)
		posix_backplane_read();
	if (fds[2].revents && posix_accept(&posix.backplane))
		posix_backplane_hello();
}

/* Stepped time stands still until the backplane lets it go on. */
void hal_idle(uint64_t until_us)
{
	uint64_t now_us = hal_clock_us();
	uint64_t wait_us = until_us > now_us ? until_us - now_us : 0;

	while (posix.hang)
		pause();
	if (wait_us > IDLE_MAX_US)
		wait_us = IDLE_MAX_US;
	if (posix.stepped && wait_us)
		serve_sockets(-1);
	else
		serve_sockets((int)(wait_us + 999u) / 1000);
}

/* ---- pins ---- */

static unsigned index_of(struct hal_pin pin)
{
	return pin.port * 8u + pin.bit;
}

void hal_gpio_outputs_low(const struct hal_pin *pins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hal_gpio_set(pins[i], false);
}

void hal_gpio_set(struct hal_pin pin, bool high)
{
	unsigned i = index_of(pin);

	if (posix.gate[i] == high)
		return;
	posix.gate[i] = high;
	posix_backplane_say("gate %u %d %d\n", i / RIG_RAILS,
			    i % RIG_RAILS == RAIL_5V ? 5 : 12, high);
}

bool hal_gpio_get(struct hal_pin pin)
{
	return posix.gate[index_of(pin)];
}

void hal_activity_init(const struct hal_pin *pins, size_t n)
{
	(void)pins;
	(void)n;
	memset(posix.edges, 0, sizeof(posix.edges));
}

uint32_t hal_activity_edges(size_t ch)
{
	return posix.edges[ch];
}

bool hal_activity_is_active(size_t ch)
{
	return posix.active[ch];
}

/* ---- link ---- */

void hal_uart_init(uint32_t baud)
{
	(void)baud;
}

size_t hal_uart_read(uint8_t *buf, size_t cap, uint64_t *at_us)
{
	ssize_t n;

	if (posix.uart.client < 0)
		return 0;
	n = recv(posix.uart.client, buf, cap, 0);
	if (n > 0) {
		*at_us = hal_clock_us();
		return (size_t)n;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		posix_close_client(&posix.uart);
	return 0;
}

/* Bytes to nobody are gone, as on a wire. */
size_t hal_uart_write(const uint8_t *buf, size_t len)
{
	ssize_t n;

	if (posix.uart.client < 0)
		return len;
	n = send(posix.uart.client, buf, len, MSG_NOSIGNAL);
	if (n >= 0)
		return (size_t)n;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	posix_close_client(&posix.uart);
	return len;
}

uint32_t hal_uart_overruns(void)
{
	return 0;
}

const struct hal_i2c *hal_i2c_init(void)
{
	return &posix.parts.bus;
}

/* ---- watchdog ---- */

static void on_alarm(int sig)
{
	(void)sig;
	/* NOLINTNEXTLINE(bugprone-signal-handler): it calls only execve() */
	hal_reset(RESET_WATCHDOG);
}

void hal_watchdog_start(uint32_t timeout_ms)
{
	sigset_t mask;

	posix.watchdog_ms = timeout_ms;
	/* Blocked in the handler that executed us, and inherited. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	signal(SIGALRM, on_alarm);
	hal_watchdog_feed();
}

/* Stepped time stands still as long as the test likes. */
void hal_watchdog_feed(void)
{
	struct itimerval it = { 0 };

	if (posix.stepped && !posix.hang)
		return;
	it.it_value.tv_sec = posix.watchdog_ms / 1000u;
	it.it_value.tv_usec = (suseconds_t)(posix.watchdog_ms % 1000u) * 1000;
	setitimer(ITIMER_REAL, &it, NULL);
}

/* ---- start ---- */

static void *map(int fd, size_t size)
{
	void *p;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		return NULL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int posix_hal_start(void)
{
	uint8_t *eeprom;

	posix.start_us = monotonic_us();
	if (posix.lasting_fd < 0)
		posix.lasting_fd = memfd_create("bay-firmware", 0);
	posix.lasting = map(posix.lasting_fd, sizeof(*posix.lasting));
	if (!posix.lasting)
		return -errno;
	eeprom = posix.lasting->eeprom;
	if (posix.eeprom_path) {
		int fd = open(posix.eeprom_path, O_RDWR | O_CREAT | O_CLOEXEC,
			      0600);

		eeprom = map(fd, PARTS_EEPROM_BYTES);
		if (fd >= 0)
			close(fd);
	}
	if (!eeprom)
		return -errno;
	parts_init(&posix.parts, eeprom);
	return 0;
}
