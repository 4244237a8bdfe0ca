/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_page_ends.c - code at the end of a page, behind which no page is used
 *
 * What a program becomes has a stack at a high address, if it was forked by one
 * that has used such addresses; then its accesses ask the TLB.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/guests/guest.h"

#define HIGH 0x7e0000000000ul
#define ENOUGH 10100u	/* accesses to such addresses */

#if defined(__x86_64__)
#define LOAD "movl (%rdi), %eax\n ret\n"
#define FILL "0xcc"
#define LOAD_SIZE "3"
#else
#define LOAD "ldr w0, [x0]\n ret\n"
#define FILL "0"
#define LOAD_SIZE "8"
#endif

int load_last(const int *from);

__asm__(".pushsection .text\n"
	".balign 4096, " FILL "\n"
	".fill 4096 - " LOAD_SIZE ", 1, " FILL "\n"
	"load_last:\n"
	LOAD
	".fill 4096, 1, " FILL "\n"
	".popsection\n");

/* As early as it can be: later, so many accesses were high that all ask. */
static void load(int argc, char **argv, char **environment)
{
	int there = 0;

	(void)argv;
	(void)environment;
	if (argc > 1)
		_exit(load_last(&there));
}

static __attribute__((section(".preinit_array"), used))
void (*const begin)(int, char **, char **) = load;

int main(int argc, char **argv)
{
	volatile int *high = mmap((void *)HIGH, 4096, PROT_READ, MAP_PRIVATE |
				  MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int status;
	pid_t child;

	(void)argc;
	CHECK(high == (void *)HIGH);
	for (unsigned i = 0; i < ENOUGH; i++)
		CHECK(!*high);
	CHECK(!munmap((void *)HIGH, 4096));
	child = fork();
	if (!child) {
		execl("/proc/self/exe", argv[0], "child", NULL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	return guest_end();
}
