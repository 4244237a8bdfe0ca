/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.h - where a value was loaded that was stored unchanged
 *
 * Errors:     those of cprec.h.  That a value was computed, or that it is not
 *             known where it came from, is none: then nothing is found.
 */
#ifndef CPREC_DEBUGGER_COPIES_H
#define CPREC_DEBUGGER_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/moves.h"
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
int copy_find(struct cprec_cursor *cursor, const struct moves *moves,
	      const struct cprec_access *access, struct copy_source *out,
	      struct cprec_failure *why);

/* Of what a register of the cursor's thread holds; the cursor is moved. */
int copy_find_register(struct cprec_cursor *cursor, const struct moves *moves,
		       const char *name, struct copy_source *out,
		       struct cprec_failure *why);

#endif
