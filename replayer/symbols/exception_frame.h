/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exception_frame.h - what an exception of a Cortex-M has interrupted
 *
 * Its processor keeps some registers on the stack that was in use, and lets the
 * handler return to a number that says which stack that is, and how much is
 * kept.
 *
 * Ownership:  nothing is kept.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_EXCEPTION_FRAME_H
#define CPREC_REPLAYER_SYMBOLS_EXCEPTION_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct guest_reader;
struct unwind_state;

/* Whether that is such a number. */
bool exception_frame_is(uint64_t back);

/* Where registers are kept, with these stack pointers; and how many bytes the
 * return takes off there, if memory says so: 0: it does not.  `*pc`: where it
 * goes on. */
uint64_t exception_frame_at(uint64_t back, uint64_t sp, uint64_t process_sp);
unsigned exception_frame_size(const struct guest_reader *memory, uint64_t back,
			      uint64_t at, uint64_t *pc);

/* What LR has after a reset: nobody has called. */
#define EXCEPTION_NO_CALLER 0xffffffffu

/* From who a handler returns to (`state->pc`), to what was interrupted; false:
 * it is no such number, or nothing is kept. */
bool exception_frame_unwind(const struct guest_reader *memory,
			    uint64_t process_sp, struct unwind_state *state);

#endif
