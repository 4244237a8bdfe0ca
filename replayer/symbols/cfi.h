/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi.h - the caller's registers, by a module's unwind tables
 *
 * Source: DWARF 5, 6.4.
 *
 * Units:      registers are numbered as in DWARF.
 * Ownership:  everything is borrowed.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_CFI_H
#define CPREC_REPLAYER_SYMBOLS_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "replayer/symbols/dwarf_eval.h"

/* Where a thread stands in a function, or will go on when a call is over. */
struct unwind_state {
	struct dwarf_registers registers;
	uint64_t pc;
	unsigned sp;		/* which register is the stack pointer, and */
	unsigned count;		/* how many there are */
	uint64_t kept;		/* bits: functions keep them, if nothing else is
				   said of them */
};

enum unwind_result {
	UNWIND_DONE,
	UNWIND_OUTERMOST,	/* the tables say that nobody called it */
	UNWIND_UNKNOWN,		/* they say nothing, or memory is not known */
};

/*
 * The stack pointer where code at `addr` stands at a call, from register `fp`,
 * which points to where its caller's is saved.  False if the tables do not say
 * where that is, or keep no track of the stack pointer.
 */
bool cfi_stack_pointer(Dwarf_CFI *cfi, uint64_t bias, uint64_t addr,
		       unsigned fp, const struct unwind_state *state,
		       uint64_t *out);

/*
 * Changes `state` to that of the caller of the code at `addr`; the addresses
 * of the tables are less by `bias`.  `*is_signal` says whether it is no caller
 * but what a signal interrupted.
 */
enum unwind_result cfi_unwind(Dwarf_CFI *cfi, uint64_t bias, uint64_t addr,
			      const struct guest_reader *memory,
			      struct unwind_state *state, bool *is_signal);

#endif
