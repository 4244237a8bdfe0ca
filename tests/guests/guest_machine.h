/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_machine.h - for programs that write code: that of their processor */
#ifndef CPREC_TESTS_GUESTS_GUEST_MACHINE_H
#define CPREC_TESTS_GUESTS_GUEST_MACHINE_H

#include <stdint.h>
#include <string.h>

/* Of functions whose code is copied: it is at their address. */
#ifdef __arm__
#define COPIED_CODE __attribute__((noinline, aligned(64), target("arm")))
#else
#define COPIED_CODE __attribute__((noinline, aligned(64)))
#endif

/*
 * Writes a function that returns `value`, of ANSWER_SIZE bytes.  It may begin
 * ANSWER_CUT bytes before the end of a page.
 */
static inline void write_answer(void *at, uint32_t value)
{
#ifdef __aarch64__
	const uint32_t code[] = {
		0x52800000 | (value & 0xffff) << 5,	/* mov w0, low */
		0x72a00000 | value >> 16 << 5,		/* movk w0, high */
		0xd65f03c0,				/* ret */
	};
#define ANSWER_SIZE 12
#define ANSWER_CUT 4
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
#elif defined(__arm__)
	const uint32_t code[] = {
		0xe3000000 | (value & 0xf000) << 4 |
			(value & 0xfff),		/* movw r0, low */
		0xe3400000 | (value >> 28) << 16 |
			(value >> 16 & 0xfff),		/* movt r0, high */
		0xe12fff1e,				/* bx lr */
	};
#define ANSWER_SIZE 12
#define ANSWER_CUT 4
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
#else
	uint8_t *bytes = at;
#define ANSWER_SIZE 6
#define ANSWER_CUT 3

	bytes[0] = 0xb8;	/* mov eax, value; ret */
	memcpy(bytes + 1, &value, 4);
	bytes[5] = 0xc3;
#endif
}

#endif
