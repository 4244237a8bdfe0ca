/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever comes over a connection, wire_take() gives whole messages, none
 * longer than WIRE_MESSAGE_MOST, with a NUL behind them, and ends when it does.
 * A message that is sent comes out as it went in.  The first byte says whether
 * messages are confirmed.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debugger/wire.h"
#include "tests/fuzz/fuzz.h"

static void told(void *context)
{
	(void)context;
}

static void interrupted(void *context, bool is_idle)
{
	(void)context;
	(void)is_idle;
}

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	assert(fd >= 0);
	assert(write(fd, data, size) == (ssize_t)size);
	assert(!lseek(fd, 0, SEEK_SET));
	return fd;
}

static struct wire *open_wire(int in, int out, bool trusts)
{
	const struct wire_ends ends = {
		.in = in,
		.out = out,
		.interrupt = interrupted,
		.over = told,
		.settle = told,
	};
	struct wire *wire;

	assert(!wire_open(&wire, &ends));
	if (trusts)
		wire_trust(wire);
	return wire;
}

static void take_all(int in, int out, bool trusts)
{
	struct wire *wire = open_wire(in, out, trusts);
	const char *message;
	size_t size;

	while (wire_take(wire, &message, &size)) {
		assert(size < WIRE_MESSAGE_MOST);
		assert(!message[size]);
	}
	wire_close(wire);
}

static void send_and_take(const uint8_t *data, size_t size, int out)
{
	int file = file_of(data, 0);
	struct wire *wire = open_wire(file, file, true);
	const char *message;
	size_t taken;

	/* What it reads has ended; another one reads what it writes. */
	assert(!wire_take(wire, &message, &taken));
	assert(wire_send(wire, (const char *)data, size));
	wire_close(wire);
	assert(!lseek(file, 0, SEEK_SET));
	wire = open_wire(file, out, false);
	assert(wire_take(wire, &message, &taken));
	assert(taken == size && !memcmp(message, data, size));
	assert(!wire_take(wire, &message, &taken));
	wire_close(wire);
	close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in, out;

	if (!size)
		return 0;
	in = file_of(data + 1, size - 1);
	out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert(out >= 0);
	take_all(in, out, *data & 1);
	close(in);
	send_and_take(data,
		      size < WIRE_MESSAGE_MOST ? size : WIRE_MESSAGE_MOST - 1,
		      out);
	close(out);
	return 0;
}
