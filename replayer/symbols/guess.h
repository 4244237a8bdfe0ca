/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guess.h - the caller of code that no unwind table is known for
 *
 * What a signal and a call leave is certain: the frame of a handler is found by
 * the code that it returns to, and where a thread stands at no code at all, it
 * has just been called.  Of 32-bit ARM, the code itself may say it, or tables for
 * exceptions.  Else a register may still have what a call returns to, in another function; or
 * code may keep frames in a register; if that leads nowhere, the next word of
 * the stack that points behind a call is taken.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_GUESS_H
#define CPREC_REPLAYER_SYMBOLS_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/symbols/cfi.h"

struct names;

struct guess_place {
	struct names *names;	/* of what is mapped at time `t` */
	uint64_t t;
	const struct reg_table *table;
	const struct guest_reader *memory;
	bool is_exact;		/* the thread stands there: it was not left
				   there by a call */
	bool is_thumb;		/* 32-bit ARM: the code there, if no symbol says
				   it */
	bool in_jump_table;	/* code of a linker's, which only leads on */
	Elf *elf;		/* the module's file; NULL: none */
	uint64_t bias;		/* of its addresses */
};

/* As cfi_unwind().  `*is_sure` is false if it was guessed. */
enum unwind_result guess_caller(const struct guess_place *place,
				struct unwind_state *state, bool *is_sure,
				bool *is_signal);

#endif
