/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_calls.c - how much system calls read and write */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define LARGE (UINT64_C(65) << 20)	/* bytes */

static uint8_t *map(uint64_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void test_random(void)
{
	uint8_t *bytes = map(LARGE);
	uint64_t zeros = 0;

	CHECK(getrandom(bytes, LARGE, 0) == (ssize_t)LARGE);
	for (uint64_t i = LARGE - 4096; i < LARGE; i++)
		zeros += !bytes[i];
	CHECK(zeros < 100);
	munmap(bytes, LARGE);
}

static void send_all(int to)
{
	uint8_t *bytes = map(LARGE);
	uint64_t sent = 0;

	for (uint64_t i = 0; i < LARGE; i += 4096)
		bytes[i] = (uint8_t)(i >> 12);
	while (sent < LARGE) {
		ssize_t done = send(to, bytes + sent, LARGE - sent, 0);

		if (done <= 0)
			_exit(1);
		sent += (uint64_t)done;
	}
	_exit(0);
}

/* One call each moves all of it. */
static void test_sockets(void)
{
	uint8_t *bytes = map(LARGE);
	uint64_t wrong = 0;
	int ends[2];
	pid_t child;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	child = fork();
	if (!child)
		send_all(ends[1]);
	close(ends[1]);
	CHECK(recv(ends[0], bytes, LARGE, MSG_WAITALL) == (ssize_t)LARGE);
	for (uint64_t i = 0; i < LARGE; i += 4096)
		wrong += bytes[i] != (uint8_t)(i >> 12);
	CHECK(!wrong);
	CHECK(end_of(child) == 0);
	/* The room may be said to be more than there is. */
	CHECK(recv(ends[0], bytes, UINT64_C(1) << 40, 0) == 0);
	close(ends[0]);
	munmap(bytes, LARGE);
}

/* Bytes behind what the kernel fills in stay as they are. */
static unsigned first_untouched(const uint8_t *bytes, unsigned size)
{
	while (size && bytes[size - 1] == 0xaa)
		size--;
	return size;
}

static void test_capget(void)
{
	static const struct {
		uint32_t version;
		unsigned size;
	} rows[] = {
		{ _LINUX_CAPABILITY_VERSION_1, 12 },
		{ _LINUX_CAPABILITY_VERSION_3, 24 },
	};

	for (unsigned i = 0; i < 2; i++) {
		struct __user_cap_header_struct header = { rows[i].version, 0 };
		uint8_t bytes[48];

		memset(bytes, 0xaa, sizeof(bytes));
		CHECK(!syscall(SYS_capget, &header, bytes));
		CHECK(first_untouched(bytes, sizeof(bytes)) == rows[i].size);
	}
}

static void test_sched_getattr(void)
{
	uint8_t bytes[128];
	unsigned filled;
	uint32_t size;

	memset(bytes, 0xaa, sizeof(bytes));
	CHECK(!syscall(SYS_sched_getattr, 0, bytes, sizeof(bytes), 0));
	memcpy(&size, bytes, sizeof(size));
	CHECK(size >= 48 && size < sizeof(bytes));
	/* Newer kernels clear the rest. */
	filled = first_untouched(bytes, sizeof(bytes));
	CHECK(filled == size || filled == sizeof(bytes));
	memset(bytes, 0xaa, sizeof(bytes));
	CHECK(!syscall(SYS_sched_getattr, 0, bytes, 48, 0));
	CHECK(first_untouched(bytes, sizeof(bytes)) == 48);
	CHECK(syscall(SYS_sched_getattr, 0, bytes, 8, 0) == -1 &&
	      errno == EINVAL);
}

static void test_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY), on = 1, value = -1;

	CHECK(fd >= 0);
	CHECK(!ioctl(fd, TIOCPKT, &on));
	CHECK(!ioctl(fd, TIOCGPKT, &value) && value == 1);
	CHECK(!ioctl(fd, TIOCGPTLCK, &value) && value == 1);
	CHECK(!ioctl(fd, TIOCGEXCL, &value) && value == 0);
	close(fd);
}

static void test_prctl(void)
{
	int kept = prctl(PR_MCE_KILL_GET, 0, 0, 0, 0);

	CHECK(kept >= 0);
	CHECK(!prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0));
	CHECK(prctl(PR_MCE_KILL_GET, 0, 0, 0, 0) == PR_MCE_KILL_EARLY);
	CHECK(!prctl(PR_MCE_KILL, PR_MCE_KILL_CLEAR, 0, 0, 0));
}

int main(void)
{
	test_random();
	test_sockets();
	test_capget();
	test_sched_getattr();
	test_terminal();
	test_prctl();
	return guest_end();
}
