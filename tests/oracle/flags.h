/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags.h - a small x86-64 decoder for the single-stepper
 *
 * It knows what single-stepping needs: which instructions repeat, which
 * enter the kernel or push the flags, and which flags an instruction leaves
 * undefined, where processors and their emulators may differ.
 *
 * Source: Intel 64 SDM volume 1, appendix A, and volume 2.
 */
#ifndef CPREC_TESTS_ORACLE_FLAGS_H
#define CPREC_TESTS_ORACLE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flag {
	FLAG_CARRY    = 0x001,
	FLAG_PARITY   = 0x004,
	FLAG_ADJUST   = 0x010,
	FLAG_ZERO     = 0x040,
	FLAG_SIGN     = 0x080,
	FLAG_TRAP     = 0x100,
	FLAG_OVERFLOW = 0x800,
};

#define INSTRUCTION_MAX 15

struct instruction {
	bool narrow;		/* operands of 16 bits (prefix 66) */
	uint8_t rep;		/* 0xf2, 0xf3 or 0 */
	unsigned map;		/* 1: one byte, 2: 0F, 3: 0F 38, 4: 0F 3A */
	uint8_t opcode;
	uint8_t modrm;		/* the byte after the opcode */
	uint8_t after;		/* the byte after that */
};

/* Looks at `bytes`, of which there are INSTRUCTION_MAX. */
void instruction_decode(struct instruction *out, const uint8_t *bytes);

/* A string instruction with a REP prefix: it traps at each iteration. */
bool is_repeated(const struct instruction *instruction);
bool is_system_call(const struct instruction *instruction);
bool is_push_flags(const struct instruction *instruction);

/* Which flags are undefined after it, when `undefined` were before it. */
unsigned flags_after(const struct instruction *instruction, unsigned undefined,
		     bool no_iterations);

#endif
