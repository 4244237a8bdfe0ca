/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_code.h - the caller, by what code of 32-bit ARM does with its frame
 *
 * A function puts registers on its stack and moves the stack pointer by amounts
 * that stand in its code.  All ways from its beginning are followed, as far as
 * they lead within it, until one comes to where the thread stands.  Where code
 * cannot be followed, it may be on a straight line to a return.
 *
 * Source: Arm Architecture Reference Manual for ARMv7-A (DDI 0406), A5, A6, A8;
 * Procedure Call Standard for the Arm Architecture, 5.1.
 *
 * Units:      registers are numbered as in DWARF; addresses are even.
 * Ownership:  everything is borrowed.
 * Errors:     none: false if it is not known; then `state` is as it was.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_FRAME_CODE_H
#define CPREC_REPLAYER_SYMBOLS_FRAME_CODE_H

#include "replayer/symbols/cfi.h"

struct frame_code {
	const struct guest_reader *memory;
	bool is_thumb;
	uint64_t start, end;	/* of the function; 0: not known */
};

/* `has_link`: no call was made that has not returned, or nobody knows. */
bool frame_code_unwind(const struct frame_code *code, bool has_link,
		       struct unwind_state *state);

/* Where nothing but a straight line is left of it. */
bool frame_code_ends(const struct frame_code *code,
		     struct unwind_state *state);

#endif
