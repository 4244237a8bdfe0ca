/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crashes.c - usage: crashes KIND; dies as the kind says */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct node {
	int value;
	struct node *next;
};

static const int fixed[1024] = { 1, 2, 3 };
static volatile int zero;
static int (*volatile called)(int);
static unsigned char data[64] = { 0xc3 };

static int reads(struct node *node)
{
	return node->next->value;
}

static int writes(int *at)
{
	return *at = 5;
}

static int divides(int n)
{
	return n / zero;
}

static int jumps(void)
{
	return called(1) + 1;
}

static int checks(int n)
{
	assert(n == 3);
	return n;
}

static int is_in_library(const char *text)
{
	return (int)strlen(text) + 1;
}

static int fills_stack(int n)
{
	volatile char room[400];

	room[n % 400] = (char)n;
	return fills_stack(n + 1) + room[0];
}

static void handler(int number)
{
	(void)number;
	abort();
}

static void *thread(void *argument)
{
	return (void *)(intptr_t)reads(argument);
}

static int bus(void)
{
	char name[] = "/tmp/cprec-crashes-XXXXXX";
	int file = mkstemp(name);
	int *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);

	unlink(name);
	return map[3];
}

static int strange(uint64_t addr)
{
	return *(volatile int *)addr;
}

static void frees(void)
{
	char *volatile block = calloc(1, 40), *volatile inside = block + 8;

	free(inside);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	struct node node = { 0 };
	pthread_t other;

	if (!strcmp(kind, "read"))
		return reads(&node);
	if (!strcmp(kind, "write"))
		return writes((int *)0x10);
	if (!strcmp(kind, "constant"))
		return writes((int *)(uintptr_t)&fixed[512]);
	if (!strcmp(kind, "divide"))
		return divides(argc);
	if (!strcmp(kind, "jump"))
		return jumps();
	if (!strcmp(kind, "data")) {
		called = (int (*)(int))(uintptr_t)data;
		return jumps();
	}
	if (!strcmp(kind, "assert"))
		return checks(argc);
	if (!strcmp(kind, "abort"))
		abort();
	if (!strcmp(kind, "library"))
		return is_in_library((const char *)(uintptr_t)(argc - 1));
	if (!strcmp(kind, "stack"))
		return fills_stack(argc);
	if (!strcmp(kind, "handler")) {
		signal(SIGSEGV, handler);
		return reads(&node);
	}
	if (!strcmp(kind, "thread")) {
		pthread_create(&other, NULL, thread, &node);
		pthread_join(other, NULL);
	}
	if (!strcmp(kind, "bus"))
		return bus();
	if (!strcmp(kind, "strange"))
		return strange(UINT64_C(1) << 63);
	if (!strcmp(kind, "trap"))
		__builtin_trap();
	if (!strcmp(kind, "breakpoint"))
		__asm__("int3");
	if (!strcmp(kind, "killed"))
		kill(getpid(), SIGTERM);
	if (!strcmp(kind, "heap"))
		frees();
	return 0;
}
