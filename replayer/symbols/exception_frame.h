/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exception_frame.h - what an exception of a Cortex-M has interrupted
 *
 * Its processor keeps some registers on the stack that was in use, and lets the
 * handler return to a number that says which stack that is, and how much is kept.
 *
 * Ownership:  nothing is kept.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_EXCEPTION_FRAME_H
#define CPREC_REPLAYER_SYMBOLS_EXCEPTION_FRAME_H

#include <stdbool.h>

#include "replayer/symbols/cfi.h"

/* What LR has after a reset: nobody has called. */
#define EXCEPTION_NO_CALLER 0xffffffffu

/* From who a handler returns to (`state->pc`), to what was interrupted; false: it
 * is no such number, or nothing is kept. */
bool exception_frame_unwind(const struct guest_reader *memory,
			    uint64_t process_sp, struct unwind_state *state);

#endif
