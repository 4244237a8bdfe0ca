/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_grows.c - mprotect(2) of mappings that grow down, and of others */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define PAGE 4096u
#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static sigjmp_buf back;

static void jump(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	siglongjmp(back, 1);
}

static int may_write(volatile char *at)
{
	if (sigsetjmp(back, 1))
		return 0;
	*at = 1;
	return 1;
}

static char *map(size_t pages, int flags)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

/* The permissions of the mapping of `at` in /proc/self/maps. */
static const char *permissions(const void *at)
{
	static char found[5];
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512], text[5];

	*found = '\0';
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, text) == 3 &&
		    start <= (uintptr_t)at && (uintptr_t)at < end)
			memcpy(found, text, sizeof(found));
	if (maps)
		fclose(maps);
	return found;
}

static void test_others(void)
{
	char *at = map(4, 0);

	CHECK(FAILS(mprotect(at, PAGE, PROT_READ | PROT_GROWSDOWN), EINVAL));
	CHECK(FAILS(mprotect(at, PAGE, PROT_READ | PROT_GROWSUP), EINVAL));
	CHECK(FAILS(mprotect(at, PAGE,
			     PROT_READ | PROT_GROWSDOWN | PROT_GROWSUP),
		    EINVAL));
	CHECK(FAILS(mprotect(at, 0, PROT_GROWSDOWN | PROT_GROWSUP), EINVAL));
	CHECK(!mprotect(at, 0, PROT_READ | PROT_GROWSDOWN));
	CHECK(!mprotect(at, 0, 1 << 20));
	CHECK(FAILS(mprotect(at, PAGE, 1 << 20), EINVAL));
	CHECK(FAILS(mprotect(at + 1, PAGE, PROT_GROWSDOWN), EINVAL));
	CHECK(may_write(at) && !strcmp(permissions(at), "rw-p"));
	munmap(at + PAGE, PAGE);
	CHECK(FAILS(mprotect(at + PAGE, PAGE, PROT_READ | PROT_GROWSDOWN),
		    ENOMEM));
	CHECK(FAILS(mprotect(at + PAGE, 2 * PAGE, PROT_READ | PROT_GROWSDOWN),
		    EINVAL));
	CHECK(FAILS(mprotect(at + PAGE, 2 * PAGE, PROT_READ | PROT_GROWSUP),
		    ENOMEM));
	munmap(at, 4 * PAGE);
}

/* The change reaches down to where the mapping starts. */
static void test_growing(void)
{
	char *at = map(8, 0) + 4 * PAGE;

	munmap(at - 4 * PAGE, 8 * PAGE);
	at = mmap(at, 4 * PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1,
		  0);
	CHECK(at != MAP_FAILED);
	CHECK(!mprotect(at + 2 * PAGE, PAGE, PROT_READ | PROT_GROWSDOWN));
	CHECK(!may_write(at) && !may_write(at + 2 * PAGE));
	CHECK(may_write(at + 3 * PAGE));
	CHECK(FAILS(mprotect(at, PAGE, PROT_READ | PROT_GROWSUP), EINVAL));
	CHECK(!mprotect(at + PAGE, PAGE,
			PROT_READ | PROT_WRITE | PROT_GROWSDOWN));
	CHECK(may_write(at) && may_write(at + PAGE));
	CHECK(!may_write(at + 2 * PAGE));
	munmap(at, 4 * PAGE);
	at = map(4, 0);
	CHECK(FAILS(mprotect(at, PAGE, PROT_READ | PROT_GROWSDOWN), EINVAL));
	munmap(at, 4 * PAGE);
	CHECK(mmap(NULL, PAGE, PROT_READ,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) ==
		      MAP_FAILED && errno == EINVAL);
}

/* As the dynamic loader does for programs that want an executable stack. */
static void test_stack(void)
{
	volatile char here = 0;
	char *page = (char *)((uintptr_t)&here & -(uintptr_t)PAGE);

	CHECK(!strcmp(permissions(page), "rw-p"));
	CHECK(!mprotect(page, PAGE,
			PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN));
	CHECK(!strcmp(permissions(page), "rwxp"));
	CHECK(!strcmp(permissions(page - PAGE), "rwxp"));
	CHECK(!mprotect(page, PAGE,
			PROT_READ | PROT_WRITE | PROT_GROWSDOWN));
	CHECK(!strcmp(permissions(page - PAGE), "rw-p"));
	CHECK(FAILS(mprotect(page, PAGE,
			     PROT_READ | PROT_WRITE | PROT_GROWSUP),
		    EINVAL));
}

int main(void)
{
	install(SIGSEGV, jump, 0);
	test_others();
	test_growing();
	test_stack();
	return guest_end();
}
