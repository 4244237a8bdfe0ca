/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exidx.h - the caller's registers, by the tables for exceptions of 32-bit ARM
 *
 * Most of its modules have no others.  They are right where a function has
 * called another one; in the middle of code that makes or leaves a frame they
 * are not.
 *
 * Source: Exception Handling ABI for the Arm Architecture, 6 (index table), 7
 * (models), 10.3 (instructions).
 *
 * Units:      addresses of tables are less than the guest's by `bias`;
 *             registers are numbered as in DWARF.
 * Ownership:  everything is borrowed.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_EXIDX_H
#define CPREC_REPLAYER_SYMBOLS_EXIDX_H

#include "replayer/symbols/cfi.h"

/*
 * As cfi_unwind(), by the tables in a module's file.  `*start` is where the
 * function begins that they are of.
 */
enum unwind_result exidx_unwind(Elf *elf, uint64_t bias, uint64_t addr,
				const struct guest_reader *memory,
				struct unwind_state *state, uint64_t *start,
				bool *is_signal);

/* Where the function begins that the code at `addr` is of; false: not known. */
bool exidx_function(Elf *elf, uint64_t bias, uint64_t addr, uint64_t *start);

#endif
