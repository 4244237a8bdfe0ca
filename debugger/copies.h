/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.h - where a value was loaded that was stored unchanged
 *
 * Units:      `word` is the bytes of an address: which names registers have.
 * Errors:     those of cprec.h.  That a value was computed, or that it is not
 *             known where it came from, is none: then nothing is found.
 */
#ifndef CPREC_DEBUGGER_COPIES_H
#define CPREC_DEBUGGER_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "library/cprec.h"

struct copy_source {
	bool is_found;
	uint64_t addr, length;
	struct cprec_position at;	/* before it was loaded */
	uint64_t pc;			/* of the instruction that did */
};

/*
 * Of what an instruction has written to memory.  The cursor, which is before
 * it, is moved.
 */
int copy_find(struct cprec_cursor *cursor, unsigned word,
	      const struct cprec_access *access, struct copy_source *out,
	      struct cprec_failure *why);

/* Of what a register of the cursor's thread holds; the cursor is moved. */
int copy_find_register(struct cprec_cursor *cursor, unsigned word,
		       const char *name, struct copy_source *out,
		       struct cprec_failure *why);

/*
 * The name of the register that another is a part of: "rax" for "al", or "eax";
 * "r8" for "r8d".  False for "ah", and what is no register.
 */
bool copy_whole_register(unsigned word, const char *name, char out[16]);

#endif
