/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tail_calls.h - functions that jumped to others, of which no frame is left
 *
 * Between what a caller called and the function that returns to it, there may
 * be functions whose last call is a jump.  They are told if they can only have
 * been these: of several ways, what all of them begin and end with.
 *
 * Source: gdb 13's frames of tail calls, which these are.
 *
 * Ownership:  everything is borrowed.
 * Errors:     none; what cannot be told is none.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_TAIL_CALLS_H
#define CPREC_REPLAYER_SYMBOLS_TAIL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "replayer/symbols/call_sites.h"

struct lines;

#define TAIL_CALLS_MOST 64u

/*
 * Where the functions between have jumped from, the innermost first: addresses
 * behind the jumps.  `pc` is in the callee, `caller_pc` what that returns to.
 * Returns how many there are.
 */
size_t tail_calls_find(struct lines *lines, uint64_t t, uint64_t caller_pc,
		       uint64_t pc, uint64_t out[TAIL_CALLS_MOST]);

/* The call that returns to `pc` at time `t`, or NULL. */
struct call_site *call_site_before(struct lines *lines, uint64_t t,
				   uint64_t pc);

/* Where the function with the code at `pc` begins; false if nobody knows. */
bool call_function_start(struct lines *lines, uint64_t t, uint64_t pc,
			 uint64_t *out);

/*
 * Whether a call with this site can lead to the function that begins there.
 * `*is_computed`: the caller's registers say it.
 */
bool call_site_leads_to(struct lines *lines, uint64_t t, uint64_t pc,
			uint64_t function, bool *is_computed);

/*
 * Whether the function that begins there, once it was called, may be left for
 * itself by jumps; true also if nobody can tell.
 */
bool tail_calls_come_back(struct lines *lines, uint64_t t, uint64_t function);

#endif
