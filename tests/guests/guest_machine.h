/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_machine.h - for programs that write code: that of their processor */
#ifndef CPREC_TESTS_GUESTS_GUEST_MACHINE_H
#define CPREC_TESTS_GUESTS_GUEST_MACHINE_H

#include <stdint.h>
#include <string.h>

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
