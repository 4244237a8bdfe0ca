/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm_code.c - code of both kinds, also written at run time; what a handler is
 * told of IT, and where it goes on
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define IT_BITS 0x0600fc00u
#define ALL_FLAGS 0xf8000000u	/* but for GE */

typedef int function(int number);

/* ------- code that is written ------- */

static uint8_t *room;

static int call(unsigned at, unsigned thumb, int argument)
{
	return ((function *)(room + at + thumb))(argument);
}

static void write_arm(unsigned at, unsigned number)
{
	const uint32_t code[] = {
		0xe2800000 | number,	/* add r0, r0, #number */
		0xe12fff1e,		/* bx lr */
	};

	memcpy(room + at, code, sizeof(code));
}

static void write_thumb(unsigned at, unsigned number)
{
	const uint16_t code[] = {
		0x2805,			/* cmp r0, #5 */
		0xbfb4,			/* ite lt */
		(uint16_t)(0x3000 | number),	/* addlt r0, #number */
		0x3801,			/* subge r0, #1 */
		0x4770,			/* bx lr */
	};

	memcpy(room + at, code, sizeof(code));
}

static void use_written(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 100; i++) {
		write_arm(0, i);
		write_thumb(64, i);
		/* Where ARM code was, Thumb code is now, and the reverse. */
		if (i % 2)
			write_arm(128, i);
		else
			write_thumb(128, i);
		/* Over the end of a page. */
		write_thumb(4096 - 6, i);
		__builtin___clear_cache((char *)room, (char *)room + 8192);
		sum = sum * 3 + (unsigned)call(0, 0, 1);
		sum = sum * 3 + (unsigned)call(64, 1, (int)(i % 10));
		sum = sum * 3 + (unsigned)call(128, !(i % 2), 2);
		sum = sum * 3 + (unsigned)call(4096 - 6, 1, (int)(i % 10));
	}
	printf("written: %u\n", sum);
}

/* Code that changes an instruction of its own, behind a barrier. */
static void use_changing(void)
{
	static const uint16_t code[] = {
		0x4603,			/* mov r3, r0 */
		0xa102,			/* adr r1, the last but one */
		0x700b,			/* strb r3, [r1] */
		0xf3bf, 0x8f6f,		/* isb */
		0xbf00,			/* nop */
		0x2001,			/* movs r0, #1 */
		0x4770,			/* bx lr */
	};
	unsigned sum = 0;

	memcpy(room + 512, code, sizeof(code));
	__builtin___clear_cache((char *)room + 512, (char *)room + 1024);
	for (int i = 0; i < 200; i++)
		sum = sum * 3 + (unsigned)call(512, 1, i);
	printf("changing: %u\n", sum);
}

/* ------- an address whose code depends on the state ------- */

static void put(unsigned at, const uint32_t *code, unsigned count)
{
	memcpy(room + at, code, count * sizeof(*code));
}

/* Loads a word while data has its highest byte first. */
__attribute__((noinline, target("arm"))) static uint32_t
load_reversed(const uint32_t *from)
{
	register const uint32_t *value __asm__("r0") = from;

	__asm__ volatile("setend be\n blx %1\n setend le\n"
			 : "+r"(value)
			 : "r"(room + 1536)
			 : "r1", "r2", "r3", "ip", "lr", "cc", "memory");
	return (uint32_t)(uintptr_t)value;
}

static void use_states(void)
{
	/* mov r0, #1; bx lr.  As Thumb: movs r1, r0; b TWO */
	static const uint32_t one[] = { 0xe3a00001, 0xe12fff1e };
	/* ldr r0, [r0]; bx lr */
	static const uint32_t load[] = { 0xe5900000, 0xe12fff1e };
	/* TWO: movs r0, #2; bx lr */
	static const uint16_t two[] = { 0x2002, 0x4770 };
	const uint32_t data = 0x12345678;
	unsigned kinds = 0, in_it = 0, orders = 0;

	put(1024, one, 2);
	put(1536, load, 2);
	memcpy(room + 1024 + 2 + 4 + 0x740, two, sizeof(two));
	write_thumb(4096 - 6, 3);
	__builtin___clear_cache((char *)room, (char *)room + 8192);
	for (int i = 0; i < 500; i++) {
		kinds = kinds * 3 + (unsigned)call(1024, i % 3 == 1, 0);
		/* Its third instruction is in an IT block, or is gone to. */
		in_it = in_it * 3 + (unsigned)call(4096 - 6, 1, i % 10);
		in_it = in_it * 3 + (unsigned)call(4096, 1, i % 10);
		orders = orders * 3 + (unsigned)call(1536, 0, (int)&data);
		orders = orders * 5 + load_reversed(&data);
	}
	printf("kinds: %u, in IT: %u, orders: %u\n", kinds, in_it, orders);
}

/* ------- what handlers are told ------- */

static void on_signal(int number, siginfo_t *info, void *opaque)
{
	ucontext_t *context = opaque;
	mcontext_t *at = &context->uc_mcontext;

	printf("signal %d, code %d: IT %lx, flags %lx, T %lx, r0 %lx\n",
	       number, number == SIGSEGV ? info->si_code : 0,
	       at->arm_cpsr & IT_BITS, at->arm_cpsr & ALL_FLAGS,
	       at->arm_cpsr >> 5 & 1, at->arm_r0);
	at->arm_r1 = (unsigned long)&number;	/* it may be read now */
}

__attribute__((noinline, target("thumb"))) static int load_in_it(int number,
								 void *from)
{
	__asm__ volatile("mov r0, %0\n mov r1, %1\n"
			 "cmp r0, #3\n"
			 "itett eq\n"
			 "addeq r0, r0, #1\n"
			 "movne r0, #7\n"
			 "ldreq r2, [r1]\n"
			 "addeq r0, r0, #1\n"
			 "mov %0, r0\n"
			 : "+r"(number)
			 : "r"(from)
			 : "r0", "r1", "r2", "cc", "memory");
	return number;
}

__attribute__((noinline, target("arm"))) static int load_in_arm(int number,
								void *from)
{
	__asm__ volatile("mov r0, %0\n mov r1, %1\n"
			 "cmp r0, #3\n"
			 "addeq r0, r0, #1\n"
			 "ldreq r2, [r1]\n"
			 "mov %0, r0\n"
			 : "+r"(number)
			 : "r"(from)
			 : "r0", "r1", "r2", "cc", "memory");
	return number;
}

static void use_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	for (int i = 2; i < 5; i++)
		printf("in IT: %d\n", load_in_it(i, (void *)8));
	for (int i = 2; i < 5; i++)
		printf("in ARM: %d\n", load_in_arm(i, (void *)8));
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	room = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	use_written();
	use_changing();
	use_states();
	use_signals();
	return 0;
}
