/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_peaks.c - the most memory that a process had, by all who tell it */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static char text[16384], other[16384];

static void slurp(char *out)
{
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t size = read(fd, out, sizeof(text) - 1);

	CHECK(size > 0);
	out[size > 0 ? size : 0] = 0;
	close(fd);
}

/* The number behind a name; -1. */
static long number_of(const char *lines, const char *name)
{
	const char *at = strstr(lines, name);

	return at ? atol(at + strlen(name)) : -1;
}

enum { LARGE = 48 << 20 };

static long most_present(int who)
{
	struct rusage usage;

	CHECK(!getrusage(who, &usage));
	return usage.ru_maxrss;
}

static char *use_much(void)
{
	char *map = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED);
	memset(map, 1, LARGE);
	return map;
}

/* The program that was there before had much. */
static int after_exec(void)
{
	CHECK(most_present(RUSAGE_SELF) * 1024L > LARGE);
	slurp(text);
	CHECK(number_of(text, "VmHWM:") * 1024 < LARGE / 2);
	CHECK(number_of(text, "VmPeak:") * 1024 < LARGE / 2);
	return guest_failures;
}

static void test_peaks(char *program)
{
	const long large = LARGE / 1024, little = 6 << 10;
	long most;
	char *map;
	pid_t pid;

	CHECK(most_present(RUSAGE_SELF) < large / 2);
	slurp(text);
	map = use_much();
	munmap(map, LARGE);
	slurp(other);
	CHECK(number_of(other, "VmRSS:") < large / 2);
	most = number_of(other, "VmHWM:");
	CHECK(most > large);
	CHECK(most < number_of(text, "VmRSS:") + large + little);
	CHECK(labs(most_present(RUSAGE_SELF) - most) <= little);
	CHECK(most_present(RUSAGE_THREAD) == most_present(RUSAGE_SELF));
	CHECK(number_of(other, "VmPeak:") >=
	      number_of(text, "VmSize:") + large);
	CHECK(number_of(other, "VmSize:") <
	      number_of(text, "VmSize:") + large / 2);
	pid = fork();
	if (!pid) {
		CHECK(most_present(RUSAGE_SELF) < large / 2);
		use_much();
		if (!guest_failures)
			execl(program, program, "after", NULL);
		_exit(99);
	}
	CHECK(end_of(pid) == 0);
}

/* What is reserved and never touched costs nothing to count. */
static void test_reserved(void)
{
	size_t size = (size_t)1 << 44, middle;
	char *map, *part;
	long before, after;

	slurp(text);
	do
		map = mmap(NULL, size /= 2, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	while (map == MAP_FAILED && size > LARGE);
	CHECK(map != MAP_FAILED);
	middle = size / 2 & ~(size_t)4095;
	part = map + middle;
	CHECK(!mprotect(part, LARGE, PROT_READ | PROT_WRITE));
	memset(part, 1, LARGE / 2);
	alarm(20);
	slurp(other);
	before = number_of(text, "VmRSS:");
	after = number_of(other, "VmRSS:");
	CHECK(after - before >= LARGE / 2 / 1024);
	CHECK(after - before < LARGE / 1024);
	for (int i = 0; i < 10; i++) {
		CHECK(most_present(RUSAGE_SELF) >= after);
		slurp(other);
		CHECK(number_of(other, "VmRSS:") >= after);
	}
	alarm(0);
	munmap(map, size);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return after_exec();
	test_peaks(argv[0]);
	test_reserved();
	return guest_end();
}
