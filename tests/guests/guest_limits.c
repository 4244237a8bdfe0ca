/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_limits.c - setrlimit(2), RLIMIT_AS and RLIMIT_DATA, and what a new
 * program has of limits
 *
 * With an argument it is what one of the tests has executed.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/guests/guest_limits.h"

#ifdef SYS_getrlimit
#define GET_LIMIT SYS_getrlimit
#else
#define GET_LIMIT SYS_ugetrlimit
#endif

#define PAGE 4096u

/* ------- memory ------- */

#define MANY (size_t)(64 << 20)
#define SOME (size_t)(4 << 20)

static char *map(size_t size, int prot, int flags)
{
	char *at = mmap(NULL, size, prot, flags | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED && errno == ENOMEM ? NULL : at;
}

/* A line of /proc/self/status, in bytes. */
static rlim_t status_of(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kilobytes = 0;
	char line[200];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %lu", &kilobytes);
	CHECK(kilobytes > 0);
	if (file)
		fclose(file);
	return (rlim_t)kilobytes << 10;
}

static void test_memory(void)
{
	int rw = PROT_READ | PROT_WRITE;
	char *at, *end = sbrk(0);
	struct rlimit limit;

	set_limit(RLIMIT_AS, status_of("VmSize") + MANY / 2);
	CHECK(!map(MANY, rw, MAP_PRIVATE));
	CHECK(!map(MANY, PROT_NONE, MAP_PRIVATE));
	CHECK(!map(MANY, rw, MAP_SHARED));
	at = map(SOME, rw, MAP_PRIVATE);
	CHECK(at && memset(at, 1, SOME) == at);
	CHECK(mremap(at, SOME, MANY, MREMAP_MAYMOVE) == MAP_FAILED &&
	      errno == ENOMEM);
	at = mremap(at, SOME, 2 * SOME, MREMAP_MAYMOVE);
	CHECK(at != MAP_FAILED);
	/* What is mapped over something takes nothing more. */
	set_limit(RLIMIT_AS, SOME);
	CHECK(!map(PAGE, rw, MAP_PRIVATE));
	CHECK(sbrk(PAGE) == (void *)-1 && sbrk(0) == end);
	CHECK(!munmap(at, SOME) && !mprotect(at + SOME, SOME, PROT_NONE));
	CHECK(!mprotect(at + SOME, SOME, rw));
	CHECK(!getrlimit(RLIMIT_AS, &limit));
	set_limit(RLIMIT_AS, limit.rlim_max);
	CHECK(map(MANY, rw, MAP_PRIVATE));
}

static void test_data(void)
{
	int rw = PROT_READ | PROT_WRITE;
	char *end = sbrk(0), *at;

	set_limit(RLIMIT_DATA, status_of("VmData") + SOME);
	CHECK(!map(MANY, rw, MAP_PRIVATE) && map(MANY, rw, MAP_SHARED));
	CHECK(sbrk(2 * SOME) == (void *)-1 && sbrk(0) == end);
	at = map(MANY, PROT_READ, MAP_PRIVATE);
	CHECK(at && mprotect(at, MANY, rw) == -1 && errno == ENOMEM);
	CHECK(!mprotect(at, SOME / 2, rw));
	CHECK(mprotect(at, SOME * 2, rw) == -1 && errno == ENOMEM);
	CHECK(mremap(at, SOME / 2, SOME * 2, MREMAP_MAYMOVE) == MAP_FAILED &&
	      errno == ENOMEM);
	CHECK(!mprotect(at, SOME / 2, PROT_READ));
	CHECK(!mprotect(at + MANY - SOME / 2, SOME / 2, rw));
	CHECK(mmap(at, MANY, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS,
		   -1, 0) == at);
	at = map(SOME / 2, rw, MAP_PRIVATE);
	CHECK(at != NULL && !map(SOME, rw, MAP_PRIVATE));
}

static char *executed[4];

/* A program for which there is no room is begun, and killed. */
static void test_no_room(void)
{
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_AS, 200 << 10);
	execv(executed[0], executed);
	CHECK(!"back");
}

static void test_inherited(void)
{
	set_limit(RLIMIT_FSIZE, 1234567);
	set_limit(RLIMIT_NOFILE, 33);
	set_limit(RLIMIT_AS, 500 << 20);
	set_limit(RLIMIT_DATA, 100 << 20);
	set_limit(RLIMIT_STACK, 1 << 20);
	CHECK(freopen("shown", "w", stdout) != NULL);
	execv(executed[0], executed);
	CHECK(!"executed");
}

/* ------- what they are ------- */

static rlim_t soft(int resource)
{
	struct rlimit limit = { 0 };

	CHECK(!getrlimit(resource, &limit));
	return limit.rlim_cur;
}

/* The line of /proc/self/limits that begins like this. */
static const char *line_of(const char *name)
{
	static char line[200];
	FILE *file = fopen("/proc/self/limits", "r");

	CHECK(file != NULL);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			break;
	if (file)
		fclose(file);
	return line;
}

static int after_exec(void)
{
	CHECK(soft(RLIMIT_FSIZE) == 1234567 && soft(RLIMIT_NOFILE) == 33);
	CHECK(soft(RLIMIT_AS) == 500 << 20 && soft(RLIMIT_STACK) == 1 << 20);
	CHECK(sysconf(_SC_OPEN_MAX) == 33);
	CHECK(!map((size_t)1 << 30, PROT_READ, MAP_PRIVATE));
	fputs(line_of("Limit"), stdout);
	fputs(line_of("Max file size"), stdout);
	fputs(line_of("Max open files"), stdout);
	fputs(line_of("Max address space"), stdout);
	fputs(line_of("Max data size"), stdout);
	fputs(line_of("Max stack size"), stdout);
	fputs(line_of("Max realtime priority"), stdout);
	return guest_end();
}

static void test_calls(void)
{
	struct rlimit old, limit;

	CHECK(!getrlimit(RLIMIT_FSIZE, &old));
	limit = (struct rlimit){ 2000, 1000 };
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_setrlimit, RLIMIT_FSIZE, 8) == -1 &&
	      errno == EFAULT);
	CHECK(syscall(GET_LIMIT, RLIMIT_FSIZE, 8) == -1 &&
	      errno == EFAULT);
	CHECK(syscall(GET_LIMIT, 16, &limit) == -1 && errno == EINVAL);
	limit = (struct rlimit){ 500, 1000 };
	CHECK(!prlimit(getpid(), RLIMIT_FSIZE, &limit, &old));
	CHECK(!prlimit(0, RLIMIT_FSIZE, NULL, &old));
	CHECK(old.rlim_cur == 500 && old.rlim_max == 1000);
	limit = (struct rlimit){ 5, UINT64_C(1) << 40 };
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == -1 && errno == EPERM);
	/* Nobody but root may raise what was lowered. */
	limit = (struct rlimit){ 500, 2000 };
	if (!geteuid())
		CHECK(!setresuid(1, 1, 1));
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == -1 && errno == EPERM);
	limit.rlim_max = 900;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
}

/* What a child has printed, which no replay of this process repeats. */
static void print_file(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[200];

	while (file && fgets(line, sizeof(line), file))
		fputs(line, stdout);
	CHECK(file && !fclose(file));
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return after_exec();
	executed[0] = realpath("/proc/self/exe", NULL);
	executed[1] = (char *)"executed";
	(void)argv;
	in_child("calls", test_calls, 0);
	in_child("memory", test_memory, 0);
	in_child("data", test_data, 0);
	in_child("no room", test_no_room, 1000 + SIGSEGV);
	in_child("inherited", test_inherited, 0);
	print_file("shown");
	return guest_end();
}
